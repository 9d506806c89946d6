"""The lab's Hubble, asked by the suite's own command lines, through a forward of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.core.inventory_file import load
from fixtures.observe.hubble import parse_flows, parse_status
from fixtures.observe.relay import NO_FORWARD, through_relay
from selftests.lab.world import Said, ask, world_at
from selftests.scenarios.replay import ROOT

if TYPE_CHECKING:
    from lab.world import World

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
OPS01 = CLUSTER.bastion.name
NODES = [node.name for node in CLUSTER.nodes]


def through(world: World, question: str) -> Said:
    said = ask(world, OPS01, through_relay(CLUSTER, question).command)
    assert said.known
    assert not world.flows.forwards, "the forward outlived its question"
    assert ask(world, OPS01, "ls /tmp").out == ""
    return said


def test_the_relay_is_connected_to_every_node_and_sees_more_and_more() -> None:
    world = world_at("d2")
    first, second = (
        parse_status(through(world, "status -o json").out),
        parse_status(through(world, "status -o json").out),
    )
    assert (first.healthy, first.connected, first.unavailable) == (True, 6, 0)
    assert second.seen > first.seen


def test_flows_have_identities_and_verdicts() -> None:
    seen = parse_flows(through(world_at("d2"), "observe --since 300s --last 20 -o jsonpb").out)
    assert len(seen.flows) == 6 * 20
    assert all(flow.identified and flow.verdict == "FORWARDED" for flow in seen.flows)
    assert {flow.node for flow in seen.flows} == {f"default/{name}" for name in NODES}


def test_a_recorded_drop_is_seen_by_the_agent_of_the_destination() -> None:
    world = world_at("d2")
    dns, relay = (
        next(iter(world.objects.select("Pod", "kube-system", {"k8s-app": app})))
        for app in ("kube-dns", "hubble-relay")
    )
    dns["metadata"]["namespace"] = "elsewhere"
    world.flows.record(dns, relay, "DROPPED", "POLICY_DENIED")
    (flow,) = parse_flows(
        through(world, "observe --since 60s --namespace elsewhere -o jsonpb").out
    ).flows
    assert flow.dropped
    assert flow.drop_reason == "POLICY_DENIED"
    assert flow.destination.pod == relay["metadata"]["name"]
    assert flow.node == f"default/{relay['spec']['nodeName']}"


def test_nodes_that_are_missing_are_named_and_have_no_flows() -> None:
    world = world_at("d2", ("hubble-unavailable-node", {"nodes": ["rke-platform02"]}))
    status = parse_status(through(world, "status -o json").out)
    assert (status.connected, status.unavailable, status.names) == (5, 1, ("rke-platform02",))
    said = through(world, "observe --since 300s --last 20 -o jsonpb")
    seen = parse_flows(said.out, said.err)
    assert seen.missing == ("rke-platform02",)
    assert "default/rke-platform02" not in {flow.node for flow in seen.flows}


def test_frozen_and_empty() -> None:
    world = world_at("d2", "flows-frozen", "flows-empty")
    first, second = (through(world, "status -o json").out for _ in range(2))
    assert first == second
    assert through(world, "observe --since 300s -o jsonpb").out == ""


@pytest.mark.parametrize(
    ("fault", "rc", "text"),
    [
        ("port-forward-refused", NO_FORWARD, "pods is forbidden"),
        ("hubble-relay-down", 1, "error reading server preface"),
        (("vip-held-by", []), NO_FORWARD, "connect: no route to host"),
        ("admin-certificate-expired", NO_FORWARD, "Unauthorized"),
    ],
)
def test_what_stands_in_the_way(fault: str | tuple[str, object], rc: int, text: str) -> None:
    said = through(world_at("d2", fault), "status -o json")
    assert (said.rc, text in said.err) == (rc, True)


def test_without_a_forward_nothing_answers() -> None:
    said = ask(world_at("d2"), OPS01, "~/bin/hubble status -o json")
    assert said.rc == 1
    assert "failed to connect to 'localhost:4245'" in said.err
    assert "dial tcp 127.0.0.1:4245: connect: connection refused" in said.err


def test_the_words_of_the_plain_status() -> None:
    world = world_at("d2", ("hubble-unavailable-node", {"nodes": ["rke-cp02"]}))
    said = through(world, "status").out.splitlines()
    assert said[0].startswith("Healthcheck (via 127.0.0.1:")
    assert said[3:] == ["Connected Nodes: 5/6", "Unavailable Nodes: 1", "  - rke-cp02"]


def test_the_status_is_protojson() -> None:
    answer = json.loads(through(world_at("d2"), "status -o json").out)
    assert {type(answer[key]) for key in ("num_flows", "max_flows", "seen_flows")} == {str}
    assert answer["num_unavailable_nodes"] == 0
    assert "unavailable_nodes" not in answer
