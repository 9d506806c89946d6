"""Consequences: what is stopped, killed or cut has the effects it has on real machines."""

from __future__ import annotations

import json

import pytest

from lab.layout import Layout
from lab.phase import Phase
from lab.world import KEEPALIVED
from selftests.lab.world import KUBECTL, ask, etcdctl, world_at


def holders(world: object) -> list[str]:
    return [host.name for host in world.holders()]  # type: ignore[attr-defined]


def test_the_vip_follows_priority_and_health() -> None:
    assert holders(world_at("0")) == []
    assert holders(world_at("b")) == ["rke-cp01"]
    assert holders(world_at("c")) == ["rke-cp01"]
    assert holders(world_at("c", ("keepalived-stopped", "rke-cp01"))) == ["rke-cp02"]
    assert holders(world_at("c", ("supervisor-down", "rke-cp01"))) == ["rke-cp02"]
    assert holders(world_at("b", ("supervisor-down", "rke-cp01"))) == []
    assert holders(world_at("c", ("host-down", "rke-cp01"))) == ["rke-cp02"]


def test_sigkill_leaves_the_address_behind() -> None:
    world = world_at("c", ("keepalived-killed-9", "rke-cp01"))
    assert holders(world) == ["rke-cp01", "rke-cp02"]
    assert world.hosts["rke-cp01"].units[KEEPALIVED].result == "signal"
    assert ask(world, "wetopi-ops01", "ping -c 3 10.72.0.20").rc == 0


def test_a_weight_keeps_the_vip_on_a_dead_api() -> None:
    world = world_at("c", ("priority-chain", "rke-cp01"))
    assert holders(world) == ["rke-cp01"]
    code = ask(world, "wetopi-ops01", "curl -sk -o /dev/null https://10.72.0.20:6443/readyz")
    assert code.rc == 7


def test_a_stopped_server_goes_on_answering() -> None:
    """rke2#963: `KillMode=process`; only the supervisor and the kubelet end."""
    world = world_at("c", ("server-stopped", "rke-cp02"))
    code = "curl -sk -o /dev/null -w '%{http_code}' https://10.72.0.22:6443/readyz"
    assert ask(world, "wetopi-ops01", code).out == "401"
    assert ask(world, "wetopi-ops01", "nc -z -w 1 10.72.0.22 2379").rc == 0
    assert ask(world, "wetopi-ops01", "nc -z -w 1 10.72.0.22 9345").rc == 1
    health = etcdctl(world, "rke-cp01", "endpoint health --cluster -w json")
    assert all(row["health"] for row in json.loads(health.out))
    assert "error dialing backend" in etcdctl(world, "rke-cp02", "member list").err


def test_a_dead_member_takes_its_own_api_along() -> None:
    world = world_at("c", ("etcd-member-down", "rke-cp03"))
    assert not world.api_ready(world.hosts["rke-cp03"])
    assert world.api_ready(world.hosts["rke-cp01"])
    assert "started" in etcdctl(world, "rke-cp01", "member list").out
    failing = ask(world, "rke-cp03", f"{KUBECTL} get nodes")
    assert (failing.rc, failing.out) == (1, "")


def test_without_quorum_nothing_is_ready() -> None:
    world = world_at("c", "etcd-quorum-lost")
    assert not any(world.api_ready(host) for host in world.control_planes)
    assert holders(world) == []


def test_two_clusters_have_two_ids() -> None:
    world = world_at("c", ("etcd-two-clusters", ["rke-cp02", "rke-cp03"]))
    lists = {
        name: json.loads(etcdctl(world, name, "member list -w json").out)
        for name in ("rke-cp01", "rke-cp02", "rke-cp03")
    }
    ids = {name: each["header"]["cluster_id"] for name, each in lists.items()}
    assert ids["rke-cp01"] != ids["rke-cp02"] == ids["rke-cp03"]
    assert [len(lists[name]["members"]) for name in lists] == [1, 2, 2]


def test_a_split_brain_lists_three_started_members() -> None:
    world = world_at("c", ("etcd-split-brain", ["rke-cp02", "rke-cp03"]))
    listed = json.loads(etcdctl(world, "rke-cp02", "member list -w json").out)
    assert [bool(member["name"]) for member in listed["members"]] == [True] * 3
    assert all(world.api_ready(host) for host in world.control_planes)


def test_members_carry_ids_that_floats_cannot_hold() -> None:
    listed = json.loads(etcdctl(world_at("c"), "rke-cp01", "member list -w json").out)
    assert all(member["ID"] > 2**53 for member in listed["members"])


@pytest.mark.parametrize("phase", [phase.value for phase in Phase])
def test_each_phase_has_what_the_runbook_applied(phase: str) -> None:
    world = world_at(phase)
    at = Phase.named(phase)
    nodes = world.objects.select("Node")
    expected = 0 if at is Phase.ZERO else 1 if at is Phase.B else 3
    expected = 6 if at.reached(Phase.D) else expected
    assert len(nodes) == expected
    ready = [
        condition["status"] == "True"
        for node in nodes
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready"
    ]
    assert ready == [at.reached(Phase.E)] * expected
    tainted = [
        any(taint["key"] == "node-role.kubernetes.io/control-plane" for taint in taints)
        for taints in (node["spec"].get("taints", []) for node in nodes)
    ]
    assert tainted.count(True) == (3 if at.reached(Phase.D) else 0)
    agents = world.objects.select("Pod", "kube-system", {"k8s-app": "cilium"})
    names = {pod["spec"]["nodeName"] for pod in agents}
    assert names == ({node["metadata"]["name"] for node in nodes} if at.reached(Phase.E) else set())
    namespaces = {item["metadata"]["name"] for item in world.objects.select("Namespace")}
    assert ("argocd" in namespaces) == at.reached(Phase.G)


def test_identity_comes_from_the_seed() -> None:
    one, other = world_at("c"), world_at("g")
    assert one.pki.server_ca == other.pki.server_ca
    assert one.pki.admin() == other.pki.admin()
    for kind, namespace, name in (("Namespace", "", "kube-system"), ("Node", "", "rke-cp01")):
        first, second = (world.objects.get(kind, namespace, name) for world in (one, other))
        assert first is not None
        assert second is not None
        assert first["metadata"]["uid"] == second["metadata"]["uid"]


def test_a_hundred_nodes() -> None:
    world = world_at("g", nodes=100)
    said = ask(world, "rke-cp01", f"{KUBECTL} get nodes --no-headers")
    assert len(said.out.splitlines()) == 100
    addresses = [machine.address for machine in Layout.of(100).machines]
    assert len(set(addresses)) == len(addresses) == 102


def test_too_many_or_too_few_nodes() -> None:
    for count in (2, 301):
        with pytest.raises(ValueError, match="3 to 300 nodes"):
            Layout.of(count)
