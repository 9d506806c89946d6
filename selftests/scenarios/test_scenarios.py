"""Each scenario file gives the verdicts it expects, and every gate has each verdict somewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.gates import GATES, Gate, Phase
from lab.scenario import Scenario, load
from selftests.passed import pass_all_before
from selftests.scenarios.comparing import compare, expected
from selftests.scenarios.replay import SCENARIOS, needs_phase_b, replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = sorted(SCENARIOS.glob("*.yaml"))
# The phases whose read-only gates are replayed here; drills have self-tests of their own.
REPLAYED = {Phase.B, Phase.C}
JUDGED = [gate for gate in GATES if gate.phase in REPLAYED and not gate.drill]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(path: Path, tmp_path: Path, reports_after_b: Callable[[], Path]) -> None:
    scenario = load(path)
    after_b = needs_phase_b(scenario)
    reports = reports_after_b() if after_b else pass_all_before(tmp_path, Phase.B)
    run = replay(reports, path, selection(scenario))
    compare(run, lambda key: expected(scenario, key))
    assert listed(scenario) <= set(run.verdicts), "the scenario expects gates that did not run"


def selection(scenario: Scenario) -> str:
    """The gates the scenario speaks of; with a red B nothing of C would run."""
    if needs_phase_b(scenario):
        return "gate_c and not drill"
    return "gate_b" if scenario.expect else "(gate_b or gate_c) and not drill"


def listed(scenario: Scenario) -> set[str]:
    """The expected gates; one without a node stands for its first node."""
    per_node = {gate.id for gate in JUDGED if gate.each != "cluster"}
    return {f"{key}[rke-cp01]" if key in per_node else key for key in scenario.expect}


@pytest.mark.parametrize("gate", JUDGED, ids=lambda gate: gate.id)
@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: Gate, verdict: str) -> None:
    scenarios = [load(path) for path in FILES]
    assert any(
        scenario.expect.get(key, "PASS") == verdict
        for scenario in scenarios
        for key in (*[key for key in scenario.expect if key.partition("[")[0] == gate.id], gate.id)
        if verdict != "PASS" or not scenario.expect
    )
