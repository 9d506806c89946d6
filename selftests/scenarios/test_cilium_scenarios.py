"""Phase E ends as each scenario says: what is provisioned for Cilium, and what it is like then."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import Kind
from fixtures.gates import Phase, of_phase
from lab.scenario import load
from selftests.passed import pass_all_before, pass_also
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path


FILES = sorted((SCENARIOS / "cilium").glob("*.yaml"))
GATES = [gate.id for gate in of_phase(Phase.E)]
# Each gate's PASS, FAIL and UNKNOWN; the others, and the gates' tables, say it in other words.
ALWAYS = frozenset(
    {
        "agent-crashes",
        "another-cni-and-other-values",
        "api-forbids-everything",
        "healthy",
        "healthy-with-workers",
        "lan-drops-hubble",
        "not-installed-yet",
        "ops-half-provisioned",
        "ops-history-unknown",
        "ops-kubeconfig-before-the-restore",
    }
)
# What does not come is not waited for as long as on a lab that somebody watches.
SHORT = "name: short\nfaults:\n  - limit: {name: cilium_status, value: 1.5}\n"


@pytest.fixture(scope="module")
def passed_f6(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before E was passed."""
    reports = tmp_path_factory.mktemp("passed-f6")
    pass_all_before(reports, Phase.E)
    (reports / "short.yaml").write_text(SHORT)
    return reports


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed_f6: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed_f6, tmp_path / "reports")
    # Its own faults come after the general ones, and count for more.
    ended = replay(reports, reports / "short.yaml", "gate_e", f"--scenario={path}")
    blocked = {"BLOCKED"} if scenario.expect.get("E.0", "PASS") != "PASS" else set()
    compare(ended, lambda key: expected(scenario, key) if key == "E.0" or not blocked else blocked)
    assert list(ended.verdicts) == GATES, ended.console


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("verdict", ["FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: str, verdict: str) -> None:
    assert any(load(path).expect.get(gate) == verdict for path in FILES)


def test_a_restore_newer_than_what_was_repeated_after_the_last_one_bars_all(
    passed_f6: Path, tmp_path: Path
) -> None:
    reports = shutil.copytree(passed_f6, tmp_path / "reports")
    ledger = Ledger.open(reports, "lab")
    ledger.append(Kind.STEP, gate="F6-3", step="reset", state="sending", stales=True)
    pass_also(reports, "F6-3", "F6-3.journal", "F6-2R")
    ended = replay(reports, None, "gate_e")
    assert list(ended.verdicts) == GATES, ended.console
    for verdict, summary in ended.verdicts.values():
        assert verdict == "BLOCKED", ended.console
        assert "F6-1R (no verdict)" in summary
        assert "F6-2R" not in summary


def test_what_is_always_replayed_is_there() -> None:
    assert {path.stem for path in FILES} > ALWAYS
