"""What Cilium registers for a node and for a pod: CiliumNode and CiliumEndpoint."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from lab.kinds import stamp
from lab.owners import ADDED_LABELS

if TYPE_CHECKING:
    from datetime import datetime

    from lab.host import Host
    from lab.objects import Object
    from lab.seed import Seed

# Identities below 256 are reserved; a cluster's own ones end at 65535.
_FIRST_IDENTITY = 256
_IDENTITIES = 65_280
_INTERNAL, _HEALTH = 117, 118


def cilium_node(seed: Seed, host: Host, pod_cidr: str, created: datetime) -> Object:
    """What Cilium's agent registers for its node."""
    network = IPv4Network(pod_cidr)
    return {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNode",
        "metadata": {
            "creationTimestamp": stamp(created),
            "generation": 2,
            "labels": {"kubernetes.io/hostname": host.name},
            "name": host.name,
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "name": host.name,
                    "uid": seed.uuid("node", host.name),
                }
            ],
            "uid": seed.uuid("ciliumnode", host.name),
        },
        "spec": {
            "addresses": [
                {"ip": host.machine.address, "type": "InternalIP"},
                {"ip": str(network[_INTERNAL]), "type": "CiliumInternalIP"},
            ],
            "encryption": {},
            "health": {"ipv4": str(network[_HEALTH])},
            "ipam": {"podCIDRs": [pod_cidr], "pools": {}},
        },
        "status": {"ipam": {"operator-status": {}}},
    }


def cilium_endpoint(seed: Seed, pod: Object, node_address: str, created: datetime) -> Object:
    """What Cilium's agent registers for a pod on the pod network."""
    metadata, address = pod["metadata"], pod["status"]["podIP"]
    namespace, name = metadata["namespace"], metadata["name"]
    labels = {
        key: value for key, value in metadata.get("labels", {}).items() if key not in ADDED_LABELS
    }
    shown = [f"k8s:{key}={value}" for key, value in sorted(labels.items())]
    shown.append(f"k8s:io.kubernetes.pod.namespace={namespace}")
    container = seed.hex("sandbox", metadata["uid"], address, digits=64)
    return {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumEndpoint",
        "metadata": {
            "creationTimestamp": stamp(created),
            "generation": 1,
            "labels": dict(metadata.get("labels", {})),
            "name": name,
            "namespace": namespace,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": metadata["uid"]}
            ],
            "uid": seed.uuid("ciliumendpoint", metadata["uid"]),
        },
        "status": {
            "encryption": {},
            "external-identifiers": {
                "cni-attachment-id": f"{container}:eth0",
                "container-id": container,
                "k8s-namespace": namespace,
                "k8s-pod-name": name,
                "pod-name": f"{namespace}/{name}",
            },
            "id": 1 + seed.integer("endpoint", metadata["uid"]) % 4095,
            "identity": {"id": identity(seed, namespace, labels), "labels": shown},
            "networking": {"addressing": [{"ipv4": address}], "node": node_address},
            "state": "ready",
        },
    }


def identity(seed: Seed, namespace: str, labels: dict[str, str]) -> int:
    """The number under which Cilium knows pods with these labels."""
    named = [f"{key}={value}" for key, value in sorted(labels.items()) if key not in ADDED_LABELS]
    return _FIRST_IDENTITY + seed.integer("identity", namespace, *named) % _IDENTITIES


def on_pod_network(pod: Object) -> bool:
    """Whether the pod has an address of its own and runs: Cilium has an endpoint for it."""
    status = pod["status"]
    return (
        not pod["spec"].get("hostNetwork")
        and status.get("phase") == "Running"
        and bool(status.get("podIP"))
    )
