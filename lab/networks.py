"""DaemonSets and CiliumNodes: what makes a cluster one with a pod network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.kinds import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from lab.host import Host
    from lab.objects import Object
    from lab.pods import PodShape
    from lab.seed import Seed

_CNI = {"cilium": ("/opt/cni/bin", "/etc/cni/net.d")}


def daemon_sets(seed: Seed, shapes: Iterable[PodShape], created: datetime) -> Iterator[Object]:
    """The DaemonSets that own these pods."""
    owned: dict[tuple[str, str], list[PodShape]] = {}
    for shape in shapes:
        if shape.owner and shape.owner[0] == "DaemonSet":
            owned.setdefault((shape.namespace, shape.owner[1]), []).append(shape)
    for (namespace, name), pods in owned.items():
        yield _daemon_set(seed, namespace, name, pods, created)


def _daemon_set(
    seed: Seed, namespace: str, name: str, pods: list[PodShape], created: datetime
) -> Object:
    labels = {
        key: value for key, value in pods[0].labels.items() if key != "controller-revision-hash"
    }
    volumes = [
        {"name": f"cni-{index}", "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
        for index, path in enumerate(_CNI.get(name, ()))
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "creationTimestamp": stamp(created),
            "generation": 1,
            "labels": labels,
            "name": name,
            "namespace": namespace,
            "uid": seed.uuid("daemonset", name),
        },
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [{"image": pods[0].image, "name": pods[0].container}],
                    "hostNetwork": pods[0].host_network,
                    "volumes": volumes,
                },
            },
        },
        "status": {
            "currentNumberScheduled": len(pods),
            "desiredNumberScheduled": len(pods),
            "numberAvailable": len(pods),
            "numberMisscheduled": 0,
            "numberReady": len(pods),
            "observedGeneration": 1,
            "updatedNumberScheduled": len(pods),
        },
    }


def cilium_node(seed: Seed, host: Host, pod_cidr: str, created: datetime) -> Object:
    """What Cilium's agent registers for its node."""
    return {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNode",
        "metadata": {
            "creationTimestamp": stamp(created),
            "name": host.name,
            "uid": seed.uuid("ciliumnode", host.name),
        },
        "spec": {
            "addresses": [{"ip": host.machine.address, "type": "InternalIP"}],
            "ipam": {"podCIDRs": [pod_cidr]},
        },
    }
