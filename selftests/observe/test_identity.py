"""Which cluster this is: one string, nothing before phase B, or undecided."""

from __future__ import annotations

import hashlib

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.observe.identity import Identity
from selftests.gates.texts import CA, CAT_CA, GET_NAMESPACE, TLS, UID
from selftests.gates.world import Reply, World, healthy

FIRST = "rke-cp01"
ABSENT = Reply(stderr=f"cat: {TLS}/server-ca.crt: No such file or directory\n", rc=1)


def identity(world: World, node: str = FIRST) -> str | None:
    return Identity(world.cluster, world).of_cluster(world.cluster.node(node))


def test_it_is_the_same_on_every_control_plane() -> None:
    world = healthy()
    expected = f"{hashlib.sha256(CA.encode()).hexdigest()}:{UID}"
    assert {identity(world, node.name) for node in world.cluster.control_planes} == {expected}


def test_there_is_none_before_phase_b() -> None:
    assert identity(healthy(["rke-cp02"])) is None


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        (CAT_CA, Reply(stderr="cat: x: Permission denied\n", rc=1)),
        (CAT_CA, Reply(stderr="sudo: a password is required\n", rc=1)),
        (CAT_CA, Reply(silent="rke-cp01: no answer within 15 s")),
        (CAT_CA, Reply("")),
        (CAT_CA, Reply("not a certificate")),
        (CAT_CA, Reply(CA, stderr=ABSENT.stderr, rc=1)),
        (GET_NAMESPACE, Reply(silent="rke-cp01: no answer within 20 s")),
        (GET_NAMESPACE, Reply(stderr="The connection to the server was refused\n", rc=1)),
        (GET_NAMESPACE, Reply('{"kind": "Namespace", "metadata": {"name": "kube-system"}}')),
        (
            GET_NAMESPACE,
            Reply('{"kind":"Namespace","metadata":{"name":"default","uid":"' + UID + '"}}'),
        ),
        (GET_NAMESPACE, Reply('{"kind":"Namespace","metadata":{"name":"kube-system","uid":"x"}}')),
    ],
)
def test_what_cannot_be_read_is_undecided_never_another_cluster(command: str, reply: Reply) -> None:
    world = healthy()
    world.say(FIRST, command, reply)
    with pytest.raises(Undecided):
        identity(world)
