"""Phase 0 ends as each scenario says: real Git and a real shell answer on the controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, of_phase
from lab.scenario import load
from selftests.scenarios.comparing import compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "preconditions").glob("*.yaml"))
GATES = {gate.id: gate for gate in of_phase(Phase.ZERO)}
# What is judged from the inventory alone, and what waits for the cluster, have tests of their own.
REPLAYED = [id_ for id_, gate in GATES.items() if id_ not in {"0.7", "0.8"} and not gate.attested]
STATED = [id_ for id_, gate in GATES.items() if gate.attested]
VMS = "8001 8011 8012 8013 8021 8022 8023 8031"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(path: Path, tmp_path: Path) -> None:
    scenario = load(path)
    ended = replay(tmp_path, path, "", f"--gate={','.join(REPLAYED)}")
    compare(ended, lambda key: expected(scenario, key))
    assert set(ended.verdicts) == set(REPLAYED)


@pytest.mark.parametrize("gate", REPLAYED)
@pytest.mark.parametrize("verdict", ["FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: str, verdict: str) -> None:
    assert any(load(path).expect.get(gate) == verdict for path in FILES)


def test_a_statement_counts_until_the_gate_says_otherwise(tmp_path: Path) -> None:
    attested = ["--attest=0.3=seen by me", f"--attest=0.6=all of {VMS}"]
    select = f"--gate={','.join(STATED)}"
    silent = replay(tmp_path, None, "", select)
    assert {verdict for verdict, _ in silent.verdicts.values()} == {"UNKNOWN"}
    assert "--attest=" in silent.console
    stated = replay(tmp_path, None, "", select, "--operator=ada", *attested)
    assert stated.rc == 0, stated.console
    again = replay(tmp_path, None, "", select, "--operator=bob")
    assert {verdict for verdict, _ in again.verdicts.values()} == {"ATTESTED"}
    log = (tmp_path / "lab" / "apply-log.jsonl").read_text().splitlines()[-2]
    assert '"name": "ada"' in log or '"name":"ada"' in log


def test_a_statement_that_leaves_out_a_vm_proves_nothing(tmp_path: Path) -> None:
    ended = replay(tmp_path, None, "", "--gate=0.6", "--operator=ada", "--attest=0.6=8001 and 8011")
    ((verdict, summary),) = ended.verdicts.values()
    assert verdict == "UNKNOWN"
    assert "does not name rke-cp02, rke-cp03" in summary


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--gate=0.3", "--attest=0.3=seen"], "--operator=NAME"),
        (["--gate=0.3", "--attest=0.6=seen", "--operator=ada"], "not selected"),
        (["--gate=0.4", "--attest=0.4=seen", "--operator=ada"], "measured, not attested"),
    ],
)
def test_a_statement_that_means_nothing_is_refused(
    tmp_path: Path, options: list[str], why: str
) -> None:
    ended = replay(tmp_path, None, "", *options)
    assert ended.rc == 4
    assert why in ended.console
