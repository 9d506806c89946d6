"""Phase F2 ends as each scenario says: how Secrets are kept, and the life of a volume."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, f1, lookup
from fixtures.gates.f2 import GATES
from lab.scenario import load
from lab.storage import FSID, POOL
from selftests.scenarios.passed import pass_all_before, pass_also
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.mark import ParameterSet

FILES = sorted((SCENARIOS / "storage").glob("*.yaml"))
IDS = [gate.id for gate in GATES]
SATISFIED = {"PASS", "ATTESTED"}
# A few of each kind are replayed in `make check`.
QUICK = frozenset(
    {
        "error-without-success",
        "hashes-differ",
        "healthy",
        "image-in-the-trash",
        "placeholders-and-pods",
        "plaintext-in-etcd",
        "status-never-told",
        "unasked",
    }
)
STATED = (
    f"--attest=F2.pre=clusterID {FSID} is the fsid, pool {POOL} is dedicated",
    "--operator=selftests",
)


@pytest.fixture(scope="module")
def passed_w(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before F was passed."""
    reports = tmp_path_factory.mktemp("passed-w")
    pass_all_before(reports, Phase.F)
    pass_also(reports, *(gate.id for gate in f1.GATES))
    return reports


def wanted(gate: str, expect: dict[str, str]) -> set[str]:
    """What the gate may come to."""
    if gate in expect:
        return {expect[gate]}
    after = [each for each in lookup(gate).after if each in IDS]
    red = {each for each in after if not wanted(each, expect) & SATISFIED}
    return {"BLOCKED"} if red else SATISFIED


def namespaces_left(reports: Path) -> set[str]:
    """The namespaces that were made and not seen gone."""
    log = (reports / "lab" / "apply-log.jsonl").read_text().splitlines()
    steps = [line for line in map(json.loads, log) if line.get("state") == "done"]
    made, gone = (
        {str(line["step"]).removeprefix(f"{what} ") for line in steps if what in line["step"]}
        for what in ("make Namespace", "remove Namespace")
    )
    return made - gone


def case(path: Path) -> ParameterSet:
    return pytest.param(
        path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.thorough
    )


@pytest.mark.parametrize("path", [case(path) for path in FILES])
def test_scenario(path: Path, passed_w: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed_w, tmp_path / "reports")
    ended = replay(reports, path, "", f"--gate={','.join(IDS)}", *STATED)
    wrong = {
        gate: f"{verdict} ({summary})"
        for gate, (verdict, summary) in ended.verdicts.items()
        if verdict not in wanted(gate, dict(scenario.expect))
    }
    assert not wrong, ended.console
    assert list(ended.verdicts) == IDS, ended.console
    assert ended.rc == int(bool(scenario.expect))
    assert "Traceback" not in ended.console
    assert ended.unknown == []
    assert namespaces_left(reports) == set()


@pytest.mark.parametrize("gate", IDS)
@pytest.mark.parametrize("verdict", ["FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: str, verdict: str) -> None:
    assert any(load(path).expect.get(gate) == verdict for path in FILES)
