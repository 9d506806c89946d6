"""No secret reaches a file that the suite writes, its console, or a command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from selftests.session.planting import Planted, forms
from selftests.session.suite import Ended, log_lines, verdicts

if TYPE_CHECKING:
    from pathlib import Path

GREEN = {"PASS", "ATTESTED", "DEFERRED"}
LAST = (Phase.F, Phase.G)
FIRST_STATED = {
    "0.3": "branch protection was looked at",
    "0.6": "seen on 8001, 8011, 8012, 8013, 8021, 8022, 8023 and 8031",
}
LAST_STATED = {
    "F1.a": "192.168.96.31 is free and allocated to wetopi-natgw01",
    "F1.b": "the Ceph team owns the return route to 10.72.0.0/23",
    "F2.pre": "clusterID 6c4f1d3e-8a07-4b5c-9d21-0f5e7a9b3c64 is the fsid, "
    "pool kubernetes is dedicated",
}
RED = "  - keepalived-absent: {node: rke-cp01}"


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    planted = Planted(tmp_path)
    planted.plant_the_labs()
    return planted


def test_the_search_finds_each_of_them(planted: Planted) -> None:
    ended = planted.run("--gate=B.4", f"--scenario={planted.scenario()}")
    assert planted.found(ended) == []
    for where, value in planted.values.items():
        (planted.folder / "tmp" / "leak").write_bytes(max(forms(value)))
        assert planted.found(ended) == [f"tmp/leak: {where}"]


def test_nothing_is_told_by_red_gates(planted: Planted) -> None:
    ended = planted.run("-m", "gate_b", f"--scenario={planted.scenario(RED)}", "-v")
    assert ended.status == 1, ended.text
    assert "[redacted]" in ended.text
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
    assert planted.found(Ended(0, told)) == []
