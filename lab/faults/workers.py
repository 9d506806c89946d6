"""Faults of nodes from phase D on: Ready, Leases, labels, taints, cordons, CiliumNodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import taints
from lab.cluster import nodes
from lab.faults.registry import fault, host_of
from lab.kinds import CONTROL_PLANE_TAINT

if TYPE_CHECKING:
    from lab.host import Host
    from lab.world import World

_LABEL = "wetopi.io/role"
_UNWELL = {"message": "PLEG is not healthy: pleg was last seen active 3m2s ago"}


@fault("node-not-ready", "the node's kubelet says that it is not ready, and it stays so")
def node_not_ready(world: World, node: str) -> None:
    """Condition, and the taints that follow from it."""
    name = host_of(world, node).name
    nodes.not_ready(world, world.objects, name, reason="KubeletNotReady", **_UNWELL)


@fault("node-flaps", "the node is Ready and NotReady in turn, for so many seconds each")
def node_flaps(world: World, node: str, up: float = 0.3, down: float = 0.3) -> None:
    """Whoever asks once may meet it Ready."""
    world.trouble.flapping[host_of(world, node).name] = (float(up), float(down))


@fault("nodes-ready-after", "the workers, or these nodes, become Ready only after so many seconds")
def ready_after(world: World, seconds: float, nodes: list[str] | None = None) -> None:
    """Slow, and healthy."""
    names = nodes or [machine.name for machine in world.layout.workers]
    for name in names:
        world.trouble.ready_after[host_of(world, str(name)).name] = float(seconds)


@fault("lease-stale", "the node says Ready, and its Lease was renewed so many seconds ago")
def lease_stale(world: World, node: str, seconds: float = 1200.0) -> None:
    """Nobody has noticed yet (kubernetes#85895)."""
    world.trouble.stale_leases[host_of(world, node).name] = float(seconds)


@fault("taint-stays", "a taint of the controllers stays on the node, Ready or not")
def taint_stays(
    world: World, node: str, key: str = taints.NOT_READY, effect: str = "NoSchedule"
) -> None:
    """Nothing is scheduled there."""
    name = host_of(world, node).name
    world.trouble.clinging_taints.add(name)
    taints.add(world.objects, name, key, effect)


@fault("label-lost", "the node has lost the label wetopi.io/role")
def label_lost(world: World, node: str) -> None:
    """It registered anew without it."""
    _label(world, host_of(world, node), None)


@fault("label-differs", "the node's label wetopi.io/role has another value")
def label_differs(world: World, node: str, value: str = "platforms") -> None:
    """Nearly right."""
    _label(world, host_of(world, node), value)


@fault("label-on-control-plane", "a control plane has the label wetopi.io/role=platform, too")
def label_on_control_plane(world: World, node: str = "rke-cp03") -> None:
    """Platform pods may go there."""
    _label(world, host_of(world, node), "platform")


@fault("cp-taint-missing", "the control plane has no taint control-plane:NoSchedule")
def cp_taint_missing(world: World, node: str = "rke-cp02") -> None:
    """Whatever has no selector may be scheduled there."""
    taints.remove(world.objects, host_of(world, node).name, CONTROL_PLANE_TAINT["key"])


@fault("node-cordoned", "the node is unschedulable")
def node_cordoned(world: World, node: str) -> None:
    """A human had a reason."""
    name = host_of(world, node).name
    if world.objects.peek("Node", "", name) is not None:
        world.objects.merge("Node", "", name, {"spec": {"unschedulable": True}})
        taints.add(world.objects, name, taints.UNSCHEDULABLE, "NoSchedule")


@fault("drained-node-stays-cordoned", "`kubectl uncordon` says that it did it, and it did not")
def stays_cordoned(world: World, node: str = "rke-platform01") -> None:
    """Its rc is 0."""
    world.trouble.stays_cordoned.add(host_of(world, node).name)


@fault("ciliumnode-missing", "the node has no CiliumNode")
def ciliumnode_missing(world: World, node: str) -> None:
    """Its agent has never registered."""
    world.objects.delete("CiliumNode", "", host_of(world, node).name)


@fault("ciliumnode-cidr", "the node's CiliumNode has this podCIDR")
def ciliumnode_cidr(world: World, node: str, cidr: str = "10.0.3.0/24") -> None:
    """A foreign one, or another node's."""
    name = host_of(world, node).name
    if world.objects.peek("CiliumNode", "", name) is not None:
        world.objects.merge("CiliumNode", "", name, {"spec": {"ipam": {"podCIDRs": [cidr]}}})


def _label(world: World, host: Host, value: str | None) -> None:
    if world.objects.peek("Node", "", host.name) is not None:
        world.objects.merge("Node", "", host.name, {"metadata": {"labels": {_LABEL: value}}})
