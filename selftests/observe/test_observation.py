"""How an observation is called: from the batch, anew, and for a wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import HostCommand
from fixtures.core.verdicts import Undecided
from fixtures.observe.units import Units
from selftests.gates.texts import SHOW_KEEPALIVED, unit
from selftests.gates.world import Reply, World, healthy

if TYPE_CHECKING:
    from fixtures.core.inventory import Node

UNIT = "keepalived.service"


@pytest.fixture
def world() -> World:
    world = healthy()
    world.say(
        "rke-cp01",
        SHOW_KEEPALIVED,
        *(Reply(unit(UNIT, ActiveState=state)) for state in ("first", "second", "third")),
    )
    return world


@pytest.fixture
def node(world: World) -> Node:
    return world.cluster.node("rke-cp01")


def test_two_calls_share_the_answer_of_the_batch(world: World, node: Node) -> None:
    observe = Units(world.cluster, world).keepalived
    assert [observe(node).active, observe(node).active] == ["first", "first"]
    assert len(world.sent) == 1


def test_again_asks_anew(world: World, node: Node) -> None:
    observe = Units(world.cluster, world).keepalived
    assert [observe(node).active, observe.again(node).active, observe(node).active] == [
        "first",
        "second",
        "second",
    ]


def test_polling_takes_the_first_from_the_batch(world: World, node: Node) -> None:
    units = Units(world.cluster, world)
    units.keepalived(node)
    poll = units.keepalived.polling()
    assert [poll(node).active for _ in range(4)] == ["first", "second", "third", "third"]


def test_what_is_asked_is_known_without_asking(world: World, node: Node) -> None:
    expected = HostCommand("rke-cp01", SHOW_KEEPALIVED, world.cluster.limits.command)
    assert Units.keepalived.requests(world.cluster, node) == [expected]
    assert world.sent == []


def test_an_observation_carries_the_words_of_its_method() -> None:
    assert Units.keepalived.__doc__ is not None
    assert "keepalived.service" in Units.keepalived.__doc__


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(silent="rke-cp01: the link is gone"), "rke-cp01: the link is gone"),
        (Reply(stderr="sudo: a password is required\n", rc=1), "check the tool and the sudo rule"),
        (Reply(stderr="bash: systemctl: command not found\n", rc=127), "tool missing, rc 127"),
        (Reply(stderr="Failed to connect to bus\n", rc=1), "ended with rc 1: `Failed to connect"),
        (Reply("x" * 5000), "not Key=Value, seen `xxx"),
        (Reply("\x1b[2Jx\x07"), r"\x1b[2Jx\x07"),
        (Reply(raw=b"Id=\xff"), "not UTF-8"),
        (Reply(unit(UNIT), cut=9), "9 bytes more than the read cap"),
    ],
)
def test_what_cannot_be_decided_says_where_what_and_what_next(
    world: World, node: Node, reply: Reply, says: str
) -> None:
    world.say("rke-cp01", SHOW_KEEPALIVED, reply)
    with pytest.raises(Undecided) as raised:
        Units(world.cluster, world).keepalived(node)
    text = str(raised.value)
    assert text.startswith("rke-cp01: ")
    assert says in text
    assert len(text) < 800
    assert text.isprintable()
