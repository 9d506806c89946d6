"""Phase B stands on five rows of phase 0, as they were looked at last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import gates
from fixtures.applylog import advice, history
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import Kind
from fixtures.applylog.standing import standings
from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Verdict
from fixtures.session.barring import first_of_all
from fixtures.session.prerequisites import missing, names_needed
from fixtures.session.run import Run
from selftests.passed import RUN, pass_all_before, write
from selftests.project.tree import ROOT
from selftests.session.suite import log_lines, suite, verdicts

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
ROWS = ["0.2", "0.4", "0.5", "0.7", "0.9"]
OTHERS = ["0.1", "0.3", "0.6", "0.8"]
B = [gate.id for gate in gates.of_phase(gates.Phase.B)]
FIRST = gates.lookup("B.1")
IDENTITY = "ab" * 32
OTHER = "cd" * 32
RED = [Verdict.FAIL, Verdict.UNKNOWN]
OPEN_TOKEN = """
name: the token file can be read by everybody
files:
  - {path: ansible/files/rke2/node-token, mode: "0644"}
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path, "lab", run=RUN)


def decide(ledger: Ledger, *names: str, verdict: Verdict = Verdict.PASS) -> None:
    write(ledger, map(gates.lookup, names), verdict=verdict)


def bind(ledger: Ledger, identity: str = IDENTITY) -> None:
    ledger.append(Kind.IDENTITY, identity=identity)


def restore(ledger: Ledger) -> None:
    ledger.append(Kind.STEP, gate="F6-3", step="reset", state="sending", stales=True)


def standing(ledger: Ledger, identity: str | None) -> dict[str, Verdict]:
    found = history.latest(ledger.lines(), identity)
    return {key: record.verdict for key, record in found.items()}


def in_the_way(ledger: Ledger, gate: str = "B.1", identity: str | None = IDENTITY) -> list[str]:
    needed = names_needed(gates.lookup(gate), None, CLUSTER)
    return missing(needed, standing(ledger, identity))


def next_command(ledger: Ledger) -> str | None:
    lines = list(ledger.lines())
    return advice.next_command(standings(lines), lines)


@pytest.mark.parametrize("gate", B)
def test_every_gate_of_b_needs_the_five_rows(ledger: Ledger, gate: str) -> None:
    assert in_the_way(ledger, gate, None) == [f"{row} (no verdict)" for row in ROWS]
    decide(ledger, *ROWS)
    assert in_the_way(ledger, gate, None) == []


@pytest.mark.parametrize("row", ROWS)
def test_one_row_without_a_verdict_bars_b(ledger: Ledger, row: str) -> None:
    decide(ledger, *(each for each in [*ROWS, *OTHERS] if each != row))
    assert in_the_way(ledger, identity=None) == [f"{row} (no verdict)"]
    assert first_of_all(FIRST, None, CLUSTER, standing(ledger, None)) == [f"--gate={row}"]


@pytest.mark.parametrize("verdict", RED)
@pytest.mark.parametrize("row", ROWS)
def test_one_red_row_bars_b_until_it_is_green(ledger: Ledger, row: str, verdict: Verdict) -> None:
    decide(ledger, *ROWS, *OTHERS)
    decide(ledger, row, verdict=verdict)
    assert in_the_way(ledger, identity=None) == [f"{row} ({verdict})"]
    assert first_of_all(FIRST, None, CLUSTER, standing(ledger, None)) == [f"--gate={row}"]
    decide(ledger, row)
    assert in_the_way(ledger, identity=None) == []


@pytest.mark.parametrize("verdict", RED)
@pytest.mark.parametrize("row", OTHERS)
def test_the_other_rows_are_judged_and_bar_nothing(
    ledger: Ledger, row: str, verdict: Verdict
) -> None:
    decide(ledger, *ROWS)
    decide(ledger, row, verdict=verdict)
    assert in_the_way(ledger, identity=None) == []


@pytest.mark.parametrize("row", ROWS)
def test_a_row_that_falls_later_bars_b_and_not_what_stands_on_b(ledger: Ledger, row: str) -> None:
    decide(ledger, *ROWS, *OTHERS)
    bind(ledger)
    decide(ledger, *B)
    decide(ledger, row, verdict=Verdict.FAIL)
    assert in_the_way(ledger) == [f"{row} (FAIL)"]
    assert in_the_way(ledger, "C.1") == []
    stale = {each.key: each.remark for each in standings(list(ledger.lines()))}
    assert {stale[gate] for gate in B} == {f"stale: {row}, which it stands on, is FAIL since"}
    assert next_command(ledger) == "pytest -m gate_0"


def test_what_comes_first_of_all_is_told_whatever_is_asked(ledger: Ledger) -> None:
    for name in ("B.1", "C.5", "E.0", "W-2", "G.9"):
        gate = gates.lookup(name)
        assert first_of_all(gate, None, CLUSTER, {}) == ["-m", "gate_0"]
    decide(ledger, *ROWS)
    c5 = gates.lookup("C.5")
    assert first_of_all(c5, None, CLUSTER, standing(ledger, None)) == ["-m", "gate_b"]
    decide(ledger, *B, "C.1", "C.2", "C.3")
    assert first_of_all(c5, None, CLUSTER, standing(ledger, None)) == ["--gate=C.4"]


def test_drills_come_last_and_are_never_told_to_be_done_again(ledger: Ledger) -> None:
    decide(ledger, *ROWS, *B)
    quorum, e0 = gates.lookup("F6-1"), gates.lookup("E.0")
    assert first_of_all(quorum, None, CLUSTER, standing(ledger, None)) == [
        "-m",
        "gate_c and not drill",
    ]
    decide(ledger, "C.1", "C.2", "C.3", "C.4", "C.7", "C.8")
    drills = ["--gate=C.5,C.6", "--authorize=NAME"]
    assert first_of_all(quorum, None, CLUSTER, standing(ledger, None)) == drills
    decide(ledger, "C.5", verdict=Verdict.FAIL)
    assert first_of_all(quorum, None, CLUSTER, standing(ledger, None)) == []
    decide(ledger, "C.5", "C.6")
    # P1 to P4 are never loaded: the restore is one run.
    f6 = ["-m", "destructive", "--authorize=NAME"]
    assert first_of_all(e0, None, CLUSTER, standing(ledger, None)) == f6


def test_a_restore_stales_b_and_what_is_encrypted_but_not_the_controller(ledger: Ledger) -> None:
    decide(ledger, *ROWS, *OTHERS)
    bind(ledger)
    decide(ledger, *B, "0.8")
    restore(ledger)
    assert in_the_way(ledger) == []
    assert in_the_way(ledger, "C.1") == [f"{gate} (no verdict)" for gate in B]
    decide(ledger, "F6-3")
    found = {each.key: each for each in standings(list(ledger.lines()))}
    assert [key for key in [*ROWS, *OTHERS] if not found[key].holds] == ["0.8"]


def test_the_run_of_the_restore_stales_the_same(ledger: Ledger) -> None:
    run = Run(CLUSTER, ledger, [], "ada")
    run._loaded = dict.fromkeys([*ROWS, "0.8", *B, "C.3[rke-cp01]"], Verdict.PASS)
    run._counting = {"0.4": Verdict.FAIL, "F6-2": Verdict.PASS}
    run.stale()
    assert run.standing == {**dict.fromkeys(ROWS, Verdict.PASS), "0.4": Verdict.FAIL}


def test_a_cluster_that_cannot_be_identified_does_not_bar_b(ledger: Ledger) -> None:
    decide(ledger, *ROWS)
    bind(ledger)
    decide(ledger, *B)
    assert in_the_way(ledger, identity=None) == []
    assert in_the_way(ledger, "C.1", None) == [f"{gate} (no verdict)" for gate in B]


def test_another_clusters_apply_begins_with_its_own_phase_0(ledger: Ledger) -> None:
    decide(ledger, *ROWS)
    bind(ledger)
    decide(ledger, *ROWS)
    bind(ledger, OTHER)
    assert in_the_way(ledger, identity=OTHER) == [f"{row} (no verdict)" for row in ROWS]
    bind(ledger)
    assert in_the_way(ledger) == [f"{row} (no verdict)" for row in ROWS]


def test_phase_0_after_the_old_cluster_was_rolled_back_is_the_new_ones(ledger: Ledger) -> None:
    decide(ledger, *ROWS, *OTHERS)
    bind(ledger)
    decide(ledger, *B)
    for row in [*ROWS, "0.8"]:
        (record,) = [each for each in ledger.lines() if each.fields.get("gate") == row][:1]
        ledger.append(Kind.GATE, **record.fields)
    bind(ledger, OTHER)
    assert standing(ledger, OTHER) == dict.fromkeys(ROWS, Verdict.PASS)
    assert in_the_way(ledger, identity=OTHER) == []


def test_missing_rows_are_added_on_request_and_only_those(tmp_path: Path) -> None:
    write(Ledger.open(tmp_path, "lab", run=RUN), map(gates.lookup, ["0.2", "0.9"]))
    plan = suite("--plan", "--lab", f"--reports={tmp_path}", "--gate=B.4", "--with-prerequisites")
    assert plan.status == 0, plan.text
    assert [line[:3] for line in plan.text.splitlines() if line[:2] in {"0.", "B."}] == [
        "0.4",
        "0.5",
        "0.7",
        "B.4",
    ]
    assert "  (BLOCKED without 0.2, 0.4, 0.5, 0.7, 0.9)" in plan.text.splitlines()
    ended = suite("--lab", f"--reports={tmp_path}", "--gate=C.1", "--with-prerequisites")
    assert ended.status == 0, ended.text
    assert list(verdicts(tmp_path)) == ["0.4", "0.5", "0.7", *B, "C.1"]
    once_more = suite("--lab", f"--reports={tmp_path}", "--gate=C.4", "--with-prerequisites")
    assert once_more.status == 0, once_more.text
    lines = log_lines(tmp_path)
    last = [each["gate"] for each in lines if each["run"] == lines[-1]["run"] and "gate" in each]
    assert last == ["C.4"]


def test_a_red_row_is_seen_in_the_run_that_asks_it_and_in_the_next(tmp_path: Path) -> None:
    reports = pass_all_before(tmp_path, gates.Phase.C)
    write(Ledger.open(reports, "lab", run=RUN), map(gates.lookup, OTHERS), verdict=Verdict.FAIL)
    target = ["--lab", f"--reports={reports}"]
    scenario = tmp_path / "open-token.yaml"
    scenario.write_text(OPEN_TOKEN)
    red = suite(*target, "-m", "gate_0 and not creates or gate_b", f"--scenario={scenario}")
    assert red.status == 1
    said = verdicts(reports)
    assert said["0.4"] == "FAIL"
    assert {said[gate] for gate in B} == {"BLOCKED"}
    again = f"needs 0.4 (FAIL); type first: pytest --gate=0.4 {' '.join(target)}"
    assert again in red.text

    blocked = suite(*target, "--gate=B.4,C.4")
    assert again in blocked.text
    assert (verdicts(reports)["B.4"], verdicts(reports)["C.4"]) == ("BLOCKED", "PASS")

    mended = suite(*target, "--gate=0.4,B.4")
    assert mended.status == 0, mended.text
