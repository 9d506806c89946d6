"""Losing our own link is not taken for an outage of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.drills.samples import State, Target
from fixtures.remote.errors import LinkError, SilentError
from selftests.drills.conftest import PROHIBITED
from selftests.remote.sockets import Relay

if TYPE_CHECKING:
    from fixtures.remote.bastion import BastionLink
    from fixtures.remote.channel import Channel
    from selftests.drills.conftest import Stage


def test_a_cut_link_is_blind_and_no_outage(stage: Stage) -> None:
    relay = stage.site.behind_relay(Relay(stage.site.bastion.port))
    link = stage.link(reconnect_backoff=0.1)
    stepper = stage.stepped(link)
    stepper.step(2)
    relay.target = 1
    relay.cut()
    stepper.step(2)
    measured = stepper.stop()
    assert measured.combined.gaps == ()
    assert measured.longest_blind == measured.total_blind == 0.5
    assert stepper.kinds(Target.NEW) == ["ok", "ok", "link", "link"]
    assert [each["ok"] for each in stepper.records[-6:]] == [None] * 6


def test_a_link_that_comes_back_is_used_again(stage: Stage) -> None:
    relay = stage.site.behind_relay(Relay(stage.site.bastion.port))
    link = stage.link(reconnect_backoff=0.01)
    stepper = stage.stepped(link)
    stepper.step(2)
    relay.cut()
    connection = link.host("wetopi-ops01").link.live
    assert connection is not None
    connection.join(10)
    stepper.step(2)
    measured = stepper.stop()
    assert measured.combined.longest == 0
    assert link.connections == 2
    assert stepper.kinds(Target.CONTROL) == ["ok"] * 4
    assert measured.connections == 2


def test_a_frozen_link_is_blind_and_no_outage(stage: Stage) -> None:
    relay = stage.site.behind_relay(Relay(stage.site.bastion.port))
    link = stage.link()
    stepper = stage.stepped(link, interval=0.1, limit=1.0)
    stepper.step(2)
    relay.freeze()
    stepper.step(2)
    measured = stepper.stop()
    assert stepper.kinds(Target.NEW) == ["ok", "ok", "timeout", "timeout"]
    assert measured.combined.gaps == ()
    assert measured.total_blind == pytest.approx(0.2)
    # A short silence must not end the connection on which the drill's undo may be waiting.
    assert link.connections == 1
    relay.thaw()


class _NoControl:
    """The bastion as it is, but for its signs of life."""

    def __init__(self, link: BastionLink) -> None:
        self.link = link
        self.error: LinkError | None = None

    def channel(self, address: str, port: int, limit: float) -> Channel:
        return self.link.channel(address, port, limit)

    def round_trip(self, limit: float) -> None:
        if self.error is not None:
            raise self.error
        self.link.round_trip(limit)


def test_the_control_target_lost_alone_is_blind(stage: Stage) -> None:
    bastion = _NoControl(stage.link())
    stepper = stage.stepped(bastion)
    stepper.step(2)
    bastion.error = SilentError("no sign of life within 5 s")
    stepper.step(3)
    bastion.error = None
    stepper.step()
    measured = stepper.stop()
    assert measured.new.kinds == {"ok": 6}
    assert measured.combined.gaps == ()
    assert [(run.start, run.end) for run in measured.blind] == [(0.5, 1.25)]
    assert [run.state for run in measured.control.runs] == [State.UP, State.BLIND, State.UP]


def test_a_bastion_that_forwards_nothing_is_blind(stage: Stage) -> None:
    stepper = stage.stepped()
    stepper.step()
    stage.forward(PROHIBITED)
    stepper.step()
    measured = stepper.stop()
    assert stepper.kinds(Target.NEW) == ["ok", "link"]
    assert measured.combined.gaps == ()
