"""Phase 0 ends as each scenario says: real Git and a real shell answer on the controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, of_phase
from lab.scenario import load
from selftests.scenarios.comparing import compare, expected
from selftests.scenarios.replay import SCENARIOS, Replay, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "preconditions").glob("*.yaml"))
SNAPSHOTS = SCENARIOS / "vm-snapshots"
GATES = {gate.id: gate for gate in of_phase(Phase.ZERO)}
# The VMs' snapshots, and what waits for the cluster, have tests of their own.
REPLAYED = [id_ for id_, gate in GATES.items() if id_ not in {"0.6", "0.8"} and not gate.attested]
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


@pytest.mark.parametrize("path", sorted(SNAPSHOTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_snapshots(path: Path, tmp_path: Path) -> None:
    scenario = load(path)
    ended = replay(tmp_path, path, "", "--gate=0.6")
    compare(ended, lambda key: expected(scenario, key))
    assert set(ended.verdicts) == {"0.6"}


def verdict_of(ended: Replay, gate: str) -> str:
    return ended.verdicts[gate][0]


def test_a_statement_counts_until_the_gate_says_otherwise(tmp_path: Path) -> None:
    nowhere = SNAPSHOTS / "no-access-at-all.yaml"
    attested = ["--attest=0.3=seen by me", f"--attest=0.6=all of {VMS}."]
    select = "--gate=0.3,0.6"
    silent = replay(tmp_path, nowhere, "", select)
    assert {verdict for verdict, _ in silent.verdicts.values()} == {"UNKNOWN"}
    assert "--attest=" in silent.console
    stated = replay(tmp_path, nowhere, "", select, "--operator=ada", *attested)
    assert stated.rc == 0, stated.console
    again = replay(tmp_path, nowhere, "", select, "--operator=bob")
    assert {verdict for verdict, _ in again.verdicts.values()} == {"ATTESTED"}
    log = (tmp_path / "lab" / "apply-log.jsonl").read_text().splitlines()[-2]
    assert '"name": "ada"' in log or '"name":"ada"' in log


def test_what_can_be_asked_is_asked_and_the_rest_is_stated_by_name(tmp_path: Path) -> None:
    partly, gate = SNAPSHOTS / "no-access.yaml", ("--gate=0.6", "--operator=ada")
    short = replay(tmp_path, partly, "", *gate, "--attest=0.6=8011 and all the others")
    assert verdict_of(short, "0.6") == "UNKNOWN"
    assert "does not name wetopi-natgw01:" in short.verdicts["0.6"][1]
    whole = replay(tmp_path, partly, "", *gate, "--attest=0.6=seen on RKE-CP01, and on 8031.")
    assert verdict_of(whole, "0.6") == "ATTESTED"
    # The statement is about two VMs: it makes no other's snapshot older.
    spoilt = tmp_path / "spoilt.yaml"
    spoilt.write_text(partly.read_text() + "  - vm-snapshot-late: rke-platform03\n")
    late = replay(tmp_path, spoilt, "", *gate, f"--attest=0.6=all {VMS}")
    assert verdict_of(late, "0.6") == "FAIL"


def test_no_statement_stands_for_what_can_be_measured(tmp_path: Path) -> None:
    nowhere = SNAPSHOTS / "no-access-at-all.yaml"
    stated = ["--gate=0.6", "--operator=ada", f"--attest=0.6=all of {VMS}"]
    assert verdict_of(replay(tmp_path, nowhere, "", *stated), "0.6") == "ATTESTED"
    refused = replay(tmp_path, None, "", *stated)
    assert refused.rc == 4
    assert "0.6 is measured, inventory.yaml gives access to all of it" in refused.console
    missing = replay(tmp_path, SNAPSHOTS / "missing-before-b.yaml", "", "--gate=0.6")
    assert verdict_of(missing, "0.6") == "FAIL"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--gate=0.3", "--attest=0.3=seen"], "--operator=NAME"),
        (["--gate=0.6", "--attest=0.3=seen", "--operator=ada"], "not selected"),
        (["--gate=0.4", "--attest=0.4=seen", "--operator=ada"], "measured, not attested"),
    ],
)
def test_a_statement_that_means_nothing_is_refused(
    tmp_path: Path, options: list[str], why: str
) -> None:
    ended = replay(tmp_path, None, "", *options)
    assert ended.rc == 4
    assert why in ended.console
