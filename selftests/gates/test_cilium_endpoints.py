"""E.6: each pod of the pod network is Cilium's, under its own address."""

from __future__ import annotations

from typing import Any

import pytest

from selftests.gates.deciding import decide
from selftests.gates.installed import Installed, endpoint, installed


def of(world: Installed, name: str) -> Any:
    return next(each for each in world.endpoints if each["metadata"]["name"] == name)


def moved(world: Installed, name: str, address: str) -> Any:
    """A pod with another address, and its endpoint with it."""
    pod = world.pod(name)
    pod["status"] |= {"podIP": address, "podIPs": [{"ip": address}]}
    world.endpoints = [each for each in world.endpoints if each["metadata"]["name"] != name]
    world.endpoints.append(endpoint(pod))
    return pod


def no_endpoint(world: Installed) -> None:
    world.endpoints.remove(of(world, "coredns-1"))


def other_namespace(world: Installed) -> None:
    of(world, "coredns-1")["metadata"]["namespace"] = "default"


def other_address(world: Installed) -> None:
    addressing = of(world, "coredns-1")["status"]["networking"]["addressing"]
    addressing[0]["ipv4"] = "10.64.0.99"


def no_address(world: Installed) -> None:
    of(world, "coredns-1")["status"]["networking"] = None


def other_owner(world: Installed) -> None:
    of(world, "coredns-1")["metadata"]["ownerReferences"] = [{"kind": "Pod", "uid": "old"}]


def other_nodes_share(world: Installed) -> None:
    moved(world, "coredns-1", "10.64.5.7")


def share_of_kubernetes_only(world: Installed) -> None:
    """Node.spec.podCIDR has it, Cilium's own share is another (cilium#33861)."""
    world.nodes["rke-cp01"]["spec"]["podCIDR"] = "10.64.0.0/24"
    world.ciliumnodes["rke-cp01"]["spec"]["ipam"]["podCIDRs"] = ["10.66.0.0/24"]


def no_ciliumnode(world: Installed) -> None:
    del world.ciliumnodes["rke-cp01"]


def only_ipv6(world: Installed) -> None:
    moved(world, "coredns-1", "fd00::7")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (no_endpoint, "has no CiliumEndpoint"),
        (other_namespace, "has no CiliumEndpoint"),
        (other_address, "has a CiliumEndpoint with `10.64.0.99`"),
        (no_address, "has a CiliumEndpoint with nothing"),
        (other_owner, "but that of an earlier pod of its name"),
        (other_nodes_share, "has 10.64.5.7, and the CiliumNode of its node has 10.64.0.0/24"),
        (share_of_kubernetes_only, "the CiliumNode of its node has 10.66.0.0/24"),
        (no_ciliumnode, "the CiliumNode of its node has no podCIDR"),
        (only_ipv6, "has no IPv4 address"),
    ],
)
def test_a_pod_that_cilium_does_not_have(change: Any, said: str) -> None:
    world = installed()
    change(world)
    decided = decide(world, "E.6")
    assert decided.verdict == "FAIL", decided.text
    assert "`kube-system/coredns-1` on `rke-cp01`" in decided.text
    assert said in decided.text
    assert "kube-system/coredns-1" in decided.facts["pod network"]["exceptions"]
    assert decided.waited == world.cluster.limits.cilium_status


@pytest.mark.parametrize("address", ["10.0.3.7", "10.68.0.7", "10.6.4.1", "192.168.1.1"])
def test_an_address_of_another_pool_is_not_waited_for(address: str) -> None:
    world = installed()
    moved(world, "coredns-1", address)
    world.ciliumnodes["rke-cp01"]["spec"]["ipam"]["podCIDRs"] = [f"{address}/32"]
    decided = decide(world, "E.6")
    assert decided.verdict == "FAIL"
    assert "not in the cluster's pod network 10.64.0.0/14" in decided.text
    assert decided.waited == 0.0


@pytest.mark.parametrize("address", ["10.64.0.1", "10.65.255.255", "10.67.255.254"])
def test_the_whole_pool_is_the_clusters(address: str) -> None:
    world = installed()
    moved(world, "coredns-1", address)
    world.ciliumnodes["rke-cp01"]["spec"]["ipam"]["podCIDRs"].append(f"{address}/32")
    assert decide(world, "E.6").verdict == "PASS"


def ended(pod: Any) -> None:
    pod["status"]["phase"] = "Succeeded"


def leaving(pod: Any) -> None:
    pod["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"


def not_started(pod: Any) -> None:
    pod["status"] = {"phase": "Pending"}


def on_host(pod: Any) -> None:
    pod["spec"]["hostNetwork"] = True


@pytest.mark.parametrize("change", [ended, leaving, not_started, on_host])
def test_pods_that_are_not_on_the_pod_network_now(change: Any) -> None:
    world = installed()
    no_endpoint(world)
    change(world.pod("coredns-1"))
    assert decide(world, "E.6").verdict == "PASS"


def test_an_old_api_tells_one_address() -> None:
    world = installed()
    del world.pod("coredns-1")["status"]["podIPs"]
    assert decide(world, "E.6").verdict == "PASS"


def test_without_a_pod_nothing_is_shown() -> None:
    world = installed()
    for name in ("coredns", "autoscaler", "metrics", "relay"):
        world.remove(name)
    decided = decide(world, "E.6")
    assert decided.verdict == "UNKNOWN"
    assert "not one pod runs on the pod network" in decided.text


def test_many_exceptions_are_told_in_part_and_recorded_in_full() -> None:
    world = installed()
    for number in range(20):
        world.copy("coredns-1", f"early-{number:02}")
    decided = decide(world, "E.6")
    assert "and 10 more pods" in decided.text
    assert len(decided.facts["pod network"]["exceptions"]) == 20


def test_an_endpoint_that_comes_a_moment_later_is_waited_for() -> None:
    world = installed()
    late = of(world, "coredns-1")
    world.endpoints.remove(late)

    def happens(_world: object, now: float) -> None:
        if now >= 10 and late not in world.endpoints:
            world.endpoints.append(late)

    world.happens = happens
    assert decide(world, "E.6").verdict == "PASS"
