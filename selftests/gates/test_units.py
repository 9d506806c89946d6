"""B.2 and C.3: keepalived runs, in systemd's exact words."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import (
    NO_UNIT,
    SHOW_KEEPALIVED,
    unit,
)
from selftests.gates.world import Reply, healthy, holder

KILLED = {"ActiveState": "failed", "SubState": "failed", "Result": "signal"}


@pytest.mark.parametrize(
    ("state", "verdict", "says"),
    [
        ({}, "PASS", ""),
        (KILLED, "FAIL", "failed (failed), result signal"),
        ({"ActiveState": "inactive", "SubState": "dead"}, "FAIL", "inactive (dead)"),
        ({"ActiveState": "activating", "SubState": "auto-restart"}, "FAIL", "activating"),
        ({"ActiveState": "reloading", "SubState": "reload"}, "FAIL", "reloading"),
        ({"ActiveState": "active", "SubState": "exited"}, "FAIL", "active (exited)"),
        ({"LoadState": "masked"}, "FAIL", "masked"),
        (NO_UNIT, "FAIL", "not installed"),
    ],
)
@pytest.mark.parametrize(("gate", "node"), [("B.2", ""), ("C.3", "rke-cp01")])
def test_keepalived_states(
    gate: str, node: str, state: dict[str, str], verdict: str, says: str
) -> None:
    world = healthy()
    world.say("rke-cp01", SHOW_KEEPALIVED, Reply(unit("keepalived.service", **state)))
    decided = decide(world, gate, node)
    assert decided.verdict == verdict
    assert says in decided.text


@pytest.mark.parametrize(
    "reply",
    [
        Reply("inactive\n", rc=3),
        Reply(""),
        Reply("active\n"),
        Reply(unit("other.service")),
        Reply(unit("keepalived.service") + "\n" + unit("keepalived.service")),
        Reply(unit("keepalived.service", NRestarts="many")),
        Reply(unit("keepalived.service", ActiveState="")),
        Reply(stderr="Failed to connect to bus: No such file or directory\n", rc=1),
        Reply(stderr="System has not been booted with systemd as init system\n", rc=1),
        Reply(unit("keepalived.service"), rc=255),
    ],
)
def test_a_unit_that_cannot_be_read_is_unknown(reply: Reply) -> None:
    world = healthy()
    world.say("rke-cp01", SHOW_KEEPALIVED, reply)
    assert decide(world, "B.2").verdict == "UNKNOWN"
    assert decide(world, "C.3", "rke-cp01").verdict == "UNKNOWN"


def test_a_killed_keepalived_that_left_its_address_fails_everywhere() -> None:
    world = healthy()
    holder(world, "rke-cp01", "rke-cp02")
    world.say("rke-cp01", SHOW_KEEPALIVED, Reply(unit("keepalived.service", **KILLED)))
    decided = decide(world, "C.3", "rke-cp01")
    assert decided.verdict == "FAIL"
    assert "result signal" in decided.text
    assert "2 control planes hold the VIP" in decided.text
    assert decide(world, "B.2").verdict == "FAIL"


def test_a_killed_keepalived_that_still_holds_the_address_alone_fails() -> None:
    world = healthy()
    world.say("rke-cp01", SHOW_KEEPALIVED, Reply(unit("keepalived.service", **KILLED)))
    assert decide(world, "B.3").verdict == "PASS"
    assert decide(world, "C.3", "rke-cp01").verdict == "FAIL"
    assert decide(world, "C.3", "rke-cp02").verdict == "PASS"


def test_a_stopped_keepalived_fails_though_another_control_plane_is_silent() -> None:
    world = healthy()
    world.silence("rke-cp03")
    stopped = unit("keepalived.service", ActiveState="inactive", SubState="dead")
    world.say("rke-cp02", SHOW_KEEPALIVED, Reply(stopped))
    assert decide(world, "C.3", "rke-cp02").verdict == "FAIL"
    assert decide(world, "C.3", "rke-cp01").verdict == "UNKNOWN"
