"""Workers that join, nodes that are Ready or not, and what must run on them (phases D and D2)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import history
from fixtures.gates import Gate, Phase, phase_d, phase_d2
from lab import phase as applied
from lab.scenario import load
from selftests.passed import NODES, pass_all_before
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

    from lab.scenario import Scenario

FILES = sorted((SCENARIOS / "join").glob("*.yaml"))
GATES = {Phase.D: phase_d.GATES, Phase.D2: phase_d2.GATES}
# The others say the same in other words, or have their table in selftests/gates.
ALWAYS = frozenset(
    {
        "agents-not-running",
        "api-forbids-nodes",
        "components-not-running",
        "flapping",
        "nodes-unanswered",
        "ready-late",
        "validated",
        "workers-not-as-designed",
    }
)
# The limits are over soon: what is replayed here is what becomes of it.
SHORT = """\
name: short
faults:
  - limit: {name: worker_registered, value: 0.5}
  - limit: {name: nodes_ready, value: 0.6}
  - limit: {name: ready_holds, value: 0.3}
  - limit: {name: reboot_residue, value: 0.5}
"""


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> dict[Phase, Path]:
    """Per phase, reports in which everything before it was passed."""
    found = {phase: tmp_path_factory.mktemp(f"before-{phase.value}") for phase in GATES}
    for phase, reports in found.items():
        pass_all_before(reports, phase)
    return found


def phase_of(scenario: Scenario) -> Phase:
    return Phase.D if scenario.phase is applied.Phase.D else Phase.D2


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed: dict[Phase, Path], tmp_path: Path) -> None:
    scenario = load(path)
    phase = phase_of(scenario)
    reports = shutil.copytree(passed[phase], tmp_path / "reports")
    short = reports / "short.yaml"
    short.write_text(SHORT)
    gates = ",".join(gate.id for gate in GATES[phase])
    # Its own faults come after the general ones, and count for more.
    run = replay(reports, short, "", f"--scenario={path}", f"--gate={gates}")
    compare(run, lambda key: expected(scenario, key))
    assert set(run.verdicts) == keys(phase), run.console


def keys(phase: Phase) -> set[str]:
    return {key for gate in GATES[phase] for key in history.keys(gate, NODES)}


@pytest.mark.parametrize(
    "gate", [gate for gates in GATES.values() for gate in gates], ids=lambda gate: gate.id
)
@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: Gate, verdict: str) -> None:
    scenarios = [load(path) for path in FILES]
    found = {
        wanted
        for scenario in scenarios
        for key, wanted in scenario.expect.items()
        if key.partition("[")[0] == gate.id
    }
    healthy = {phase_of(scenario) for scenario in scenarios if not scenario.expect}
    assert verdict in found or (verdict == "PASS" and gate.phase in healthy)


def test_what_is_always_replayed_is_there() -> None:
    assert {path.stem for path in FILES} > ALWAYS
