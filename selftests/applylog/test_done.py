"""The Definition of Done: what meets a row, and what never does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import gates
from fixtures.applylog import done
from fixtures.applylog.__main__ import main
from fixtures.applylog.console import done_lines
from fixtures.applylog.definition import told_shortly
from fixtures.applylog.done import State
from fixtures.applylog.record import Kind
from fixtures.core.verdicts import Verdict
from fixtures.gates.done import ROWS
from selftests.applylog.story import Story, keys, usual

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


def test_the_rows_name_gates_that_there_are() -> None:
    known = {gate.id for gate in gates.GATES}
    assert not {gate for row in ROWS for gate in row.gates} - known


def test_a_whole_apply_is_complete_and_says_what_it_does_not_show() -> None:
    story = Story()
    story.accept()
    found = done.of(story.lines)
    assert found.complete
    assert [item.state for item in found.items if item.state is not State.MET] == [
        State.GAP,
        State.DEFERRED,
        State.DOCUMENTED,
    ]
    text = "\n".join(done_lines(found))
    assert "\ncomplete: " in text
    for named in ("DSR shown by packet capture", "rollback proved", "drift is detectable"):
        assert named in text.partition("\ncomplete: ")[2]


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.UNKNOWN])
@pytest.mark.parametrize("gate", gates.GATES, ids=[gate.id for gate in gates.GATES])
def test_a_gate_that_falls_takes_its_rows_and_no_other(gate: gates.Gate, verdict: Verdict) -> None:
    story = Story()
    story.accept()
    fallen = keys(gate)[-1]
    story.decide(fallen, verdict)
    found = done.of(story.lines)
    assert not found.complete
    assert [proof.key for proof in found.open] == [fallen]
    assert {item.row.claim for item in found.items if item.state is State.UNMET} == {
        row.claim for row in ROWS if gate.id in row.gates
    }
    text = "\n".join(done_lines(found))
    assert "\nNOT complete: 1 open" in text
    assert f"{fallen} {verdict}" in text.partition("\nNOT complete: ")[2]

    story.decide(fallen, Verdict.BLOCKED)
    assert not done.of(story.lines).complete, "who is not asked says nothing"
    story.decide(fallen, usual(gate))
    assert done.of(story.lines).complete


@pytest.mark.parametrize("verdict", [Verdict.BLOCKED, Verdict.UNAUTHORIZED])
def test_a_gate_that_was_not_asked_again_is_as_it_was(verdict: Verdict) -> None:
    story = Story()
    story.decide("C.6", verdict)
    assert not done.of(story.lines).complete
    story.accept()
    story.decide("C.6", verdict)
    assert done.of(story.lines).complete


@pytest.mark.parametrize("verdict", [Verdict.ATTESTED, Verdict.DEFERRED])
def test_a_word_in_place_of_a_measurement_meets_nothing(verdict: Verdict) -> None:
    story = Story()
    story.accept()
    story.decide("C.1", verdict)
    found = done.of(story.lines)
    assert [proof.key for proof in found.open] == ["C.1"]
    assert f"C.1 {verdict} 2026-11-30 03:04Z (does not count: " in "\n".join(done_lines(found))


@pytest.mark.parametrize(
    ("resources", "due"), [(3, True), ("0: Synced and Healthy are trivial", False), (None, False)]
)
def test_a_drift_check_is_put_off_only_while_nothing_can_drift(
    resources: int | str | None, due: bool
) -> None:
    """`DEFERRED` was measured once; what G.6 finds later is measured too."""
    story = Story()
    story.accept()
    found = {item.row.claim: item.state for item in done.of(story.lines).items}
    assert found["drift is detectable"] is State.DEFERRED
    for verdict in (Verdict.PASS, Verdict.FAIL):
        story.decide("G.6", verdict, application={"resources": resources})
        found = {item.row.claim: item.state for item in done.of(story.lines).items}
        assert found["drift is detectable"] is (State.UNMET if due else State.DEFERRED)
    story.decide("G.6", application={"resources": resources})
    assert done.of(story.lines).complete is not due
    # Measured anew, and nothing is managed any more.
    story.decide("G.9", Verdict.DEFERRED)
    assert done.of(story.lines).complete


def test_another_restore_opens_what_comes_after_it() -> None:
    story = Story()
    story.accept()
    story.restore()
    found = done.of(story.lines)
    later = gates.GATES[[gate.id for gate in gates.GATES].index("F6-3") :]
    assert [proof.key for proof in found.open] == [key for gate in later for key in keys(gate)]
    assert {item.row.claim for item in found.items if item.state is State.UNMET} == {
        row.claim for row in ROWS if {gate.id for gate in later} & {*row.gates}
    }


@pytest.mark.parametrize("identity", [OTHER, None])
def test_nothing_is_met_by_another_cluster_or_one_that_nobody_can_identify(
    identity: str | None,
) -> None:
    story = Story()
    story.accept()
    story.add(Kind.IDENTITY, identity=identity)
    found = done.of(story.lines)
    assert not found.complete
    assert {item.state for item in found.items} == {State.UNMET, State.GAP, State.DOCUMENTED}


def test_a_failed_undo_keeps_it_from_being_complete() -> None:
    story = Story()
    story.accept()
    story.decide("C.5.undo", Verdict.FAIL)
    found = done.of(story.lines)
    assert [str(proof) for proof in found.open] == ["C.5.undo FAIL 2026-11-30 03:04Z"]


def test_a_log_that_was_touched_shows_nothing(
    ledger: Ledger, decide: Decide, capsys: pytest.CaptureFixture[str]
) -> None:
    bind(ledger)
    decide("C.1", Verdict.FAIL)
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b'"FAIL"', b'"PASS"'))
    assert main(["dod", f"--reports={ledger.folder.parent}"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{ledger.path}:2: its content does not match its hash" in err


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
    assert "            not decided: W-1, W-2" in text
    assert "  phase D2: not decided: D2.nodes, " in text


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
