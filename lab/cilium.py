"""Cilium as it is installed in the lab: its configuration, and what its agents can do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab import layout
from lab.host import Link
from lab.kinds import stamp
from lab.objects import has_labels

if TYPE_CHECKING:
    from datetime import datetime

    from lab.host import Host
    from lab.objects import Object, Store
    from lab.seed import Seed
    from lab.world import World

SYSTEM = "kube-system"
CONFIG = "cilium-config"
HUBBLE_PORT = 4244
AGENT = {"k8s-app": "cilium"}


@dataclass(frozen=True, slots=True)
class Ailment:
    """What an agent says is wrong with a part of it (`state` is `Warning` or `Failure`)."""

    part: str
    state: str
    message: str


@dataclass(slots=True)
class Cilium:
    """What faults have done to it.

    Attributes:
        dropped: hosts and TCP ports for which packets are dropped on the node LAN.
        no_tunnel: hosts that VXLAN packets neither leave nor reach.
        no_health: hosts whose agent does not check health.
        no_endpoint_health: no agent has a health endpoint.
        ailments: by host.
    """

    dropped: set[tuple[str, int]] = field(default_factory=set)
    no_tunnel: set[str] = field(default_factory=set)
    no_health: set[str] = field(default_factory=set)
    no_endpoint_health: bool = False
    ailments: dict[str, Ailment] = field(default_factory=dict)


def config(seed: Seed, created: datetime) -> Object:
    """ConfigMap cilium-config as the chart writes it with the design's values, in part."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {
                "meta.helm.sh/release-name": "cilium",
                "meta.helm.sh/release-namespace": SYSTEM,
            },
            "creationTimestamp": stamp(created),
            "labels": {"app.kubernetes.io/managed-by": "Helm"},
            "name": CONFIG,
            "namespace": SYSTEM,
            "uid": seed.uuid("configmap", CONFIG),
        },
        "data": {
            "cluster-id": "0",
            "cluster-name": "default",
            "cluster-pool-ipv4-cidr": layout.PODS,
            "cluster-pool-ipv4-mask-size": "24",
            "cni-exclusive": "true",
            "enable-endpoint-health-checking": "true",
            "enable-health-checking": "true",
            "enable-hubble": "true",
            "enable-ipv4": "true",
            "enable-ipv6": "false",
            "hubble-listen-address": f":{HUBBLE_PORT}",
            "ipam": "cluster-pool",
            "kube-proxy-replacement": "false",
            "routing-mode": "tunnel",
            "tunnel-protocol": "vxlan",
        },
    }


def agent_on(store: Store, host: Host) -> Object | None:
    """The pod of the agent on that host; None if there is none."""
    pods = (pod for pod in store.each("Pod", SYSTEM) if has_labels(pod, AGENT))
    return next((pod for pod in pods if pod["spec"].get("nodeName") == host.name), None)


def is_ready(pod: Object) -> bool:
    """Whether it runs and all its containers are ready."""
    status = pod["status"]
    rows = status.get("containerStatuses") or []
    return (
        status.get("phase") == "Running"
        and "deletionTimestamp" not in pod["metadata"]
        and bool(rows)
        and all(row["ready"] for row in rows)
    )


def serves(world: World, host: Host) -> bool:
    """Whether the agent on that host does its work."""
    pod = agent_on(world.objects, host)
    return pod is not None and is_ready(pod) and "containerd" in host.processes


def serves_hubble(world: World, host: Host) -> bool:
    """Whether that agent's Hubble server listens."""
    found = world.objects.peek("ConfigMap", SYSTEM, CONFIG)
    on = found is not None and found["data"].get("enable-hubble") == "true"
    return on and serves(world, host)


def tunnelled(world: World, source: Host, target: Host) -> bool:
    """Whether a pod's packets come from one host to the other through the tunnel."""
    if source is target:
        return True
    blocked = world.cilium.no_tunnel & {source.name, target.name}
    up = source.link is Link.UP and target.link is Link.UP
    return up and not blocked and serves(world, target)
