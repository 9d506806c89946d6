"""F6-3.journal: what is waited for, and for how long."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.core.waits import eventually
from fixtures.judge.journal import ceases
from selftests.gates.test_journal import LIMITS, STARTED, entry, logged, read

if TYPE_CHECKING:
    from fixtures.judge.findings import Findings
    from fixtures.observe.journal import Journal


class Looks:
    """The journal as it is look after look, the last one for ever; each one second later."""

    def __init__(self, *journals: Journal) -> None:
        self.journals = journals
        self.taken = 0
        self.seconds = 0.0

    def look(self) -> Journal:
        self.taken += 1
        return self.journals[min(self.taken, len(self.journals)) - 1]

    def wait(self, observe: Any, until: Any, **how: Any) -> Any:
        return eventually(observe, until, clock=lambda: self.seconds, sleep=self.sleep, **how)

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def judged(self) -> Findings:
        return ceases(self.look, self.wait, LIMITS, 0)


RECENT = entry(logged("error", "Failed to check local etcd status"), 590)


def test_an_error_is_given_the_time_to_cease() -> None:
    recent = read(STARTED, RECENT)
    looks = Looks(recent, recent, replace(recent, now=recent.now + LIMITS.journal_quiet))
    assert looks.judged() == ()
    assert looks.taken == 3
    assert 0 < looks.seconds < LIMITS.journal_quiet


def test_an_error_that_does_not_cease_is_waited_for_no_longer_than_the_limit() -> None:
    looks = Looks(read(STARTED, RECENT))
    with pytest.raises(Undecided, match="still logs an error"):
        looks.judged()
    assert looks.seconds == pytest.approx(LIMITS.journal_quiet)


def test_an_empty_journal_stays_undecided() -> None:
    with pytest.raises(Undecided, match="an empty journal proves nothing"):
        Looks(read()).judged()


def test_clean_journals_and_damage_are_not_waited_for() -> None:
    damage = entry(logged("error", "panic: tocommit(640) is out of range"), 590)
    for journal, found in ((read(STARTED), False), (read(STARTED, RECENT, damage), True)):
        looks = Looks(journal)
        assert bool(looks.judged()) is found
        assert (looks.taken, looks.seconds) == (1, 0.0)


def test_damage_that_comes_while_waiting_is_told_at_once() -> None:
    damage = entry(logged("error", "panic: tocommit(640) is out of range"), 595)
    looks = Looks(read(STARTED, RECENT), read(STARTED, RECENT, damage))
    assert looks.judged()
    assert looks.taken == 2
