"""Where a gate stands: what counts now, what was shown on its day, and why something does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import gates
from fixtures.applylog.log import Log
from fixtures.applylog.record import Kind
from fixtures.applylog.standing import Standing, standings
from fixtures.core.verdicts import Verdict
from selftests.applylog.story import IDENTITY, Story, keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.applylog.ledger import Ledger

    Decide = Callable[..., None]

OTHER = "cd" * 32
STATED = {gate.id for gate in gates.GATES if gate.attested or gate.attestable}
RECALLED = {gate.id for gate in gates.GATES if gate.recallable}
DEFERRABLE = {"0.8", "G.9"}


@pytest.fixture(autouse=True)
def bound(ledger: Ledger) -> None:
    ledger.append(Kind.IDENTITY, identity=IDENTITY)


def standing(ledger: Ledger, key: str) -> Standing:
    return next(each for each in standings(list(ledger.lines())) if each.key == key)


def restore(ledger: Ledger) -> None:
    ledger.append(Kind.STEP, gate="F6-3", step="reset", state="sending", stales=True)


def test_a_gate_is_stale_when_what_it_stands_on_fell(ledger: Ledger, decide: Decide) -> None:
    decide("B.3")
    decide("C.1")
    assert standing(ledger, "C.1").holds

    decide("B.3", Verdict.FAIL)

    found = standing(ledger, "C.1")
    assert not found.holds
    assert found.shown
    assert found.remark == "stale: B.3, which it stands on, is FAIL since"


def test_a_gate_of_another_cluster_is_told_and_does_not_count(
    ledger: Ledger, decide: Decide
) -> None:
    decide("B.1")
    ledger.append(Kind.IDENTITY, identity=OTHER)

    found = standing(ledger, "B.1")
    assert not found.holds
    assert not found.shown
    assert found.remark == "does not count: another cluster came after it"


def test_a_drill_nobody_authorized_says_so(ledger: Ledger, decide: Decide) -> None:
    decide("C.5", Verdict.UNAUTHORIZED)

    found = standing(ledger, "C.5")
    assert found.record is not None
    assert found.record.verdict is Verdict.UNAUTHORIZED
    assert not found.holds
    assert not found.shown
    assert found.remark is None


@pytest.mark.parametrize(
    ("verdict", "allowed", "why"),
    [
        (Verdict.ATTESTED, STATED | RECALLED, "nobody's word decides it"),
        (Verdict.DEFERRED, DEFERRABLE, "the runbook does not defer this gate"),
    ],
)
def test_a_statement_and_a_deferral_count_only_where_they_are_an_answer(
    verdict: Verdict, allowed: set[str], why: str
) -> None:
    """Whatever writes one into the log for another gate shows nothing with it."""
    story = Story()
    story.accept()
    for gate in gates.GATES:
        for key in keys(gate):
            story.decide(key, verdict)
    for found in standings(story.lines):
        assert found.record is not None
        if found.record.verdict is verdict:
            assert found.shown is (found.gate.id in allowed), found.key
            assert found.shown or why in (found.remark or "")
        else:
            assert found.gate.id in RECALLED, "a drill's own verdict is no statement's to replace"


@pytest.mark.parametrize("drill", sorted(RECALLED))
@pytest.mark.parametrize("measured", [Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN])
def test_a_drill_of_before_the_log_is_shown_until_it_is_run(drill: str, measured: Verdict) -> None:
    def shown() -> Verdict:
        (found,) = (each for each in standings(story.lines) if each.key == drill)
        assert found.record is not None
        assert found.shown is found.record.verdict.satisfies
        return found.record.verdict

    story = Story()
    story.add(Kind.IDENTITY, identity=IDENTITY)
    story.decide(drill, Verdict.ATTESTED)
    assert shown() is Verdict.ATTESTED
    story.decide(drill, measured)
    story.decide(drill, Verdict.ATTESTED)
    assert shown() is measured


def test_what_was_deferred_for_want_of_a_cluster_is_due_once_there_is_one() -> None:
    story = Story()
    story.decide("0.8", Verdict.DEFERRED, identity=None)
    (before,) = (each for each in standings(story.lines) if each.key == "0.8")
    assert before.holds
    story.add(Kind.IDENTITY, identity=IDENTITY)
    (after,) = (each for each in standings(story.lines) if each.key == "0.8")
    assert not after.holds
    assert not after.shown
    assert after.remark == "was deferred until there was a cluster; there is one now: decide it"


def test_a_restore_leaves_what_came_before_it_shown_and_nothing_to_build_on(
    ledger: Ledger, decide: Decide
) -> None:
    decide("C.1")
    restore(ledger)

    found = standing(ledger, "C.1")
    assert found.shown
    assert not found.holds
    assert "decided before the restore F6-3 of " in (found.remark or "")
    decide("C.1")
    assert standing(ledger, "C.1").holds


@pytest.mark.parametrize("gate", ["F6-3", "F6-3.journal", "F6-1R", "F6-2R", "E.2", "D2.dns", "G.1"])
def test_what_the_runbook_has_after_the_restore_has_to_be_shown_after_it(
    ledger: Ledger, decide: Decide, gate: str
) -> None:
    decide(gate)
    restore(ledger)

    found = standing(ledger, gate)
    assert not found.shown
    assert found.remark is not None
    assert found.remark.startswith("does not count: the restore F6-3 of ")
    decide(gate)
    assert standing(ledger, gate).shown


def test_a_cluster_that_cannot_be_identified_shows_nothing_until_it_can(
    ledger: Ledger, decide: Decide
) -> None:
    decide("C.1")
    decide("C.2", Verdict.FAIL)
    ledger.append(Kind.IDENTITY, identity=None, reason="no answer")

    found = standing(ledger, "C.1")
    assert not found.holds
    assert not found.shown
    assert "could not be identified at " in (found.remark or "")
    assert standing(ledger, "C.2").remark is None
    ledger.append(Kind.IDENTITY, identity=IDENTITY)
    assert standing(ledger, "C.1").shown


def test_what_was_decided_of_a_cluster_nobody_could_identify_shows_nothing(
    ledger: Ledger, decide: Decide
) -> None:
    decide("C.1", identity=None)
    found = standing(ledger, "C.1")
    assert not found.shown
    assert found.remark == "does not count: the cluster could not be identified then"


def test_a_node_that_no_run_selected_is_open_all_the_same(ledger: Ledger, decide: Decide) -> None:
    names = ["rke-cp01", "rke-cp02", "rke-cp03"]
    roles = {"control-plane": names, "worker": []}
    ledger.append(Kind.RUN_START, gates=["C.3[rke-cp01]"], nodes=roles)
    decide("C.3[rke-cp01]")

    found = [each for each in standings(list(ledger.lines())) if each.gate.id == "C.3"]
    assert [each.node for each in found] == names
    assert [each.shown for each in found] == [True, False, False]


def test_a_failed_undo_is_told_until_a_human_clears_the_latch_or_the_drill_holds(
    ledger: Ledger, decide: Decide
) -> None:
    def told() -> list[str]:
        return [record.key for record in Log.of(ledger.lines()).undos]

    decide("C.5", Verdict.FAIL)
    decide("C.5.undo", Verdict.FAIL)
    decide("C.6.undo", Verdict.UNKNOWN)
    assert told() == ["C.5.undo", "C.6.undo"]
    for word in (Verdict.ATTESTED, Verdict.DEFERRED):
        decide("C.6", word)
        assert told() == ["C.5.undo", "C.6.undo"], "a word brings nothing back"
    decide("C.6", Verdict.PASS)
    assert told() == ["C.5.undo"]
    ledger.append(Kind.LATCH, state="lock released", by="Ada: that run is dead")
    assert told() == ["C.5.undo"]
    ledger.append(Kind.LATCH, state="clearing", by="Ada: seen")
    assert told() == ["C.5.undo"]
    ledger.append(Kind.LATCH, state="cleared", by="Ada: seen")
    assert told() == []
