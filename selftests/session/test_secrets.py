"""No secret reaches a file that the suite writes, its console, or a command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from selftests.passed import pass_all_before
from selftests.session.planting import ENVIRONMENT, Planted, forms
from selftests.session.suite import Ended, log_lines, verdicts

if TYPE_CHECKING:
    from pathlib import Path

GREEN = {"PASS", "ATTESTED", "DEFERRED"}
LAST = (Phase.F, Phase.G)
FIRST_STATED = {"0.3": "branch protection was looked at"}
LAST_STATED = {
    "F1.a": "192.168.96.31 is free and allocated to wetopi-natgw01",
    "F1.b": "the Ceph team owns the return route to 10.72.0.0/23",
    "F2.pre": "clusterID 6c4f1d3e-8a07-4b5c-9d21-0f5e7a9b3c64 is the fsid, "
    "pool kubernetes is dedicated",
}
WRONG = {
    "programs": (
        "stderr-noise: {{host: 'rke-cp*', text: '{told}', command: .}}",
        "exit-status: {{host: 'rke-cp*', command: etcdctl, rc: 1}}",
    ),
    "the API": ("api-answers: {{request: readyz, status: 500, body: '{told}'}}",),
    "units": (
        "keepalived-failed: {{node: rke-cp01}}",
        "stderr-noise: {{host: 'rke-cp*', text: '{told}', command: systemctl}}",
    ),
    "a flood": (
        "flood: {{host: rke-cp02, bytes: 3000000, command: 'get nodes'}}",
        "stderr-noise: {{host: rke-cp02, text: '{told}', command: 'get nodes'}}",
    ),
    "a link that breaks": (
        "link-cut: {{host: rke-cp02, command: etcdctl, where: node, times: 9}}",
        "stderr-noise: {{host: rke-cp02, text: '{told}', command: etcdctl}}",
    ),
    "what colleagues left": ("latch-set: {{text: '{told}'}}", "stop-file: {{text: '{told}'}}"),
}
"""Faults, and what then tells the text of an error."""

RED = "  - keepalived-absent: {node: rke-cp01}"


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    planted = Planted(tmp_path)
    planted.plant_the_labs()
    return planted


def test_the_search_finds_each_of_them(planted: Planted) -> None:
    pass_all_before(planted.reports, Phase.B)
    ended = planted.run("--gate=B.4", f"--scenario={planted.scenario()}")
    assert planted.found(ended) == []
    for where, value in planted.values.items():
        (planted.folder / "tmp" / "leak").write_bytes(max(forms(value)))
        assert planted.found(ended) == [f"tmp/leak: {where}"]


def test_nothing_is_told_by_red_gates(planted: Planted) -> None:
    pass_all_before(planted.reports, Phase.B)
    ended = planted.run("-m", "gate_b", f"--scenario={planted.scenario(RED)}", "-v")
    assert ended.status == 1, ended.text
    assert "[redacted]" in ended.text
    assert "[redacted]" in (planted.reports / "junit.xml").read_text()
    assert planted.found(ended) == []


def test_nothing_is_told_by_a_plan(planted: Planted) -> None:
    scenario = planted.scenario()
    every = " or ".join(each.marker for each in Phase)
    ended = planted.run(f"--scenario={scenario}", "--plan", "-m", every, "--authorize=Ada")
    assert ended.status == 0, ended.text
    assert planted.found(ended) == []


@pytest.mark.thorough
@pytest.mark.parametrize("faults", WRONG.values(), ids=WRONG)
def test_nothing_is_told_by_what_goes_wrong(planted: Planted, faults: tuple[str, ...]) -> None:
    """Errors that quote a secret: of programs, of the API, of journals, of what cannot be read."""
    told = (
        f"token: {planted.plant('an error text')}, asked with "
        f"{planted.plant(ENVIRONMENT['ARGOCD_REPO_TOKEN'])}"
    )
    scenario = planted.scenario("\n".join(f"  - {each.format(told=told)}" for each in faults))
    where = ("-m", "gate_0 or gate_b or gate_c", "--authorize=Ada Lovelace", "-v")
    ended = planted.run(f"--scenario={scenario}", *where)
    assert ended.status == 1, ended.text
    assert planted.found(ended) == []


@pytest.mark.thorough
def test_nothing_is_told_by_a_whole_rehearsal(planted: Planted) -> None:
    scenario = planted.scenario()
    ended = []

    def rehearse(*selection: str, **stated: str) -> None:
        said = [f"--attest={gate}={text}" for gate, text in stated.items()]
        by = ["--authorize=Ada Lovelace", "--operator=Ada Lovelace"]
        ended.append(planted.run(f"--scenario={scenario}", *by, *selection, *said))

    rehearse("-m", " or ".join(each.marker for each in Phase if each not in LAST), **FIRST_STATED)
    rehearse("--gate=F0.plan")
    (planned,) = (
        str(line["facts"])
        for line in log_lines(planted.reports)[-40:]
        if line["kind"] == "gate" and line["gate"] == "F0.plan"
    )
    digest = re.findall("[0-9a-f]{64}", planned)[-1]
    stated = {**LAST_STATED, "F0.apply": f"the plan with SHA-256 {digest} was applied"}
    rehearse("-m", " or ".join(each.marker for each in LAST), **stated)

    told = "\n".join(each.text for each in ended)
    red = {key: said for key, said in verdicts(planted.reports).items() if said not in GREEN}
    assert not red, f"{red}\n{told}"
    assert "[redacted]" in (planted.reports / "lab" / "apply-log.jsonl").read_text()
    for report in (planted.reports / "lab").glob("*.html"):
        assert "[redacted]" in report.read_text(), report
    assert list((planted.reports / "lab" / "evidence").iterdir()), "long streams are kept beside"
    assert planted.found(Ended(0, told)) == []
