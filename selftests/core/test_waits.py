"""`eventually` against a clock that only moves when someone sleeps or asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.core.waits import Deadline, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Time:
    """Seconds that pass only by `sleep` and by observations that take some."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Observation:
    """Answers one after the other, the last for ever; an exception among them is raised."""

    time: Time
    answers: Iterator[Any]
    takes: float = 0.0
    began: list[float] = field(default_factory=list)

    def __call__(self) -> Any:
        self.began.append(self.time.now)
        self.time.now += self.takes
        answer = next(self.answers)
        if isinstance(answer, BaseException):
            raise answer
        return answer


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def observe(time: Time) -> Callable[..., Observation]:
    def observe_(*answers: Any, takes: float = 0.0) -> Observation:
        return Observation(time, chain(answers, repeat(answers[-1])), takes)

    return observe_


def wait(time: Time, observation: Observation, **changes: Any) -> Any:
    settings = {"within": 10, "every": 3, "what": "the VIP is on cp02", **changes}
    return eventually(
        observation, lambda value: value == "cp02", clock=time.clock, sleep=time.sleep, **settings
    )


class TestDeadline:
    def test_it_counts_down_and_stops_at_zero(self, time: Time) -> None:
        deadline = Deadline.after(5, time.clock)
        assert (deadline.elapsed, deadline.remaining, deadline.expired) == (0, 5, False)
        time.now += 4
        assert (deadline.elapsed, deadline.remaining, deadline.expired) == (4, 1, False)
        time.now += 4
        assert (deadline.elapsed, deadline.remaining, deadline.expired) == (8, 0, True)

    @pytest.mark.parametrize("limit", [-1, float("nan"), float("inf")])
    def test_a_limit_that_is_none(self, limit: float) -> None:
        with pytest.raises(ValueError, match="a limit must be finite and not negative"):
            Deadline.after(limit)

    def test_the_clock_is_the_monotonic_one_unless_told(self) -> None:
        deadline = Deadline.after(3600)
        assert 3599 < deadline.remaining <= 3600


class TestEventually:
    def test_the_first_look_is_immediate(self, time: Time, observe: Any) -> None:
        assert wait(time, observe("cp02")) == "cp02"
        assert time.slept == []

    def test_it_looks_at_every_poll_and_a_last_time_at_the_limit(
        self, time: Time, observe: Any
    ) -> None:
        observation = observe("cp01")
        with pytest.raises(AssertionError):
            wait(time, observation)
        assert observation.began == [1000, 1003, 1006, 1009, 1010]

    def test_yes_at_the_limit_is_in_time(self, time: Time, observe: Any) -> None:
        assert wait(time, observe(*["cp01"] * 4, "cp02")) == "cp02"

    def test_the_last_sample_said_no(self, time: Time, observe: Any) -> None:
        observation = observe(Undecided("rke-cp02: no link"), "cp01")
        with pytest.raises(AssertionError) as caught:
            wait(time, observation)
        assert str(caught.value) == (
            "the VIP is on cp02: not so (limit 10 s, 5 tries in 10.0 s); last value: 'cp01'; "
            "last error: Undecided: rke-cp02: no link"
        )

    def test_the_last_sample_could_not_be_asked(self, time: Time, observe: Any) -> None:
        gone = Undecided("rke-cp02: no link")
        with pytest.raises(Undecided) as caught:
            wait(time, observe("cp01", gone))
        assert str(caught.value) == (
            "the VIP is on cp02: could not be asked at the end (limit 10 s, 5 tries in 10.0 s); "
            "last value: 'cp01'; last error: Undecided: rke-cp02: no link"
        )
        assert caught.value.__cause__ is gone

    def test_nothing_was_ever_seen(self, time: Time, observe: Any) -> None:
        with pytest.raises(Undecided, match=r"\(limit 0 s, 1 try in 0\.0 s\); last value: none;"):
            wait(time, observe(Undecided("no link")), within=0)

    def test_only_named_errors_are_retried(self, time: Time, observe: Any) -> None:
        with pytest.raises(KeyError, match="members"):
            wait(time, observe(KeyError("members"), "cp02"))
        assert wait(time, observe(KeyError("members"), "cp02"), retry=(KeyError,)) == "cp02"
        with pytest.raises(Undecided, match=r"^not retried$"):
            wait(time, observe(Undecided("not retried"), "cp02"), retry=(KeyError,))

    def test_any_named_error_at_the_end_means_undecided(self, time: Time, observe: Any) -> None:
        with pytest.raises(Undecided, match="last error: ConnectionResetError: gone"):
            wait(time, observe(ConnectionResetError("gone")), retry=(ConnectionError,))

    def test_a_judge_that_cannot_decide_is_asked_again(self, time: Time, observe: Any) -> None:
        def until(value: int) -> bool:
            if value < 2:
                raise Undecided("cut output")
            return True

        observation = observe(0, 1, 2)
        assert (
            eventually(
                observation,
                until,
                within=9,
                every=1,
                what="decided",
                clock=time.clock,
                sleep=time.sleep,
            )
            == 2
        )

    @pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(2)])
    def test_an_interrupt_passes_through(
        self, stop: BaseException, time: Time, observe: Any
    ) -> None:
        with pytest.raises(type(stop)):
            wait(time, observe("cp01", stop), retry=(Exception,))

    def test_an_interrupt_during_a_pause_passes_through(self, time: Time, observe: Any) -> None:
        def sleep(_seconds: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            eventually(
                observe(""), bool, within=1, every=1, what="x", clock=time.clock, sleep=sleep
            )

    def test_the_live_line_is_told_before_each_pause(self, time: Time, observe: Any) -> None:
        told: list[tuple[str, float, float]] = []
        wait(time, observe("cp01", "cp01", "cp02"), on_wait=lambda *line: told.append(line))
        assert told == [("the VIP is on cp02", 0, 10), ("the VIP is on cp02", 3, 10)]

    @pytest.mark.parametrize("every", [0, -1, float("nan"), float("inf")])
    def test_a_poll_that_is_none(self, every: float, time: Time, observe: Any) -> None:
        with pytest.raises(ValueError, match="a poll must be finite and positive"):
            wait(time, observe("cp02"), every=every)

    def test_a_hostile_value_stays_harmless_and_short(self, time: Time, observe: Any) -> None:
        with pytest.raises(AssertionError) as caught:
            wait(time, observe("\x1b[2J" + "x" * 10**6), within=0)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000

    @given(
        within=st.floats(0, 1000),
        every=st.floats(0.01, 1000),
        takes=st.floats(0, 50),
    )
    def test_no_sample_begins_after_the_limit_but_the_one_at_it(
        self, within: float, every: float, takes: float
    ) -> None:
        every = max(every, within / 100)
        time = Time(now=0.0)
        observation = Observation(time, repeat("cp01"), takes)
        with pytest.raises(AssertionError):
            wait(time, observation, within=within, every=every)
        assert observation.began[0] == 0
        assert observation.began[-1] <= within + 1e-6
        assert all(pause <= every for pause in time.slept)
