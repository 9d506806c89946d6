"""The sampler's own machinery, with probes that do as they are told."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import Kind as LineKind
from fixtures.core.limits import Limits
from fixtures.core.verdicts import Undecided
from fixtures.drills import recorder, sampler
from fixtures.drills.allowance import unseen
from fixtures.drills.sampler import Pace, Sampler
from fixtures.drills.samples import Kind, Seen, Target
from selftests.drills.clock import PatientClock, Stepped, wait_until

if TYPE_CHECKING:
    from pathlib import Path

PACE = Pace(0.25, 1.0)
OK = Seen(Kind.OK)
CONTROL = (Target.CONTROL,)


@dataclass
class Puppet:
    """A probe that sees what it is told, and waits while it is held."""

    seen: Seen | Exception = OK
    held: threading.Event = field(default_factory=threading.Event)
    closed: bool = False
    looks: int = 0
    connections: int = 1

    def __post_init__(self) -> None:
        self.held.set()

    def look(self, limit: float) -> Seen:
        self.looks += 1
        assert self.held.wait(20)
        if isinstance(self.seen, Exception):
            raise self.seen
        return self.seen

    def close(self) -> None:
        self.closed = True


def puppets() -> dict[Target, Puppet]:
    return {target: Puppet() for target in Target}


def running(probes: dict[Target, Puppet], sink: Any = lambda _record: None) -> Sampler:
    clock = PatientClock()
    return Sampler(
        probes,
        Pace(0.01, 10.0),
        sink=sink,
        on_change=lambda _change: None,
        clock=clock,
        pause=clock.pause,
    )


def test_a_record_is_what_the_log_holds() -> None:
    probes = puppets()
    probes[Target.NEW].seen = Seen(Kind.REFUSED, "Connection refused")
    stepper = Stepped(probes, PACE)
    stepper.step(2)
    stepper.stop()
    record = next(each for each in stepper.records if each["target"] == "new" and each["t"])
    assert record.pop("at").endswith("Z")
    assert record == {
        "t": 0.25,
        "target": "new",
        "ok": False,
        "kind": "refused",
        "detail": "Connection refused",
        "ms": 0.0,
    }


def test_a_change_can_be_a_line_of_the_apply_log(tmp_path: Path) -> None:
    probes = puppets()
    stepper = Stepped(probes, PACE)
    stepper.step()
    probes[Target.NEW].seen = Seen(Kind.STATUS, "500: [-]etcd failed")
    stepper.step()
    stepper.stop()
    ledger = Ledger.open(tmp_path, "lab")
    for change in stepper.changes:
        ledger.append(LineKind.SAMPLE, gate="C.6", **change)
    last = list(ledger.lines())[-1].fields
    assert str(last["due"]).endswith("Z")
    expected = {"t": 0.25, "target": "new", "from": "up", "to": "down", "how": "status"}
    assert {**last, **expected, "gate": "C.6", "detail": "500: [-]etcd failed"} == last


def test_changes_come_in_order_of_start_times_not_of_answers() -> None:
    probes = puppets()
    new = probes[Target.NEW]
    stepper = Stepped(probes, PACE)
    stepper.step()
    new.held.clear()
    stepper.step(until=CONTROL)
    slow = new.held
    wait_until(lambda: new.looks == 2)
    new.held = threading.Event()
    new.held.set()
    new.seen = Seen(Kind.REFUSED)
    stepper.step()
    assert not [each for each in stepper.changes if each["to"] == "down"]
    slow.set()
    stepper.wait_for((Target.NEW, 1))
    stepper.stop()
    down = [each["t"] for each in stepper.changes if each["to"] == "down"]
    assert down == [0.25]


def test_no_more_are_on_their_way_than_the_limit_explains() -> None:
    probes = puppets()
    probes[Target.NEW].held.clear()
    stepper = Stepped(probes, PACE)
    stepper.step(8, until=CONTROL)
    assert probes[Target.NEW].looks == PACE.most == 5
    probes[Target.NEW].held.set()
    measured = stepper.stop()
    assert measured.new.kinds == {"ok": 5, "missed": 3}
    assert measured.total_blind == 0.75


def test_start_times_that_were_slept_through_are_recorded_as_missed() -> None:
    stepper = Stepped(puppets(), PACE)
    stepper.step()
    stepper.clock.go_to(2.3)
    stepper.wait_for(*((target, 9) for target in Target))
    measured = stepper.stop()
    assert measured.new.kinds == measured.control.kinds == {"ok": 2, "missed": 8}
    assert measured.longest_blind == 2.0
    assert unseen(measured, Limits(sampler_blind=1.9)) != ()
    assert unseen(measured, Limits(sampler_blind=2.0)) == ()


def test_a_mistake_of_a_probe_is_blind_and_not_lost() -> None:
    probes = puppets()
    probes[Target.REUSED].seen = ZeroDivisionError("one\ntwo")
    stepper = Stepped(probes, PACE)
    stepper.step(2)
    measured = stepper.stop()
    assert measured.reused.kinds == {"missed": 2}
    assert measured.combined.gaps == ()
    reused = next(each for each in stepper.records if each["target"] == "reused")
    assert reused["detail"] == "ZeroDivisionError: one two"
    assert reused["ok"] is None


def test_stop_waits_for_what_is_on_its_way_and_closes_afterwards() -> None:
    probes = puppets()
    new = probes[Target.NEW]
    new.held.clear()
    stepper = Stepped(probes, PACE)
    stepper.step(until=CONTROL)
    threading.Timer(0.1, new.held.set).start()
    measured = stepper.stop()
    assert measured.new.kinds == {"ok": 1}
    assert all(probe.closed for probe in probes.values())


def test_stop_never_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "_GRACE", 0.05)
    probes = puppets()
    probes[Target.NEW].held.clear()
    stepper = Stepped(probes, Pace(0.25, 0.1))
    stepper.step(until=CONTROL)
    measured = stepper.stop()
    assert measured.new.kinds == {"unfinished": 1}
    assert measured.combined.gaps == ()
    assert measured.total_blind == 0.25
    probes[Target.NEW].held.set()
    assert stepper.stop().new.kinds == {"unfinished": 1}
    assert stepper.kinds(Target.NEW) == ["unfinished"]


def test_stop_before_the_start_measures_nothing() -> None:
    measured = running(puppets()).stop()
    assert measured.seconds == 0
    assert unseen(measured, Limits()) == ("the API was not sampled at all",)


def test_ctrl_c_inside_stops_the_threads() -> None:
    probes = puppets()

    def drill() -> None:
        with running(probes) as sampling:
            sampling.baseline(0.02)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drill()
    looks = [probe.looks for probe in probes.values()]
    assert all(probe.closed for probe in probes.values())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sample")]
    time.sleep(0.05)
    assert [probe.looks for probe in probes.values()] == looks


def test_a_full_disk_stops_nothing_but_forbids_a_verdict() -> None:
    def full(_record: Any) -> None:
        raise OSError(28, "No space left on device")

    with running(puppets(), full) as sampling:
        sampling.baseline(0.05)
    measured = sampling.stop()
    assert measured.combined.kinds[Kind.OK] >= 10
    (reason,) = unseen(measured, Limits())
    assert "could not be recorded" in reason
    assert "No space left on device" in reason


def test_a_hanging_disk_delays_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_PATIENCE", 0.05)
    release = threading.Event()
    with running(puppets(), lambda _record: release.wait(20)) as sampling:
        sampling.baseline(0.05)
    measured = sampling.stop()
    assert "not recorded within" in measured.trouble
    release.set()


def test_a_baseline_is_told_at_once_what_is_wrong() -> None:
    probes = puppets()
    probes[Target.CONTROL].seen = Seen(Kind.LINK, "the connection was lost")
    with (
        running(probes) as sampling,
        pytest.raises(Undecided, match=r"way to the bastion was not steady.*connection was lost"),
    ):
        sampling.baseline(3600)


def test_a_baseline_without_samples_is_no_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "_GRACE", 0.05)
    stepper = Stepped(puppets(), Pace(0.01, 0.1))
    stepper.step()
    with pytest.raises(Undecided, match=r"no drill: 0 of 15 samples"):
        stepper.sampler.baseline(0.05)
    stepper.stop()


def test_a_thread_that_cannot_go_on_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "_GRACE", 0.05)
    stepper = Stepped(puppets(), Pace(0.25, 0.05))
    stepper.step()

    def broken(*_args: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(stepper.sampler, "_launch", broken)
    stepper.clock.go_to(0.25)
    wait_until(lambda: bool(stepper.sampler._trouble))
    measured = stepper.stop()
    assert measured.trouble == "the sampling ended early: RuntimeError: can't start new thread"
    assert unseen(measured, Limits()) == (measured.trouble,)
