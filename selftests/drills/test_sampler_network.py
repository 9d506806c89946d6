"""The sampler against a TLS server behind a bastion: what breaks is measured as it was."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.drills.probes import ReusedProbe
from fixtures.drills.sampler import Sampler
from fixtures.drills.samples import Target
from selftests.drills.clock import wait_until
from selftests.drills.conftest import NO_ROUTE, REFUSED
from selftests.drills.readyz import OK
from selftests.remote.sockets import RawServer, saying, silent

if TYPE_CHECKING:
    import asyncssh

    from selftests.drills.conftest import Stage

API = (Target.NEW, Target.REUSED)
CONTROL = (Target.CONTROL,)


def test_a_steady_api_is_up_over_one_kept_connection(stage: Stage) -> None:
    stepper = stage.stepped()
    stepper.step(5)
    measured = stepper.stop()
    assert measured.seconds == 1.25
    assert measured.combined.gaps == measured.blind == ()
    assert measured.connections == 1
    assert stage.api.requests == 10
    # Nothing is run on any host: no session is ever opened.
    assert stage.site.bastion.commands == []
    assert sorted((each["target"], each["from"], each["to"]) for each in stepper.changes) == [
        ("control", None, "up"),
        ("new", None, "up"),
        ("reused", None, "up"),
    ]


@pytest.mark.parametrize(
    ("how", "kind"), [(REFUSED, "refused"), (NO_ROUTE, "no-route")], ids=["refused", "no route"]
)
def test_an_outage_of_one_second(stage: Stage, how: asyncssh.ChannelOpenError, kind: str) -> None:
    stepper = stage.stepped()
    stepper.step(3)
    stage.down(how)
    stepper.step(4)
    stage.up()
    stepper.step(3)
    measured = stepper.stop()
    for lane in (measured.new, measured.reused, measured.combined):
        (gap,) = lane.gaps
        assert (gap.start, gap.end, gap.seconds) == (0.75, 1.75, 1.0)
        assert (lane.longest, lane.total) == (1.0, 1.0)
        assert (lane.first_failure, lane.last_failure) == (0.75, 1.5)
    assert measured.new.kinds == {"ok": 6, kind: 4}
    assert measured.blind == ()
    assert measured.control.kinds == {"ok": 10}
    new = [(each["from"], each["to"]) for each in stepper.changes if each["target"] == "new"]
    assert new == [(None, "up"), ("up", "down"), ("down", "up")]


@pytest.mark.parametrize("begin", [0.26, 0.3, 0.45, 0.49, 0.5, 0.74])
def test_an_outage_of_300_ms_is_right_within_one_interval(stage: Stage, begin: float) -> None:
    stepper = stage.stepped()
    was_down = False
    for slot in range(8):
        down = begin <= slot * 0.25 < begin + 0.3
        if down and not was_down:
            stage.down()
        elif was_down and not down:
            stage.up()
        was_down = down
        stepper.step()
    measured = stepper.stop()
    assert len(measured.combined.gaps) == 1
    assert measured.combined.longest == pytest.approx(0.3, abs=0.25)


def test_a_flap_is_two_gaps(stage: Stage) -> None:
    stepper = stage.stepped()
    for up, slots in ((True, 2), (False, 1), (True, 1), (False, 2), (True, 2)):
        (stage.up if up else stage.down)()
        stepper.step(slots)
    measured = stepper.stop()
    for lane in (measured.new, measured.reused):
        assert [gap.seconds for gap in lane.gaps] == [0.25, 0.5]
        assert lane.total == 0.75


@pytest.mark.parametrize(
    ("answer", "kind", "detail"),
    [
        ((401, b"Unauthorized"), "401", "401: Unauthorized"),
        ((403, b"no\x1b[31m"), "403", "403: no\\x1b[31m"),
        ((500, b"[+]ping ok\n[-]etcd failed: reason withheld\n"), "status", "500: [-]etcd failed"),
        ((200, b"ok\n"), "not-ok", "200: ok"),
        ((200, b""), "not-ok", "200:"),
    ],
)
def test_answered_but_not_ready_is_an_outage(
    stage: Stage, answer: tuple[int, bytes], kind: str, detail: str
) -> None:
    stepper = stage.stepped()
    stepper.step()
    stage.api.answer = answer
    stepper.step(2)
    stage.api.answer = (200, b"ok")
    stepper.step()
    measured = stepper.stop()
    assert stepper.kinds(Target.NEW) == stepper.kinds(Target.REUSED) == ["ok", kind, kind, "ok"]
    assert measured.new.longest == measured.reused.longest == 0.5
    assert measured.connections == 1
    bad = next(each for each in stepper.records if each["kind"] == kind)
    assert bad["ok"] is False
    assert bad["detail"].startswith(detail)


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "does not accept the admin certificate"), (500, "the API was not steady")],
)
def test_a_baseline_that_is_not_ready_forbids_the_drill(
    stage: Stage, status: int, said: str
) -> None:
    stage.api.answer = (status, b"no")
    with stage.running() as sampler:
        with pytest.raises(Undecided, match=f"no drill: .*{said}.*{status}: no"):
            sampler.baseline(1)
        stage.api.answer = OK
    assert sampler.stop().combined.gaps


def test_a_steady_api_is_a_baseline(stage: Stage) -> None:
    with stage.running() as sampler:
        sampler.baseline(0.25)
        assert sampler.now >= 0.2
    assert sampler.stop().combined.gaps == ()
    assert {each["ok"] for each in stage.records} == {True}
    due = [each["t"] for each in stage.records if each["target"] == "new"]
    assert sorted(due) == pytest.approx([slot * 0.05 for slot in range(len(due))])


def test_the_cluster_s_own_sampler_runs_in_real_time(stage: Stage) -> None:
    link = stage.link(sampler_interval=0.02, sampler_request=5)
    records: list[dict[str, object]] = []
    sampler = Sampler.of(
        link.cluster,
        link,
        stage.certificates.client,
        sink=records.append,
        on_change=lambda _change: None,
    )
    with sampler:
        wait_until(lambda: len(records) >= 15)
    measured = sampler.stop()
    assert measured.interval == 0.02
    assert measured.combined.gaps == ()
    slots = round(measured.seconds / 0.02)
    assert len(records) == 3 * slots
    assert measured.new.kinds["ok"] > 0


def test_another_cluster_s_certificate_is_an_outage(stage: Stage) -> None:
    stage.api.stop()
    stage.api.context = stage.certificates.foreign
    stage.forward(stage.api.start().port)
    stepper = stage.stepped()
    stepper.step(2)
    assert stepper.stop().new.kinds == {"tls": 2}
    assert "verify failed" in stepper.records[0]["detail"] + stepper.records[1]["detail"]


def test_what_speaks_no_tls_is_an_outage(stage: Stage) -> None:
    raw = RawServer([saying(b"HTTP/1.0 400 Bad Request\r\n\r\n")]).start()
    stage.forward(raw.port)
    stepper = stage.stepped()
    stepper.step(2)
    assert stepper.stop().new.kinds == {"tls": 2}
    raw.stop()


def test_a_stuck_connection_delays_nobody_else(stage: Stage) -> None:
    """The new connection hangs at once, the kept one at its next request."""
    stuck = RawServer([silent]).start()
    stepper = stage.stepped(interval=0.05, limit=1.0)
    stepper.step(2)
    stage.forward(stuck.port)
    stage.api.hold()
    stepper.step(4, until=CONTROL)
    wait_until(lambda: (stuck.accepted, stage.api.requests) == (7, 5))
    stage.up()
    stage.api.forget()
    stepper.step(2, until=CONTROL)
    stepper.wait_for(*((target, slot) for target in API for slot in range(8)))
    measured = stepper.stop()
    assert stepper.kinds(Target.NEW) == ["ok"] * 2 + ["timeout"] * 4 + ["ok"] * 2
    assert stepper.kinds(Target.REUSED) == ["ok"] * 2 + ["timeout"] * 4 + ["ok"] * 2
    assert measured.new.longest == measured.reused.longest == pytest.approx(0.2)
    assert measured.blind == ()
    stuck.stop()


def test_a_slow_answer_is_up_and_shifts_nothing(stage: Stage) -> None:
    stepper = stage.stepped()
    stepper.step()
    stage.api.hold()
    stepper.step(3, until=CONTROL)
    assert stepper.kinds(Target.NEW) == ["ok"]
    wait_until(lambda: stage.api.requests == 8)
    stage.api.release()
    stepper.wait_for(*((target, 3) for target in API))
    stepper.step(2)
    measured = stepper.stop()
    assert measured.combined.gaps == ()
    assert stepper.kinds(Target.NEW) == stepper.kinds(Target.REUSED) == ["ok"] * 6
    # Two more were made while the first waited; one is kept.
    assert measured.connections == 3
    assert stage.api.requests == 12


def test_samples_on_their_way_at_the_end_are_waited_for(stage: Stage) -> None:
    stepper = stage.stepped()
    stepper.step()
    stage.api.hold()
    stepper.step(2, until=CONTROL)
    threading.Timer(0.2, stage.api.release).start()
    measured = stepper.stop()
    assert measured.new.kinds == measured.reused.kinds == {"ok": 3}
    assert measured.combined.gaps == measured.blind == ()
    assert len(stepper.records) == 9


def test_an_outage_that_lasts_beyond_the_end_is_not_over(stage: Stage) -> None:
    stepper = stage.stepped()
    stepper.step()
    stage.down()
    stepper.step(2)
    (gap,) = stepper.stop().combined.gaps
    assert (gap.start, gap.end, gap.seconds) == (0.25, None, 0.5)


def test_a_kept_connection_closed_between_requests_is_replaced(stage: Stage) -> None:
    stage.api.ending = "close"
    stepper = stage.stepped()
    probe = stepper.probes[Target.REUSED]
    assert isinstance(probe, ReusedProbe)
    for _ in range(3):
        stepper.step()
        wait_until(lambda: probe._idle is not None and not probe._idle.usable())
    measured = stepper.stop()
    assert measured.combined.gaps == ()
    assert measured.connections == 3


def test_a_kept_connection_closed_under_a_request_is_a_short_outage(stage: Stage) -> None:
    stepper = stage.stepped()
    stepper.step(2)
    stage.api.ending = "drop"
    stepper.step()
    stage.api.ending = "keep"
    stepper.step(2)
    measured = stepper.stop()
    assert stepper.kinds(Target.REUSED) == ["ok", "ok", "closed", "ok", "ok"]
    assert measured.reused.longest == 0.25
    assert measured.connections == 2
