"""A healthy cluster passes every read-only gate, and each gate asks exactly what it declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.gates import GATES, Each, Phase, lookup
from fixtures.session.batch import NOUNS, requests_of
from selftests.gates.deciding import bodies, decide, observations_used
from selftests.gates.texts import CPS
from selftests.gates.world import World, healthy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fixtures.core.requests import Request
    from fixtures.gates import Gate
    from selftests.gates.world import World

DRILLS = [gate.id for gate in GATES if gate.phase in {Phase.B, Phase.C} and gate.drill]
READ_ONLY = [gate.id for gate in GATES if gate.phase in {Phase.B, Phase.C} and not gate.drill]


def node_for(gate: str) -> str:
    return "rke-cp02" if lookup(gate).each is Each.CONTROL_PLANE else ""


def test_every_gate_of_b_and_c_has_one_body() -> None:
    assert sorted(id_ for id_ in bodies() if id_[0] in "BC") == sorted(READ_ONLY + DRILLS)


@pytest.mark.parametrize("gate", READ_ONLY)
def test_a_healthy_cluster_passes(gate: str) -> None:
    decided = decide(healthy(), gate, node_for(gate))
    assert (decided.verdict, decided.waited) == ("PASS", 0.0), decided.text


@pytest.mark.parametrize("gate", [gate for gate in READ_ONLY if gate.startswith("B.")])
@pytest.mark.parametrize("count", [1, 2])
def test_phase_b_passes_with_fewer_control_planes_applied(gate: str, count: int) -> None:
    decided = decide(healthy(CPS[:count]), gate)
    assert decided.verdict == "PASS", decided.text


@pytest.mark.parametrize("gate", READ_ONLY)
def test_the_body_asks_exactly_what_the_table_declares(
    gate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = observations_used(healthy(), gate, node_for(gate), monkeypatch)
    assert used == set(lookup(gate).asks)


@pytest.mark.parametrize("gate", READ_ONLY)
def test_what_is_declared_is_sent_and_what_follows_is_in_the_plan(gate: str) -> None:
    world = healthy()
    entry, node = lookup(gate), node_for(gate)
    declared = set(requests_of(entry, world.cluster.node(node) if node else None, world.cluster))
    decide(world, gate, node)
    assert len(world.sent) == len(set(world.sent))
    assert set(world.sent) == declared | set(follow_ups(entry, world))


def follow_ups(entry: Gate, world: World) -> Iterator[Request]:
    for name in entry.asks:
        noun, _, verb = name.partition(".")
        args = () if verb != "keepalived" else (world.cluster.first_control_plane,)
        yield from getattr(NOUNS[noun], verb).then(world.cluster, *args)


@pytest.mark.parametrize("gate", READ_ONLY)
def test_a_body_is_a_sentence_with_its_stop(gate: str) -> None:
    body = bodies()[gate]
    assert body.__doc__ is not None
    assert body.__doc__.startswith("Runbook ")
    assert "STOP: " in body.__doc__


@pytest.mark.parametrize("gate", READ_ONLY)
def test_a_bastion_that_does_not_answer_is_unknown(gate: str) -> None:
    world = healthy()
    for host in {host for host, _ in world.replies}:
        world.silence(host, reason="wetopi-ops01: no answer within 10 s; check your network")
    world.mute("wetopi-ops01: no answer within 10 s; check your network")
    decided = decide(world, gate, node_for(gate))
    assert (decided.verdict, decided.waited) == ("UNKNOWN", 0.0), decided.text
    assert "check your network" in decided.text
