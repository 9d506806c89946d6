"""Faults of Cilium's installation: agents, tunnel, configuration, release."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from lab.cilium import HUBBLE_PORT, SYSTEM, Ailment, agent_on
from lab.faults.registry import FaultError, fault, host_of
from lab.kinds import stamp
from lab.networks import on_pod_network

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.world import World

_STATES = ("Warning", "Failure")
_PARTS = ("cilium", "controller", "hubble", "kubernetes", "kvstore")
_OURS = ("cilium", "hubble")
_KINDS = ("DaemonSet", "Deployment", "ReplicaSet", "Pod", "Service")


@fault("cilium-not-installed", "phase E is provisioned, and cilium.yml was not run yet")
def not_installed(world: World) -> None:
    """Before the first addon."""
    store = world.objects
    for kind in _KINDS:
        for item in store.select(kind, SYSTEM):
            if item["metadata"]["name"].startswith(_OURS):
                store.delete(kind, SYSTEM, item["metadata"]["name"])
    for kind in ("CiliumNode", "CiliumEndpoint"):
        for item in store.select(kind):
            namespace = item["metadata"].get("namespace", "")
            store.delete(kind, namespace, item["metadata"]["name"])
    waiting = {"phase": "Pending", "podIP": None, "podIPs": None, "containerStatuses": None}
    for pod in store.select("Pod"):
        if on_pod_network(pod):
            place = pod["metadata"]["namespace"], pod["metadata"]["name"]
            store.merge("Pod", *place, {"spec": {"nodeName": None}, "status": waiting})
    store.delete("ConfigMap", SYSTEM, "cilium-config")
    operations = world.operations
    operations.releases = [each for each in operations.releases if each.name != "cilium"]


@fault("foreign-cni", "a DaemonSet of that name and image is another CNI's")
def foreign_cni(
    world: World,
    name: str = "rke2-canal",
    image: str = "rancher/hardened-flannel:v0.27.4",
    namespace: str = SYSTEM,
) -> None:
    """It fights Cilium."""
    if not world.etcd:
        return
    labels = {"k8s-app": name}
    created = stamp(world.seed.born - timedelta(minutes=3))
    world.objects.put(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {
                "creationTimestamp": created,
                "generation": 1,
                "labels": labels,
                "name": name,
                "namespace": namespace,
                "uid": world.seed.uuid("daemonset", namespace, name),
            },
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "containers": [{"image": image, "name": "main"}],
                        # No node has it, so that no pod of it is ever made.
                        "nodeSelector": {"lab.example/nowhere": "true"},
                    },
                },
            },
            "status": {"desiredNumberScheduled": 0, "numberReady": 0, "observedGeneration": 1},
        }
    )


@fault("kube-proxy-missing", "the node has no kube-proxy, and its kubelet writes no mirror pod")
def kube_proxy_missing(world: World, node: str = "rke-cp02") -> None:
    """The static pod's manifest was not written again (rke2#4864)."""
    host = host_of(world, node)
    host.processes.discard("kube-proxy")
    if world.objects.get("Pod", SYSTEM, f"kube-proxy-{host.name}"):
        world.objects.delete("Pod", SYSTEM, f"kube-proxy-{host.name}")


@fault("agent-down", "the Cilium agent on the node runs and is not ready")
def agent_down(world: World, node: str = "rke-cp02") -> None:
    """It crashes again and again; the API lists it as Running."""
    pod = agent_on(world.objects, host_of(world, node))
    if pod is None:
        return
    conditions = [
        {"type": kind, "status": "False", "reason": "ContainersNotReady"}
        for kind in ("Ready", "ContainersReady")
    ]
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting"}}
    containers = [
        {**each, "ready": False, "started": False, "restartCount": 9, "state": waiting}
        for each in pod["status"]["containerStatuses"]
    ]
    patch = {"status": {"conditions": conditions, "containerStatuses": containers}}
    world.objects.merge("Pod", SYSTEM, pod["metadata"]["name"], patch)


@fault("agent-not-serving", "the node's agent is Ready, and its taint agent-not-ready stays")
def agent_not_serving(world: World, node: str = "rke-cp02") -> None:
    """Ready before it can serve (cilium#29405)."""
    name = host_of(world, node).name
    found = world.objects.get("Node", "", name)
    if found is not None:
        taint = {"effect": "NoSchedule", "key": "node.cilium.io/agent-not-ready"}
        taints = [*(found["spec"].get("taints") or []), taint]
        world.objects.merge("Node", "", name, {"spec": {"taints": taints}})


@fault("agent-ails", f"the node's agent says that a part ({', '.join(_PARTS)}) is wrong")
def agent_ails(
    world: World,
    node: str = "rke-cp02",
    state: str = "Failure",
    part: str = "hubble",
    text: str = "unable to reach the peer service",
) -> None:
    """`cilium status` counts it as an error, or as a warning."""
    if state not in _STATES or part not in _PARTS:
        raise FaultError(f"`state` is one of {', '.join(_STATES)}, `part` of {', '.join(_PARTS)}")
    world.cilium.ailments[host_of(world, node).name] = Ailment(part, state, text)


@fault("hubble-disabled", "Cilium was installed without Hubble")
def hubble_disabled(world: World) -> None:
    """No relay; `cilium status` calls it disabled, rc 0."""
    store = world.objects
    for kind in _KINDS:
        for item in store.select(kind, SYSTEM):
            if item["metadata"]["name"].startswith("hubble"):
                store.delete(kind, SYSTEM, item["metadata"]["name"])
    if store.get("ConfigMap", SYSTEM, "cilium-config"):
        store.merge("ConfigMap", SYSTEM, "cilium-config", {"data": {"enable-hubble": "false"}})


@fault("hubble-port-dropped", "the node's firewall drops what comes for TCP 4244")
def hubble_port_dropped(world: World, node: str = "rke-cp02") -> None:
    """A connection attempt times out."""
    world.cilium.dropped.add((host_of(world, node).name, HUBBLE_PORT))


@fault("tunnel-blocked", "UDP 8472 neither leaves nor reaches the node")
def tunnel_blocked(world: World, node: str = "rke-cp02") -> None:
    """Everything is Ready, and pods of two nodes do not reach each other."""
    world.cilium.no_tunnel.add(host_of(world, node).name)


@fault("health-checking-off", "the node's agent checks no health: cilium-health has no socket")
def health_checking_off(world: World, node: str = "rke-cp02") -> None:
    """Nothing tells of the tunnel."""
    world.cilium.no_health.add(host_of(world, node).name)


@fault("endpoint-health-off", "the agents check each other, but have no health endpoints")
def endpoint_health_off(world: World) -> None:
    """The nodes answer each other outside the tunnel."""
    world.cilium.no_endpoint_health = True


@fault("cilium-pool", "Cilium gives pods addresses of this network, not of the cluster's")
def cilium_pool(world: World, network: str = "10.0.0.0/8") -> None:
    """Node.spec.podCIDR goes on saying 10.64 (cilium#33861)."""
    shares = IPv4Network(network).subnets(new_prefix=24)
    store = world.objects
    for node, share in zip(store.select("CiliumNode"), shares, strict=False):
        name = node["metadata"]["name"]
        patch: Object = {"spec": {"ipam": {"podCIDRs": [str(share)]}}}
        store.merge("CiliumNode", "", name, patch)
        for number, pod in enumerate(store.select("Pod", on=name), 10):
            if not pod["spec"].get("hostNetwork") and pod["status"].get("podIP"):
                address = str(share[number])
                place = pod["metadata"]["namespace"], pod["metadata"]["name"]
                told = {"podIP": address, "podIPs": [{"ip": address}]}
                store.merge("Pod", *place, {"status": told})
                if store.get("CiliumEndpoint", *place):
                    networking = {"addressing": [{"ipv4": address}]}
                    store.merge("CiliumEndpoint", *place, {"status": {"networking": networking}})


@fault("cilium-release", "Helm's release of Cilium has another status, chart or name")
def cilium_release(
    world: World,
    status: str = "deployed",
    chart: str = "cilium-1.20.1",
    name: str = "cilium",
    namespace: str = SYSTEM,
) -> None:
    """An upgrade that was interrupted, a chart that nobody pinned."""
    operations = world.operations
    operations.releases = [
        replace(each, status=status, chart=chart, name=name, namespace=namespace)
        if each.name == "cilium"
        else each
        for each in operations.releases
    ]
