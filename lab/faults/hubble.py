"""Faults of Hubble: its relay, the way to it, the flows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lab.faults.registry import fault, host_of

if TYPE_CHECKING:
    from lab.world import World


@fault("hubble-unavailable-node", "hubble-relay cannot connect to the agents of these nodes")
def hubble_unavailable_node(world: World, nodes: list[str]) -> None:
    """`hubble status` ends with rc 0 all the same."""
    world.flows.apart |= {host_of(world, name).name for name in nodes}


@fault("hubble-relay-down", "no pod of hubble-relay is ready")
def hubble_relay_down(world: World) -> None:
    """A port can be forwarded to the pod; nothing answers behind it."""
    for pod in world.objects.select("Pod", "kube-system", {"k8s-app": "hubble-relay"}):
        conditions = [
            {"type": kind, "status": "False", "reason": "ContainersNotReady"}
            for kind in ("Ready", "ContainersReady")
        ]
        containers = [{**each, "ready": False} for each in pod["status"]["containerStatuses"]]
        patch = {"status": {"conditions": conditions, "containerStatuses": containers}}
        world.objects.merge("Pod", "kube-system", pod["metadata"]["name"], patch)


@fault("port-forward-refused", "`cilium hubble port-forward` ends at once")
def port_forward_refused(
    world: World, reason: str = "error upgrading connection: pods is forbidden"
) -> None:
    """Nothing is known of Hubble then."""
    world.flows.refused = reason


@fault("flows-frozen", "the agents see no new flow")
def flows_frozen(world: World) -> None:
    """The relay serves and is connected to every node; its counts stand still."""
    world.flows.frozen = datetime.now(UTC)


@fault("flows-empty", "the agents count flows, and keep none")
def flows_empty(world: World) -> None:
    """`hubble observe` prints nothing, rc 0."""
    world.flows.empty = True
