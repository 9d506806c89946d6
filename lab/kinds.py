"""Builds Node and Namespace objects as kubelet and API server leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab import layout
from lab.layout import Part

if TYPE_CHECKING:
    from datetime import datetime

    from lab.host import Host
    from lab.objects import Object
    from lab.seed import Seed

NOT_INITIALIZED = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)
CONTROL_PLANE_TAINT = {
    "effect": "NoSchedule",
    "key": "node-role.kubernetes.io/control-plane",
    "value": "true",
}


def stamp(moment: datetime) -> str:
    """A time as the API prints it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def precise(moment: datetime) -> str:
    """A time as Leases have it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def lease(seed: Seed, name: str, created: datetime) -> Object:
    """The Lease that a node's kubelet renews; when it did so last is filled in by who reads."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "creationTimestamp": stamp(created),
            "name": name,
            "namespace": "kube-node-lease",
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": name, "uid": seed.uuid("node", name)}
            ],
            "uid": seed.uuid("lease", name),
        },
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": 40,
            "renewTime": precise(created),
        },
    }


def namespace(seed: Seed, name: str, created: datetime) -> Object:
    """An active namespace."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "creationTimestamp": stamp(created),
            "labels": {"kubernetes.io/metadata.name": name},
            "name": name,
            "uid": seed.uuid("namespace", name),
        },
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def node(
    seed: Seed,
    host: Host,
    created: datetime,
    *,
    ready: bool,
    tainted: bool,
    member: str | None = None,
    pod_cidr: str,
) -> Object:
    """A node; a control plane has `member`, its etcd member's name."""
    taints: list[dict[str, str]] = []
    if tainted:
        taints.append(dict(CONTROL_PLANE_TAINT))
    if not ready:
        taints += [
            {"effect": effect, "key": "node.kubernetes.io/not-ready"}
            for effect in ("NoSchedule", "NoExecute")
        ]
    spec: dict[str, Any] = {
        "podCIDR": pod_cidr,
        "podCIDRs": [pod_cidr],
        "providerID": f"rke2://{host.name}",
    }
    if taints:
        spec["taints"] = taints
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": _annotations(seed, host, member),
            "creationTimestamp": stamp(created),
            "labels": _labels(host),
            "name": host.name,
            "uid": seed.uuid("node", host.name),
        },
        "spec": spec,
        "status": {
            "addresses": [
                {"address": host.machine.address, "type": "InternalIP"},
                {"address": host.name, "type": "Hostname"},
            ],
            "allocatable": {"cpu": "8", "memory": "32861248Ki", "pods": "110"},
            "capacity": {"cpu": "8", "memory": "32861248Ki", "pods": "110"},
            "conditions": _conditions(created, ready=ready, voter=member is not None),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": host.boot_id,
                "containerRuntimeVersion": "containerd://2.1.5-k3s1",
                "kernelVersion": "6.8.0-60-generic",
                "kubeProxyVersion": layout.RKE2,
                "kubeletVersion": layout.RKE2,
                "machineID": host.machine_id,
                "operatingSystem": "linux",
                "osImage": "Ubuntu 24.04.3 LTS",
                "systemUUID": seed.uuid("system", host.name),
            },
        },
    }


def _labels(host: Host) -> dict[str, str]:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": host.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "rke2",
    }
    if host.machine.part is Part.CONTROL_PLANE:
        labels["node-role.kubernetes.io/control-plane"] = "true"
        labels["node-role.kubernetes.io/etcd"] = "true"
    else:
        labels["wetopi.io/role"] = "platform"
    return labels


def _annotations(seed: Seed, host: Host, member: str | None) -> dict[str, str]:
    annotations = {
        "alpha.kubernetes.io/provided-node-ip": host.machine.address,
        "node.alpha.kubernetes.io/ttl": "0",
        "rke2.io/hostname": host.name,
        "rke2.io/internal-ip": host.machine.address,
    }
    if member:
        annotations |= {
            "etcd.rke2.cattle.io/node-address": host.machine.address,
            "etcd.rke2.cattle.io/node-name": member,
            "rke2.io/encryption-config-hash": "start-" + seed.hex("encryption", digits=64),
        }
    return annotations


def _conditions(since: datetime, *, ready: bool, voter: bool) -> list[Object]:
    def condition(kind: str, status: str, reason: str, message: str) -> Object:
        return {
            "lastHeartbeatTime": stamp(since),
            "lastTransitionTime": stamp(since),
            "message": message,
            "reason": reason,
            "status": status,
            "type": kind,
        }

    conditions = [
        condition(
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        condition(
            "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"
        ),
        condition(
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        ),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")
        if ready
        else condition("Ready", "False", "KubeletNotReady", NOT_INITIALIZED),
    ]
    if voter:
        conditions.append(
            condition(
                "EtcdIsVoter",
                "True",
                "MemberNotLearner",
                "Node is a voting member of the etcd cluster",
            )
        )
    return conditions
