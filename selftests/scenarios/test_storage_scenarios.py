"""Phase F2 ends as each scenario says: how Secrets are kept, and the life of a volume."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, f1
from fixtures.gates.f2 import GATES
from lab.scenario import load
from lab.storage import FSID, POOL
from selftests.passed import pass_all_before, pass_also
from selftests.scenarios.comparing import cases, compare, in_turn
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "storage").glob("*.yaml"))
IDS = [gate.id for gate in GATES]
# One of each kind; the others say the same in other words, or have their table in selftests/gates.
ALWAYS = frozenset(
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


def namespaces_left(reports: Path) -> set[str]:
    """The namespaces that were made and not seen gone."""
    log = (reports / "lab" / "apply-log.jsonl").read_text().splitlines()
    steps = [line for line in map(json.loads, log) if line.get("state") == "done"]
    made, gone = (
        {str(line["step"]).removeprefix(f"{what} ") for line in steps if what in line["step"]}
        for what in ("make Namespace", "remove Namespace")
    )
    return made - gone


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed_w: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed_w, tmp_path / "reports")
    run = replay(reports, path, "", f"--gate={','.join(IDS)}", *STATED)
    compare(run, lambda key: in_turn(scenario, key))
    assert list(run.verdicts) == IDS, run.console
    assert namespaces_left(reports) == set()


@pytest.mark.parametrize("gate", IDS)
@pytest.mark.parametrize("verdict", ["FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: str, verdict: str) -> None:
    assert any(load(path).expect.get(gate) == verdict for path in FILES)
