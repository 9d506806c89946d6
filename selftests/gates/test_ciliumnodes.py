"""D2.ciliumnodes: one for each node, with addresses of its own inside the pod network."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.judge.ciliumnodes import one_for_each_node
from fixtures.observe.ciliumnodes import CiliumNode
from selftests.gates.deciding import decide
from selftests.gates.joined import LIST_CILIUMNODES, NODES, Joined, joined
from selftests.gates.world import Reply, wetopi

GATE = "D2.ciliumnodes"
NODE = "rke-platform02"


def with_cidrs(*cidrs: Any) -> Joined:
    world = joined()
    world.ciliumnodes[NODE]["spec"]["ipam"]["podCIDRs"] = list(cidrs)
    return world


def test_a_healthy_cluster_passes_at_once_and_is_recorded() -> None:
    decided = decide(joined(), GATE)
    assert (decided.verdict, decided.waited) == ("PASS", 0.0), decided.text
    assert decided.facts["podCIDRs"][NODE] == ["10.64.4.0/24"]


@pytest.mark.parametrize(
    ("cidrs", "verdict", "says"),
    [
        (["10.64.0.0/14"], "FAIL", "overlaps"),
        (["10.67.255.0/24"], "PASS", ""),
        (["10.65.0.0/24", "10.66.0.0/24"], "PASS", ""),
        (["fd00::/64", "10.65.0.0/24"], "PASS", ""),
        (["10.0.3.0/24"], "FAIL", "Cilium's podCIDR 10.0.3.0/24 is not inside 10.64.0.0/14"),
        (["10.68.0.0/24"], "FAIL", "not inside"),
        (["10.63.255.0/24"], "FAIL", "not inside"),
        (["10.64.0.0/13"], "FAIL", "not inside"),
        (["10.65.0.0/24", "10.0.3.0/24"], "FAIL", "not inside"),
        (["fd00::/64"], "FAIL", "no IPv4 podCIDR"),
        ([], "FAIL", "no IPv4 podCIDR"),
        (["10.64.0.0/24"], "FAIL", "10.64.0.0/24 of rke-platform02 overlaps 10.64.0.0/24 of rke-"),
        (["10.64.0.128/25"], "FAIL", "overlaps 10.64.0.0/24 of rke-cp01"),
        (["10.64.0.0/23"], "FAIL", "overlaps 10.64.0.0/23 of rke-platform02"),
        (["10.65.0.0/24", "10.65.0.0/24"], "FAIL", "overlaps"),
        (["10.65.0.1/24"], "UNKNOWN", "not a network"),
        (["10.65.0.0/33"], "UNKNOWN", "not a network"),
        ([1], "UNKNOWN", ""),
    ],
)
def test_networks(cidrs: list[Any], verdict: str, says: str) -> None:
    decided = decide(with_cidrs(*cidrs), GATE)
    assert decided.verdict == verdict, decided.text
    assert says in decided.text


def test_what_no_waiting_changes_is_not_waited_for() -> None:
    assert decide(with_cidrs("10.0.3.0/24"), GATE).waited == 0
    assert decide(with_cidrs(), GATE).waited == 300


def test_the_nodes_own_pod_cidr_counts_for_nothing() -> None:
    world = with_cidrs("10.0.3.0/24")
    world.nodes[NODE]["spec"]["podCIDRs"] = ["10.64.4.0/24"]
    assert decide(world, GATE).verdict == "FAIL"


def test_names_are_those_of_the_nodes() -> None:
    world = joined()
    world.ciliumnodes["stray"] = world.ciliumnodes.pop(NODE)
    world.ciliumnodes["stray"]["metadata"]["name"] = "stray"
    decided = decide(world, GATE)
    assert decided.verdict == "FAIL"
    assert f"{NODE} has no CiliumNode" in decided.text
    assert "`stray`" in decided.text
    world.ciliumnodes.clear()
    assert decide(world, GATE).verdict == "FAIL"


def test_what_the_operator_says_is_named() -> None:
    world = joined()
    world.ciliumnodes[NODE]["status"]["ipam"]["operator-status"] = {
        "error": "allocator full\x1b[31m"
    }
    decided = decide(world, GATE)
    assert decided.verdict == "FAIL"
    assert f"{NODE}: the operator could not allocate (`allocator full" in decided.text
    assert decided.text.isprintable()


def test_a_late_allocation_is_waited_for() -> None:
    world = joined()

    def allocate(world: Joined, now: float) -> None:
        cidrs = ["10.66.0.0/24"] if now >= 60 else []
        world.ciliumnodes[NODE]["spec"]["ipam"]["podCIDRs"] = cidrs

    world.happens = allocate
    decided = decide(world, GATE)
    assert (decided.verdict, decided.waited) == ("PASS", 60)


@pytest.mark.parametrize(
    "body",
    [
        Reply(silent="no answer within 20 s"),
        Reply('{"kind":"Status","reason":"NotFound","message":"page not found"}', rc=404),
        Reply('{"kind":"CiliumNodeList"}'),
        Reply('{"kind":"NodeList","items":[{"spec":{}}]}'),
    ],
)
def test_what_is_no_list_is_unknown(body: Reply) -> None:
    world = joined()
    world.bodies = {LIST_CILIUMNODES: body}
    assert decide(world, GATE).verdict == "UNKNOWN"


NETWORKS = st.builds(
    lambda second, third, prefix: ip_network(f"10.{second}.{third}.0/{prefix}", strict=False),
    st.integers(64, 65),
    st.integers(0, 3),
    st.integers(20, 24),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(NETWORKS, min_size=6, max_size=6))
def test_any_two_that_overlap_are_found(networks: list[Any]) -> None:
    seen = {
        name: CiliumNode(name, (network,)) for name, network in zip(NODES, networks, strict=True)
    }
    overlap = any(
        one.overlaps(other) for index, one in enumerate(networks) for other in networks[:index]
    )
    assert bool(one_for_each_node(seen, wetopi())) == overlap
