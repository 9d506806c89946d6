"""What earlier records of a gate tell of an order."""

from __future__ import annotations

from fixtures.core.verdicts import Verdict
from fixtures.judge.at_rest import CLOCK, FELL
from fixtures.session.earlier import held
from selftests.applylog.story import AT, IDENTITY, Story

OTHER = "cd" * 32


def test_what_held_and_when_it_did_not_of_this_cluster_in_their_order() -> None:
    story = Story()
    story.decide("G.3", clock=7)
    story.decide("G.3", Verdict.FAIL)
    story.decide("G.3", Verdict.UNKNOWN, clock=8)
    story.decide("G.3", Verdict.BLOCKED)
    story.decide("G.3", identity=OTHER, clock=9)
    story.decide("G.3", Verdict.FAIL, identity=OTHER)
    story.decide("F2.enc-i", clock=10)
    assert held(story.lines, "G.3", IDENTITY) == [{CLOCK: 7}, {FELL: int(AT.timestamp())}]
    assert held(story.lines, "G.3", None) == []


def test_what_was_seen_of_a_cluster_nobody_could_identify_makes_it_only_worse() -> None:
    story = Story()
    story.decide("G.3", identity=None, clock=7)
    story.decide("G.3", Verdict.FAIL, identity=None)
    assert held(story.lines, "G.3", IDENTITY) == [{FELL: int(AT.timestamp())}]
