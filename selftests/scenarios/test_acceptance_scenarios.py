"""What Cilium's own tools say of the lab's cluster; what the connectivity test makes is removed."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.gates import Phase
from fixtures.gates.d2_cilium import GATES
from lab.scenario import load
from selftests.passed import pass_all_before
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "acceptance").glob("*.yaml"))
IDS = [gate.id for gate in GATES]
SPACES = {"cilium-test-1", "cilium-test-ccnp1", "cilium-test-ccnp2"}
# Each gate's PASS, FAIL and UNKNOWN; the others say the same in other words.
ALWAYS = frozenset(
    {
        "connectivity-killed",
        "connectivity-unproved",
        "healthy",
        "nothing-moves",
        "without-tools",
    }
)
# Where the test came so far that it made them; elsewhere a reply stands for it.
MADE = {
    "a-node-apart",
    "connectivity-hangs",
    "connectivity-killed",
    "healthy",
    "no-forward",
    "nothing-moves",
    "relay-down",
}


@pytest.fixture(scope="module")
def passed_d(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before D2 was passed."""
    reports = tmp_path_factory.mktemp("passed-d")
    pass_all_before(reports, Phase.D2)
    return reports


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed_d: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed_d, tmp_path / "reports")
    ended = replay(reports, path, "", f"--gate={','.join(IDS)}")
    compare(ended, lambda key: expected(scenario, key))
    assert set(ended.verdicts) == set(IDS), ended.console
    removed = {
        str(line["step"]).removeprefix("remove Namespace ")
        for line in logged(reports, "step")
        if str(line["step"]).startswith("remove Namespace ") and line["state"] == "done"
    }
    assert removed == (SPACES if path.stem in MADE else set()), ended.console


def logged(reports: Path, kind: str) -> list[dict[str, Any]]:
    """The lines of that kind in the apply log."""
    lines = (reports / "lab" / "apply-log.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["kind"] == kind]


@pytest.mark.parametrize("gate", IDS)
@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: str, verdict: str) -> None:
    assert any(load(path).expect.get(gate, "PASS") == verdict for path in FILES)


def test_what_is_always_replayed_is_there() -> None:
    assert {path.stem for path in FILES} > ALWAYS
