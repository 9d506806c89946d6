"""Time that a test moves by hand, and a sampler that lives in it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from fixtures.drills.sampler import Pace, Sampler
from fixtures.drills.samples import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fixtures.drills.outages import Availability
    from fixtures.drills.probes import Probe

ALL = tuple(Target)
PATIENCE = 20.0


def wait_until(true: Callable[[], bool]) -> None:
    """For what tells nobody when it happens."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


class ManualClock:
    """Stands still until it is told."""

    def __init__(self) -> None:
        self._now = 0.0
        self._moved = threading.Condition()

    def __call__(self) -> float:
        return self._now

    def go_to(self, seconds: float) -> None:
        with self._moved:
            self._now = seconds
            self._moved.notify_all()

    def pause(self, stop: threading.Event, seconds: float) -> None:
        until = self._now + seconds - 1e-9
        with self._moved:
            while self._now < until and not stop.is_set():
                # Nobody tells of the stop.
                self._moved.wait(0.01)


class PatientClock:
    """Runs only while the sampler waits: however busy the machine is, no start time is missed."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def pause(self, stop: threading.Event, seconds: float) -> None:
        stop.wait(seconds)
        self._now += seconds


class Stepped:
    """A sampler whose start times come when the test says so.

    Attributes:
        records: what its sink was told. changes: the changes of state.
    """

    def __init__(self, probes: Mapping[Target, Probe], pace: Pace) -> None:
        self.records: list[dict[str, Any]] = []
        self.changes: list[dict[str, Any]] = []
        self.clock = ManualClock()
        self.pace = pace
        self.probes = probes
        self.slot = -1
        self._told = threading.Condition()
        self.sampler = Sampler(
            probes,
            pace,
            sink=self._record,
            on_change=self.changes.append,
            clock=self.clock,
            pause=self.clock.pause,
        )

    def step(self, times: int = 1, *, until: Iterable[Target] = ALL) -> None:
        """Let so many start times pass, each when the samples of `until` have ended."""
        for _ in range(times):
            self.slot += 1
            self.clock.go_to(self.slot * self.pace.interval)
            if self.slot == 0:
                self.sampler.start()
            self.wait_for(*((target, self.slot) for target in until))

    def wait_for(self, *wanted: tuple[Target, int]) -> None:
        """Wait until these samples have ended."""

        def there() -> bool:
            seen = {
                (each["target"], round(each["t"] / self.pace.interval)) for each in self.records
            }
            return seen.issuperset((target.value, slot) for target, slot in wanted)

        with self._told:
            assert self._told.wait_for(there, PATIENCE), f"{wanted} did not end"

    def kinds(self, target: Target) -> list[str]:
        """How the target's samples ended, in order of start times."""
        mine = [each for each in self.records if each["target"] == target]
        return [each["kind"] for each in sorted(mine, key=lambda each: each["t"])]

    def stop(self) -> Availability:
        return self.sampler.stop()

    def _record(self, record: dict[str, Any]) -> None:
        with self._told:
            self.records.append(record)
            self._told.notify_all()
