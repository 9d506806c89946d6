"""Faults of the Kubernetes objects: nodes and pods."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from lab import kinds, networks
from lab.faults.registry import fault, host_of
from lab.pods import PodShape, pod

if TYPE_CHECKING:
    from datetime import datetime

    from lab.host import Host
    from lab.world import World

_PLATFORM = {"wetopi.io/role": "platform"}


@fault("node-unregistered", "the node is not registered in the API")
def node_unregistered(world: World, node: str) -> None:
    """Its kubelet never got through."""
    world.objects.delete("Node", "", host_of(world, node).name)


@fault("node-stranger", "a node that is not in the inventory is registered")
def node_stranger(world: World, name: str = "rke-cp99") -> None:
    """A machine that joined by mistake."""
    model = world.objects.get("Node", "", world.first_control_plane.name)
    if model is None:
        return
    model["metadata"] |= {"name": name, "uid": world.seed.uuid("node", name)}
    model["metadata"]["labels"]["kubernetes.io/hostname"] = name
    world.objects.put(model)


@fault("node-ready", "the node's Ready condition has this status")
def node_ready(world: World, node: str, status: str = "Unknown") -> None:
    """Recorded before phase E, not judged."""
    host = host_of(world, node)
    if world.objects.get("Node", "", host.name):
        condition = {"type": "Ready", "status": status, "reason": "NodeStatusUnknown"}
        world.objects.merge("Node", "", host.name, {"status": {"conditions": [condition]}})


@fault("platform-pod-on-cp", "a pod labelled wetopi.io/role=platform runs on the control plane")
def platform_pod(world: World, node: str, namespace: str = "kube-system") -> None:
    """A platform workload where none may be."""
    _pod(world, node, "web", namespace, labels={"app": "web", **_PLATFORM})


@fault("platform-selector-on-cp", "a pod that selects platform nodes runs on the control plane")
def platform_selector(world: World, node: str, namespace: str = "kube-system") -> None:
    """The node carries a worker's label."""
    _pod(world, node, "picky", namespace, labels={"app": "picky"}, selector=_PLATFORM)


@fault("foreign-pod-on-cp", "a Deployment's pod outside kube-system runs on the control plane")
def foreign_pod(world: World, node: str, namespace: str = "default") -> None:
    """An ordinary workload on a control plane without the taint."""
    _pod(world, node, "web", namespace, labels={"app": "web"})


@fault("daemonset-pod-on-cp", "a DaemonSet's pod outside kube-system runs on the control plane")
def daemon_pod(world: World, node: str, namespace: str = "monitoring") -> None:
    """Allowed: DaemonSets run everywhere."""
    _pod(world, node, "exporter", namespace, labels={"app": "exporter"}, owner="DaemonSet")


def _pod(
    world: World,
    node: str,
    name: str,
    namespace: str,
    *,
    labels: dict[str, str],
    selector: dict[str, str] | None = None,
    owner: str = "ReplicaSet",
) -> None:
    host = host_of(world, node)
    if world.objects.get("Node", "", host.name) is None:
        return
    created = world.seed.born - timedelta(minutes=5)
    if world.objects.get("Namespace", "", namespace) is None:
        world.objects.put(kinds.namespace(world.seed, namespace, created))
    shape = PodShape(
        name=f"{name}-7d876db474-mgh2p" if owner == "ReplicaSet" else f"{name}-mgh2p",
        namespace=namespace,
        node=host.name,
        labels=labels,
        owner=(owner, f"{name}-7d876db474" if owner == "ReplicaSet" else name),
        container=name,
        image=f"docker.io/library/{name}:1",
        address="10.64.0.77",
        host_address=host.machine.address,
        node_selector=selector,
    )
    place(world, host, shape, created)


def place(world: World, host: Host, shape: PodShape, created: datetime) -> None:
    """Let a pod of that shape run on the host; with Cilium there, it has an endpoint, too."""
    store = world.objects
    cilium = store.peek("CiliumNode", "", host.name)
    if cilium is None:
        store.put(pod(world.seed, shape, created))
        return
    network = IPv4Network(cilium["spec"]["ipam"]["podCIDRs"][0])
    taken = {each["status"].get("podIP") for each in store.each("Pod")}
    free = next(str(each) for each in list(network)[-6::-1] if str(each) not in taken)
    item = pod(world.seed, replace(shape, address=free), created)
    store.put(item)
    store.put(networks.cilium_endpoint(world.seed, item, host.machine.address, created))
