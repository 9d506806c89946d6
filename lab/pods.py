"""Builds Pod objects as kubelet and API server leave them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.kinds import stamp

if TYPE_CHECKING:
    from datetime import datetime

    from lab.objects import Object
    from lab.seed import Seed

# The annotation of what stands for a static pod in the API; its value is the manifest's hash.
MIRROR = "kubernetes.io/config.mirror"


@dataclass(frozen=True, slots=True)
class PodShape:
    """What differs between pods.

    Attributes:
        owner: kind and name of the controller; `Node` makes a mirror pod.
        phase: `Running`, `Pending` or `Succeeded`.
        address: the pod IP; the host's own with `host_network`.
        tolerates: keys of taints that it tolerates; an empty key is every taint.
        scratch: names of its emptyDir volumes, which a drain empties.
        sidecars: names of containers beside the first one.
    """

    name: str
    namespace: str
    node: str | None
    labels: dict[str, str]
    owner: tuple[str, str] | None
    container: str
    image: str
    phase: str = "Running"
    address: str | None = None
    host_address: str | None = None
    host_network: bool = False
    node_selector: dict[str, str] | None = None
    tolerates: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    sidecars: tuple[str, ...] = ()


def pod(seed: Seed, shape: PodShape, created: datetime) -> Object:
    """A pod of that shape."""
    uid = seed.uuid("pod", shape.namespace, shape.name)
    metadata: Object = {
        "creationTimestamp": stamp(created),
        "labels": dict(shape.labels),
        "name": shape.name,
        "namespace": shape.namespace,
        "uid": uid,
    }
    if shape.owner:
        metadata["ownerReferences"] = [_owner(seed, *shape.owner)]
    if shape.owner and shape.owner[0] == "Node":
        hashed = seed.hex("static", shape.name, digits=32)
        metadata["annotations"] = {
            "kubernetes.io/config.hash": hashed,
            MIRROR: hashed,
            "kubernetes.io/config.seen": stamp(created),
            "kubernetes.io/config.source": "file",
        }
    if shape.owner and shape.owner[0] in ("ReplicaSet", "DaemonSet"):
        metadata["generateName"] = f"{shape.owner[1]}-"
    spec = spec_of(shape)
    if shape.node:
        spec["nodeName"] = shape.node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": _pod_status(shape, stamp(created)),
    }


def spec_of(shape: PodShape) -> Object:
    """What a pod of that shape runs, wherever it runs: also its controller's template."""
    spec: Object = {
        "containers": [
            {"image": shape.image, "name": name} for name in (shape.container, *shape.sidecars)
        ],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "OnFailure" if shape.phase == "Succeeded" else "Always",
        "terminationGracePeriodSeconds": 30,
    }
    if shape.host_network:
        spec["hostNetwork"] = True
    if shape.node_selector:
        spec["nodeSelector"] = dict(shape.node_selector)
    if shape.tolerates:
        spec["tolerations"] = [
            {"key": key, "operator": "Exists"} if key else {"operator": "Exists"}
            for key in shape.tolerates
        ]
    if shape.scratch:
        spec["volumes"] = [{"emptyDir": {}, "name": name} for name in shape.scratch]
    return spec


def _owner(seed: Seed, kind: str, name: str) -> Object:
    return {
        "apiVersion": {"Node": "v1", "Job": "batch/v1"}.get(kind, "apps/v1"),
        "controller": True,
        "kind": kind,
        "name": name,
        "uid": seed.uuid(kind.lower(), name),
    }


def _pod_status(shape: PodShape, since: str) -> Object:
    running = shape.phase == "Running"

    def condition(kind: str, *, holds: bool) -> Object:
        return {"lastTransitionTime": since, "status": str(holds), "type": kind}

    status: Object = {"phase": shape.phase, "qosClass": "BestEffort"}
    if shape.phase == "Pending":
        status["conditions"] = [
            {
                **condition("PodScheduled", holds=False),
                "message": "0/3 nodes are available: 3 node(s) had untolerated taint(s).",
                "reason": "Unschedulable",
            }
        ]
        return status
    state = (
        {"running": {"startedAt": since}}
        if running
        else {
            "terminated": {
                "exitCode": 0,
                "finishedAt": since,
                "reason": "Completed",
                "startedAt": since,
            }
        }
    )
    status |= {
        "conditions": [
            condition("Initialized", holds=True),
            condition("Ready", holds=running),
            condition("ContainersReady", holds=running),
            condition("PodScheduled", holds=True),
        ],
        "containerStatuses": [
            {
                "image": shape.image,
                "name": name,
                "ready": running,
                "restartCount": 0,
                "started": running,
                "state": dict(state),
            }
            for name in (shape.container, *shape.sidecars)
        ],
        "startTime": since,
    }
    if shape.host_address:
        status["hostIP"] = shape.host_address
    if shape.address:
        status["podIP"] = shape.address
        status["podIPs"] = [{"ip": shape.address}]
    return status
