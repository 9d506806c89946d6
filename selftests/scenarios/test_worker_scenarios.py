"""The drills on workers end as each scenario says, and the worker is left as it says (phase W)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Gate, Phase, phase_w
from lab.scenario import load
from selftests.passed import pass_all_before, pass_also
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path


FILES = sorted((SCENARIOS / "workers").glob("*.yaml"))
BOTH = [gate.id for gate in phase_w.GATES]
# One of each kind; the others say the same in other words, and each takes seconds.
ALWAYS = frozenset(
    {
        "bare-pod",
        "budget-forbids-the-drain",
        "cordoned-by-somebody",
        "healthy",
        "reboot-never-happens",
        "reboot-too-fast-to-be-noticed",
    }
)
# What whoever is called must read first.
SAYS = {
    "bare-pod": "no controller would make again what is evicted from rke-platform01: default/bare",
    "budget-forbids-the-drain": "PodDisruptionBudget default/web-stays allows 0 disruptions",
    "evicted-pod-stays": "did not leave rke-platform01 (1 of 1 terminating)",
    "label-lost-by-the-reboot": "has no label wetopi.io/role, expected wetopi.io/role=platform",
    "reboot-never-happens": "rke-platform02 was not rebooted: its boot id is still",
}
SHORT = """\
name: short
faults:
  - limit: {name: vip_poll, value: 0.05}
  - limit: {name: ready_holds, value: 0.5}
"""


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports in which everything before a gate was passed."""
    found = {gate: tmp_path_factory.mktemp("before") / gate for gate in BOTH}
    found["W-1"].mkdir()
    pass_all_before(found["W-1"], Phase.W)
    shutil.copytree(found["W-1"], found["W-2"])
    pass_also(found["W-2"], "W-1")
    return found


def gates_of(expect: dict[str, str]) -> list[str]:
    """The gates it speaks of; one that expects nothing is about both."""
    return [gate for gate in BOTH if gate in expect] or BOTH


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed: dict[str, Path], tmp_path: Path) -> None:
    scenario = load(path)
    gates = gates_of(scenario.expect)
    reports = shutil.copytree(passed[gates[0]], tmp_path / "reports")
    short = reports / "short.yaml"
    short.write_text(SHORT)
    # Its own faults come after the general ones, and count for more.
    options = [f"--scenario={path}", f"--gate={','.join(gates)}", "--authorize=Ana"]
    run = replay(reports, short, "", *options)
    compare(run, lambda key: expected(scenario, key))
    assert set(run.verdicts) == {*gates, *scenario.expect}, run.console
    assert SAYS.get(path.stem, "") in run.verdicts[gates[0]][1]


@pytest.mark.parametrize("gate", phase_w.GATES, ids=lambda gate: gate.id)
@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: Gate, verdict: str) -> None:
    expects = [load(path).expect for path in FILES]
    found = {expect[gate.id] for expect in expects if gate.id in expect}
    assert verdict in found or (verdict == "PASS" and {} in expects)


def test_what_is_always_replayed_is_there() -> None:
    assert {path.stem for path in FILES} > ALWAYS
