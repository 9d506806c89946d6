"""What short-lived pods show of the lab's cluster; whatever they show, nothing is left of them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.gates import GATES, Phase
from lab.scenario import load
from selftests.passed import pass_all_before
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.replay import SCENARIOS, Replay, replay

if TYPE_CHECKING:
    from pathlib import Path

PODS = sorted((SCENARIOS / "pods").glob("*.yaml"))
MADE = [
    gate.id
    for gate in GATES
    if gate.creates and gate.phase is Phase.D2 and gate.id != "D2.connectivity"
]
STAYS = "namespaces-that-stay"
# Each gate's PASS, FAIL and UNKNOWN, and what is left over; the others say the same in other words.
ALWAYS = frozenset({"answered-no", "could-not-be-asked", "healthy", STAYS})


@pytest.fixture(scope="module")
def passed_d(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before D2 was passed."""
    reports = tmp_path_factory.mktemp("passed-d")
    pass_all_before(reports, Phase.D2)
    return reports


def run(path: Path, reports: Path) -> Replay:
    gates = load(path).expect or MADE
    ended = replay(reports, path, "", f"--gate={','.join(gates)}")
    assert set(ended.verdicts) == set(gates), ended.console
    return ended


@pytest.mark.parametrize("path", cases(PODS, ALWAYS))
def test_scenario(path: Path, passed_d: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed_d, tmp_path / "reports")
    ended = run(path, reports)
    compare(ended, lambda key: expected(scenario, key))
    made = steps(reports, "make Namespace")
    assert made, ended.console
    assert steps(reports, "remove Namespace") == (set() if path.stem == STAYS else made)
    if path.stem == STAYS:
        told_how_to_remove(made, ended)


def steps(reports: Path, title: str) -> set[str]:
    """The names of objects that steps of that title were done to."""
    lines = (reports / "lab" / "apply-log.jsonl").read_text().splitlines()
    logged: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return {
        str(line["step"]).removeprefix(f"{title} ")
        for line in logged
        if str(line.get("step", "")).startswith(f"{title} ") and line["state"] == "done"
    }


def told_how_to_remove(made: set[str], ended: Replay) -> None:
    said = " ".join(ended.console.split())
    assert all(f"kubectl delete namespace {name}" in said for name in made)
    for _, summary in ended.verdicts.values():
        assert summary.startswith("its teardown failed: namespace `rke2-acceptance-")
        assert "(before that: PASS" in summary


@pytest.mark.parametrize("gate", MADE)
@pytest.mark.parametrize("verdict", ["FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: str, verdict: str) -> None:
    assert any(load(path).expect.get(gate) == verdict for path in PODS)


def test_what_is_always_replayed_is_there() -> None:
    assert {path.stem for path in PODS} > ALWAYS
