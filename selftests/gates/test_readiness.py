"""D.5 and D2.nodes: Ready in the full sense, and staying so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import KubeGet, Refusal
from selftests.gates.deciding import decide
from selftests.gates.joined import (
    CLOCK,
    LIST_LEASES,
    LIST_NODES,
    NODES,
    Joined,
    at,
    joined,
    node_object,
)
from selftests.gates.world import AT, Reply

if TYPE_CHECKING:
    from collections.abc import Callable


WORKER = "rke-platform01"
GATES = [("D.5", WORKER), ("D2.nodes", "")]
both = pytest.mark.parametrize(("gate", "node"), GATES, ids=["D.5", "D2.nodes"])


@both
def test_a_healthy_cluster_passes_at_once(gate: str, node: str) -> None:
    decided = decide(joined(), gate, node)
    assert (decided.verdict, decided.waited) == ("PASS", 0.0), decided.text


@both
@pytest.mark.parametrize(
    ("break_", "says"),
    [
        (lambda world: world.ready(WORKER, "Unknown"), "systemctl status rke2-*"),
        (lambda world: world.nodes.pop(WORKER), "is not registered"),
        (lambda world: world.nodes[WORKER]["status"].pop("conditions"), "no Ready condition"),
        (lambda world: world.renewed_ago.update({WORKER: 1200.0}), "has not renewed its Lease"),
        (lambda world: world.renewed_ago.update({WORKER: 61.0}), "by its own clock, at most 60 s"),
        (lambda world: world.renewed_ago.update({WORKER: None}), "never renewed a Lease"),
        *(
            (lambda world, key=key: world.taint(WORKER, {"key": key, "effect": "NoExecute"}), key)
            for key in (
                "node.cilium.io/agent-not-ready",
                "node.kubernetes.io/not-ready",
                "node.kubernetes.io/unreachable",
            )
        ),
    ],
)
def test_ready_is_more_than_the_word(
    gate: str, node: str, break_: Callable[[Joined], object], says: str
) -> None:
    world = joined()
    break_(world)
    decided = decide(world, gate, node)
    assert decided.verdict == "FAIL"
    assert WORKER in decided.text
    assert says in decided.text[:400]
    assert "next: " in decided.text[:400]


@both
def test_a_lease_is_compared_with_the_clock_that_wrote_it(gate: str, node: str) -> None:
    world = joined()
    world.ahead[WORKER] = -7200.0
    world.ready(WORKER, "True", at(-7200 - 600))
    world.renewed_ago[WORKER] = 30.0
    assert decide(world, gate, node).verdict == "PASS"
    world.renewed_ago[WORKER] = 90.0
    assert decide(world, gate, node).verdict == "FAIL"


@both
def test_a_lease_of_the_future_is_unknown(gate: str, node: str) -> None:
    world = joined()
    world.renewed_ago[WORKER] = -30.0
    decided = decide(world, gate, node)
    assert (decided.verdict, decided.waited) == ("UNKNOWN", 0.0)
    assert "chrony" in decided.text
    world.renewed_ago[WORKER] = -1.5
    assert decide(world, gate, node).verdict == "PASS"


@both
@pytest.mark.parametrize(
    "reply",
    [
        Reply(silent=f"{WORKER}: no answer within 15 s"),
        Reply("yesterday\n"),
        Reply(rc=1, stderr="date: invalid option\n"),
        Reply(rc=127, stderr="bash: date: command not found\n"),
        Reply(raw=b"\xff"),
    ],
)
def test_without_the_nodes_clock_it_is_unknown(gate: str, node: str, reply: Reply) -> None:
    world = joined()
    world.say(WORKER, CLOCK, reply)
    decided = decide(world, gate, node)
    assert (decided.verdict, decided.waited) == ("UNKNOWN", 0.0)
    assert WORKER in decided.text


@both
def test_what_cannot_be_asked_hides_no_failure(gate: str, node: str) -> None:
    world = joined()
    world.say(WORKER, CLOCK, Reply(silent=f"{WORKER}: no answer within 15 s"))
    world.ready(WORKER, "False")
    assert decide(world, gate, node).verdict == "FAIL"


@both
@pytest.mark.parametrize(
    "body",
    [
        Reply(silent="no answer within 20 s"),
        Reply('{"kind":"Status","message":"etcdserver: leader changed"}', rc=500),
        Reply('{"kind":"Status","reason":"Forbidden","message":"no"}', rc=403),
        Reply('{"kind":"Status","reason":"NotFound","message":"page not found"}', rc=404),
        Reply("<html>"),
        Reply('{"kind":"NodeList"}'),
        Refusal(KubeGet("", 1), "refused", AT, 0.1),
    ],
)
@pytest.mark.parametrize("listing", [LIST_NODES, LIST_LEASES])
def test_an_api_that_does_not_answer_is_unknown(
    gate: str, node: str, body: Reply | Refusal, listing: str
) -> None:
    world = joined()
    world.bodies = {listing: body, f"{listing}/{WORKER}": body}
    decided = decide(world, gate, node)
    assert (decided.verdict, decided.waited) == ("UNKNOWN", 0.0)


def test_a_worker_is_judged_alone() -> None:
    world = joined()
    world.ready("rke-platform02", "False")
    world.say("rke-platform02", CLOCK, Reply(silent="rke-platform02: no answer within 15 s"))
    assert decide(world, "D.5", WORKER).verdict == "PASS"
    assert decide(world, "D2.nodes").verdict == "FAIL"


def test_a_foreign_node_fails_at_once() -> None:
    world = joined()
    world.nodes["ubuntu"] = node_object(NODES[0])
    world.nodes["ubuntu"]["metadata"]["name"] = "ubuntu"
    decided = decide(world, "D2.nodes")
    assert (decided.verdict, decided.waited) == ("FAIL", 0.0)
    assert "node `ubuntu` is registered and not in the inventory" in decided.text


def test_no_node_at_all_is_no_pass() -> None:
    world = joined()
    world.nodes.clear()
    decided = decide(world, "D2.nodes")
    assert decided.verdict == "FAIL"
    assert all(f"{name} is not registered" in decided.text for name in NODES)


@pytest.mark.parametrize("name", ["rke-cp02", "rke-platform03"])
def test_the_unit_must_run_beside_the_api(name: str) -> None:
    world = joined()
    world.unit(name, ActiveState="failed", SubState="failed")
    decided = decide(world, "D2.nodes")
    assert decided.verdict == "FAIL"
    unit = "rke2-server" if name == "rke-cp02" else "rke2-agent"
    assert f"{name}: {unit}.service is loaded, failed" in decided.text


def test_a_unit_that_cannot_be_asked_is_unknown() -> None:
    world = joined()
    world.silence("rke-cp03")
    decided = decide(world, "D2.nodes")
    assert (decided.verdict, decided.waited) == ("UNKNOWN", 0.0)


def test_a_cordoned_node_is_ready() -> None:
    world = joined()
    world.nodes[WORKER]["spec"]["unschedulable"] = True
    world.taint(WORKER, {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    assert decide(world, "D2.nodes").verdict == "PASS"
    assert decide(world, "D.6", WORKER).verdict == "FAIL"
