"""B.7 and B.8 judge wherever RKE2 is applied, and nothing else."""

from __future__ import annotations

import pytest

from fixtures.judge.encryption import nothing_to_encrypt
from fixtures.observe.rke2 import Rke2
from selftests.gates.deciding import decide
from selftests.gates.texts import CPS, FIND_CONFIG, SHOW_SERVER, unit
from selftests.gates.world import Reply, World, healthy


@pytest.mark.parametrize("gate", ["B.7", "B.8"])
def test_only_applied_control_planes_are_judged(gate: str) -> None:
    world = healthy(CPS[:1])
    assert decide(world, gate).verdict == "PASS"
    for node in CPS[1:]:
        assert set(world.commands(node)) == {SHOW_SERVER, FIND_CONFIG}


@pytest.mark.parametrize("gate", ["B.7", "B.8"])
def test_where_nothing_is_applied_nothing_passes(gate: str) -> None:
    decided = decide(healthy_but_empty(), gate)
    assert decided.verdict == "FAIL"
    assert "RKE2 is applied nowhere" in decided.text


def healthy_but_empty() -> World:
    world, other = healthy(CPS[:1]), healthy(CPS[1:2])
    for (host, command), replies in other.replies.items():
        if host == "rke-cp01":
            world.say(host, command, *replies)
    return world


@pytest.mark.parametrize("gate", ["B.7", "B.8"])
def test_a_control_plane_of_which_it_is_not_known_is_unknown(gate: str) -> None:
    world = healthy(CPS[:1])
    world.silence("rke-cp03", reason="rke-cp03: no answer within 10 s")
    decided = decide(world, gate)
    assert decided.verdict == "UNKNOWN"
    assert "rke-cp03: no answer within 10 s" in decided.text


@pytest.mark.parametrize(
    ("active", "deferred"),
    [("inactive", True), ("failed", True), ("active", False), ("activating", False)],
)
def test_a_server_that_was_started_by_hand_has_secrets(active: str, deferred: bool) -> None:
    """0.8 is deferred where nothing is applied, and not where a server runs all the same."""
    world = healthy_but_empty()
    state = unit("rke2-server.service", ActiveState=active, UnitFileState="disabled")
    world.say("rke-cp02", SHOW_SERVER, Reply(state))
    applied = Rke2(world.cluster, world).applied()
    assert applied.nowhere
    assert bool(nothing_to_encrypt(applied, world.cluster)) is deferred
