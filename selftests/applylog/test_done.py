"""The Definition of Done: what meets a row, and what never does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import done
from fixtures.applylog.__main__ import main
from fixtures.applylog.console import done_lines
from fixtures.applylog.definition import told_shortly
from fixtures.applylog.done import State
from fixtures.applylog.record import Kind
from fixtures.core.verdicts import Verdict
from fixtures.gates.done import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.applylog.ledger import Ledger

    Decide = Callable[..., None]

IDENTITY = "ab" * 32
OTHER = "cd" * 32
QUORUM = "etcd's quorum is right"


def bind(ledger: Ledger, identity: str = IDENTITY) -> None:
    ledger.append(Kind.IDENTITY, identity=identity)


def states(ledger: Ledger) -> dict[str, State]:
    return {item.row.claim: item.state for item in done.of(list(ledger.lines())).items}


def meet(decide: Decide, claim: str, identity: str = IDENTITY) -> None:
    (row,) = (row for row in ROWS if row.claim == claim)
    for gate in row.gates:
        decide(gate, identity=identity)


def test_nothing_is_met_by_an_empty_log(ledger: Ledger) -> None:
    assert set(states(ledger).values()) == {State.UNMET, State.GAP, State.DOCUMENTED}


def test_what_no_gate_can_show_is_never_green(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    for row in ROWS:
        for gate in row.gates:
            decide(gate)
    found = states(ledger)
    assert found["DSR shown by packet capture"] is State.GAP
    assert found["rollback proved"] is State.DOCUMENTED
    assert list(found.values()).count(State.MET) == len(ROWS) - 2


def test_a_row_is_met_by_all_its_gates_and_by_no_fewer(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    decide("B.5")
    decide("C.1")
    decide("F6-1")
    assert states(ledger)[QUORUM] is State.UNMET
    decide("F6-1R")
    assert states(ledger)[QUORUM] is State.MET


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_later_verdict_counts(ledger: Ledger, decide: Decide, verdict: Verdict) -> None:
    bind(ledger)
    meet(decide, QUORUM)
    decide("C.1", verdict)
    worse = verdict in {Verdict.FAIL, Verdict.UNKNOWN}
    assert states(ledger)[QUORUM] is (State.UNMET if worse else State.MET)


def test_what_was_shown_before_the_restore_was_shown(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    meet(decide, QUORUM)
    ledger.append(Kind.STEP, gate="F6-3", step="reset", state="sending", stales=True)
    assert states(ledger)[QUORUM] is State.MET


def test_another_cluster_shows_nothing(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    meet(decide, QUORUM)
    bind(ledger, OTHER)
    assert states(ledger)[QUORUM] is State.UNMET


def test_a_gate_that_holds_on_one_node_only_is_open(ledger: Ledger, decide: Decide) -> None:
    ledger.append(Kind.RUN_START, gates=["C.3[rke-cp01]", "C.3[rke-cp02]"])
    bind(ledger)
    decide("C.3[rke-cp01]")
    found = done.of(list(ledger.lines()))
    assert "C.3[rke-cp02]" in {proof.key for proof in found.open}
    assert "C.3[rke-cp01]" not in {proof.key for proof in found.open}
    assert not found.complete


def test_the_console_shows_each_row_with_its_evidence(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    meet(decide, QUORUM)
    text = "\n".join(done_lines(done.of(list(ledger.lines()))))
    assert "met" in text
    assert "B.5 PASS 2026-11-30 03:04Z" in text
    assert "explicit gap" in text
    assert "documented, not exercised" in text
    assert "NOT complete: " in text
    assert "W-1 not decided" in text


def test_a_run_ends_with_it_in_two_lines(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    meet(decide, QUORUM)
    decide("C.6", Verdict.UNKNOWN)
    first, second = told_shortly(done.of(list(ledger.lines())))
    assert first == "dod: 1 of 16 rows met, 1 explicit gap, 1 documented, not exercised"
    assert "losing one control plane does not break the API (C.6 UNKNOWN and 2 more)" in second
    assert "and 12 more, see `python -m fixtures.applylog dod`" in second


def test_a_run_ends_with_one_line_when_all_is_met(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    for row in ROWS:
        meet(decide, row.claim)
    (line,) = told_shortly(done.of(list(ledger.lines())))
    assert line.startswith("dod: 16 of 16 rows met, 1 explicit gap")


def test_the_command_prints_it(
    ledger: Ledger, decide: Decide, capsys: pytest.CaptureFixture[str]
) -> None:
    bind(ledger)
    decide("C.1")
    assert main(["dod", f"--reports={ledger.folder.parent}"]) == 0
    assert "C.1 PASS" in capsys.readouterr().out
