"""A drill whose run was killed owes its undo until somebody has seen that all is well."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import done
from fixtures.applylog.advice import next_command
from fixtures.applylog.console import done_lines, status_lines
from fixtures.applylog.log import Log
from fixtures.applylog.record import Kind
from fixtures.applylog.standing import standings
from fixtures.core.milestones import LOCKING, LOOKED_AFTER, RECOVERED
from fixtures.core.verdicts import Verdict
from selftests.applylog.story import AT, Story

if TYPE_CHECKING:
    from fixtures.applylog.canonical import JSON


@pytest.fixture
def story() -> Story:
    """A whole apply, then one more drill of C.6 that was killed after its stop."""
    story = Story()
    story.accept()
    story.add(Kind.RUN_END, status=0)
    drill(story, "killed", LOCKING, "stop rke2-server")
    return story


def drill(story: Story, run: str, *steps: str, gate: str = "C.6") -> None:
    story.add(Kind.RUN_START, run, operator="ada@desk", command="pytest --gate=C.6 --lab")
    for step in steps:
        story.add(Kind.STEP, run, gate=gate, step=step, state="sending", host="rke-cp01")


def told(story: Story) -> list[str]:
    return [f"{record.key} {record.verdict}" for record in Log.of(story.lines).undos]


def look(story: Story, state: str, of: str = "killed", gate: str = "C.6") -> None:
    story.add(Kind.STEP, "later", gate=gate, step=LOOKED_AFTER, state=state, of=of)


def test_the_definition_of_done_is_not_complete_after_it(story: Story) -> None:
    assert told(story) == ["C.6.undo UNKNOWN"]
    assert not done.of(story.lines).complete
    text = "\n".join(done_lines(done.of(story.lines)))
    assert "\nNOT complete: 1 open" in text
    assert "C.6.undo UNKNOWN" in text
    look(story, "done")
    assert told(story) == []
    assert done.of(story.lines).complete


def test_the_status_begins_with_it_and_says_what_to_type(story: Story) -> None:
    rows = list(status_lines(story.lines, AT + timedelta(minutes=4)))
    undo = next(row for row in rows if row.startswith("C.6.undo"))
    assert rows.index(undo) == 1
    assert "UNKNOWN" in undo
    assert "4 min" in undo
    assert "C.6 of run killed (ada@desk) was not finished" in undo
    assert "`stop rke2-server` on rke-cp01" in undo
    assert rows[-1] == "next: pytest -m gate_b --lab"

    story.decide("C.6.undo", Verdict.FAIL)
    assert list(status_lines(story.lines, AT))[-1] == (
        "next: pytest '--clear-latch=NAME: REASON' --lab"
    )
    story.add(Kind.LATCH, state="cleared", by="Ada: seen")
    assert list(status_lines(story.lines, AT))[-1] == "every gate of the table is shown"
    assert next_command(standings(story.lines), story.lines) is None


@pytest.mark.parametrize("state", ["failed", "unknown"])
def test_it_stands_while_a_later_run_does_not_see_that_all_is_well(
    story: Story, state: str
) -> None:
    look(story, state)
    assert told(story) == ["C.6.undo UNKNOWN"]


def test_it_is_settled_by_the_drill_itself_and_by_no_word(story: Story) -> None:
    for verdict in (Verdict.ATTESTED, Verdict.DEFERRED, Verdict.BLOCKED):
        story.decide("C.6", verdict)
        assert told(story) == ["C.6.undo UNKNOWN"]
    story.decide("C.5")
    assert told(story) == ["C.6.undo UNKNOWN"]
    for identity in (None, "cd" * 32):
        story.decide("C.6", identity=identity)
        assert told(story) == ["C.6.undo UNKNOWN"], "nobody knows of which cluster that is"
    story.decide("C.6")
    assert told(story) == []


def test_whoever_releases_the_dead_run_s_lock_has_said_nothing_of_what_it_changed(
    story: Story,
) -> None:
    story.add(Kind.LATCH, state="releasing", by="Ada: that run is dead")
    story.add(Kind.LATCH, state="lock released", by="Ada: that run is dead")
    assert told(story) == ["C.6.undo UNKNOWN"]
    story.add(Kind.LATCH, state="cleared", by="Ada: seen")
    assert told(story) == []


def test_of_two_that_were_killed_the_first_is_owed_when_the_second_had_recovered(
    story: Story,
) -> None:
    drill(story, "second", LOCKING, "stop rke2-server")
    story.add(Kind.STEP, "second", gate="C.6", step=RECOVERED, state="done")
    assert told(story) == ["C.6.undo UNKNOWN"]
    look(story, "done", of="second")
    assert told(story) == ["C.6.undo UNKNOWN"]
    look(story, "done")
    assert told(story) == []


@pytest.mark.parametrize(
    "more",
    [
        # It never came further than its lock.
        [],
        # It was back before the run was killed.
        [("stop rke2-server", "sending"), (RECOVERED, "done")],
    ],
)
def test_a_drill_that_changed_nothing_or_was_back_owes_none(more: list[tuple[str, str]]) -> None:
    story = Story()
    story.accept()
    drill(story, "killed", LOCKING)
    for step, state in more:
        fields: dict[str, JSON] = {"gate": "C.6", "step": step, "state": state}
        story.add(Kind.STEP, "killed", **fields)
    assert told(story) == []


def test_a_drill_that_its_run_decided_is_told_by_that_verdict() -> None:
    story = Story()
    story.accept()
    drill(story, "one", LOCKING, "stop rke2-server")
    assert told(story) == ["C.6.undo UNKNOWN"]
    story.decide("C.6", Verdict.FAIL)
    assert told(story) == []
    assert [proof.key for proof in done.of(story.lines).open] == ["C.6"]
