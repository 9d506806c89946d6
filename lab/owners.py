"""The controllers of the built-in pods: Deployments, ReplicaSets, DaemonSets, StatefulSets.

Their templates make the pods that take an evicted one's place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.kinds import stamp
from lab.pods import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from lab.objects import Object
    from lab.pods import PodShape
    from lab.seed import Seed

# Labels that a controller adds to what its template says.
ADDED_LABELS = frozenset({"controller-revision-hash", "pod-template-hash"})
_CNI = {"cilium": ("/opt/cni/bin", "/etc/cni/net.d")}


def owners(seed: Seed, shapes: Iterable[PodShape], created: datetime) -> Iterator[Object]:
    """The controllers that own these pods."""
    owned: dict[tuple[str, str, str], list[PodShape]] = {}
    for shape in shapes:
        if shape.owner and shape.owner[0] in ("DaemonSet", "ReplicaSet", "StatefulSet"):
            owned.setdefault((*shape.owner, shape.namespace), []).append(shape)
    for (kind, name, _), pods in owned.items():
        if kind == "DaemonSet":
            yield _daemon_set(seed, name, pods, created)
        elif kind == "StatefulSet":
            yield _replicated(seed, kind, name, pods, created)
        else:
            deployment = name.rpartition("-")[0]
            yield _replicated(seed, "Deployment", deployment, pods, created)
            replica_set = _replicated(seed, kind, name, pods, created)
            replica_set["metadata"]["ownerReferences"] = [
                {
                    "apiVersion": "apps/v1",
                    "blockOwnerDeletion": True,
                    "controller": True,
                    "kind": "Deployment",
                    "name": deployment,
                    "uid": seed.uuid("deployment", deployment),
                }
            ]
            added = {"pod-template-hash": pods[0].labels["pod-template-hash"]}
            replica_set["metadata"]["labels"].update(added)
            replica_set["spec"]["selector"]["matchLabels"].update(added)
            replica_set["spec"]["template"]["metadata"]["labels"].update(added)
            yield replica_set


def _bare(seed: Seed, kind: str, name: str, pods: list[PodShape], created: datetime) -> Object:
    labels = {key: value for key, value in pods[0].labels.items() if key not in ADDED_LABELS}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {
            "creationTimestamp": stamp(created),
            "generation": 1,
            "labels": dict(labels),
            "name": name,
            "namespace": pods[0].namespace,
            "uid": seed.uuid(kind.lower(), name),
        },
        "spec": {
            "selector": {"matchLabels": dict(labels)},
            "template": {"metadata": {"labels": dict(labels)}, "spec": spec_of(pods[0])},
        },
    }


def _replicated(
    seed: Seed, kind: str, name: str, pods: list[PodShape], created: datetime
) -> Object:
    item = _bare(seed, kind, name, pods, created)
    running = sum(1 for shape in pods if shape.phase == "Running")
    item["spec"]["replicas"] = len(pods)
    item["status"] = {
        "availableReplicas": running,
        "observedGeneration": 1,
        "readyReplicas": running,
        "replicas": len(pods),
    }
    return item


def _daemon_set(seed: Seed, name: str, pods: list[PodShape], created: datetime) -> Object:
    item = _bare(seed, "DaemonSet", name, pods, created)
    item["spec"]["template"]["spec"].setdefault("volumes", []).extend(
        {"name": f"cni-{index}", "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
        for index, path in enumerate(_CNI.get(name, ()))
    )
    running = sum(1 for shape in pods if shape.phase == "Running")
    item["status"] = {
        "currentNumberScheduled": len(pods),
        "desiredNumberScheduled": len(pods),
        "numberAvailable": running,
        "numberMisscheduled": 0,
        "numberReady": running,
        "observedGeneration": 1,
        "updatedNumberScheduled": len(pods),
    }
    return item
