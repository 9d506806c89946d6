"""ReplicaSets, StatefulSets, DaemonSets and Deployments: as many pods as they want."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab import apiwrites, taints
from lab.admission import ADMITS
from lab.apipaths import Target
from lab.cluster.census import is_over, is_ready
from lab.cluster.scheduler import why_not
from lab.cluster.work import server
from lab.kinds import stamp
from lab.objects import RESOURCES, copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.cluster.census import Census
    from lab.objects import Object, Store
    from lab.world import World

KINDS = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"})
# What the DaemonSet controller lets its pods tolerate beside their own.
_DAEMONS = tuple(
    {"key": key, "operator": "Exists"}
    for key in (
        taints.NOT_READY,
        taints.UNREACHABLE,
        taints.UNSCHEDULABLE,
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/pid-pressure",
    )
)
PODS = next(resource for resource in RESOURCES if resource.kind == "Pod")


@dataclass(frozen=True, slots=True)
class Replicas:
    """The controllers of one store."""

    world: World
    store: Store
    census: Census

    def reconcile(self, kind: str, namespace: str, name: str) -> None:
        """Make up for what is missing, remove what is too much, count what is there."""
        owner = self.store.get(kind, namespace, name)
        if owner is None or "deletionTimestamp" in owner["metadata"]:
            return
        if kind == "Deployment":
            self._deploy(owner)
            return
        live = [pod for pod in self._owned(owner) if not is_over(pod)]
        if (kind, namespace, name) not in self.world.trouble.idle:
            staying = [pod for pod in live if "deletionTimestamp" not in pod["metadata"]]
            if kind == "DaemonSet":
                self._on_each_node(owner, live)
            elif kind == "StatefulSet":
                self._in_order(owner, live, staying)
            else:
                self._as_many(owner, staying)
        self._count(owner)

    def short(self) -> Iterator[tuple[str, str, str]]:
        """The controllers that have too few pods now: a scenario has taken them away."""
        for kind in sorted(KINDS - {"Deployment"}):
            for owner in self.store.each(kind):
                live = [pod for pod in self._owned(owner) if not is_over(pod)]
                wanted = owner["spec"].get("replicas", 1)
                if kind == "DaemonSet":
                    there = {pod["spec"].get("nodeName") for pod in live}
                    short = not there >= set(self._nodes_for(owner))
                else:
                    short = len(live) < wanted
                if short:
                    yield kind, owner["metadata"]["namespace"], owner["metadata"]["name"]

    def _owned(self, owner: Object) -> list[Object]:
        places = self.census.of.get(owner["metadata"]["uid"], set())
        return self.census.pods(self.store, places)

    def _as_many(self, owner: Object, staying: list[Object]) -> None:
        wanted = owner["spec"].get("replicas", 1)
        for _ in range(wanted - len(staying)):
            self._make(owner, f"{owner['metadata']['name']}-{self._letters(owner)}")
        # What is not ready goes first, then what is youngest.
        spare = sorted(staying, key=lambda pod: (is_ready(pod), -int(_version(pod))))
        for pod in spare[: max(0, len(staying) - wanted)]:
            self._remove(pod)

    def _in_order(self, owner: Object, live: list[Object], staying: list[Object]) -> None:
        names = {pod["metadata"]["name"] for pod in live}
        wanted = [
            f"{owner['metadata']['name']}-{number}"
            for number in range(owner["spec"].get("replicas", 1))
        ]
        for name in wanted:
            if name not in names:
                self._make(owner, name)
        for pod in staying:
            if pod["metadata"]["name"] not in wanted:
                self._remove(pod)

    def _on_each_node(self, owner: Object, live: list[Object]) -> None:
        taken = {pod["spec"].get("nodeName") for pod in live}
        for node in self._nodes_for(owner):
            if node not in taken:
                name = f"{owner['metadata']['name']}-{self._letters(owner)}"
                self._make(owner, name, node=node)

    def _nodes_for(self, owner: Object) -> Iterator[str]:
        template = owner["spec"]["template"]["spec"]
        tolerations = [*(template.get("tolerations") or []), *_DAEMONS]
        pod = {"spec": {**template, "tolerations": tolerations}}
        for node in self.store.each("Node"):
            if why_not(pod, node) is None:
                yield node["metadata"]["name"]

    def _letters(self, owner: Object) -> str:
        self.world.serial += 1
        uid = owner["metadata"]["uid"]
        return self.world.seed.suffix("replica", uid, str(self.world.serial), digits=5)

    def _make(self, owner: Object, name: str, node: str = "") -> None:
        self.world.serial += 1
        metadata, template = owner["metadata"], copied(owner["spec"]["template"])
        labels = dict(template.get("metadata", {}).get("labels") or {})
        if owner["kind"] == "DaemonSet":
            tolerations = template["spec"].get("tolerations") or []
            template["spec"]["tolerations"] = [*tolerations, *(dict(each) for each in _DAEMONS)]
            template["spec"]["nodeName"] = node
        item: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "creationTimestamp": stamp(self.world.now()),
                "labels": labels,
                "name": name,
                "namespace": metadata["namespace"],
                "ownerReferences": [_controlled_by(owner)],
                "uid": self.world.seed.uuid("pod", name, str(self.world.serial)),
            },
            "spec": template["spec"],
        }
        if owner["kind"] != "StatefulSet":
            item["metadata"]["generateName"] = f"{metadata['name']}-"
        if all(admit(self.world, self.store, item) is None for admit in ADMITS["Pod"]):
            self.store.put(item)

    def _remove(self, pod: Object) -> None:
        host = server(self.world)
        if host is not None:
            place = pod["metadata"]["namespace"], pod["metadata"]["name"]
            apiwrites.remove(self.world, host, Target(PODS, *place))

    def _deploy(self, owner: Object) -> None:
        """Keep one ReplicaSet of the present template at the wanted number."""
        metadata, spec = owner["metadata"], owner["spec"]
        sets = [
            each
            for each in self.store.each("ReplicaSet", metadata["namespace"])
            if any(
                owned["uid"] == metadata["uid"]
                for owned in each["metadata"].get("ownerReferences", [])
            )
        ]
        current = next((each for each in sets if _runs(each, spec["template"])), None)
        if current is None:
            current = self._replica_set(owner)
            self.store.put(current)
        for each in [current, *(one for one in sets if one is not current)]:
            wanted = spec.get("replicas", 1) if each is current else 0
            if each["spec"].get("replicas") != wanted:
                place = each["metadata"]["namespace"], each["metadata"]["name"]
                self.store.merge("ReplicaSet", *place, {"spec": {"replicas": wanted}})
        self._count(owner)

    def _replica_set(self, owner: Object) -> Object:
        self.world.serial += 1
        metadata, spec = owner["metadata"], copied(owner["spec"])
        hashed = self.world.seed.suffix(metadata["uid"], str(self.world.serial), digits=9)
        name = f"{metadata['name']}-{hashed}"
        spec["selector"].setdefault("matchLabels", {})["pod-template-hash"] = hashed
        spec["template"].setdefault("metadata", {}).setdefault("labels", {}).update(
            {"pod-template-hash": hashed}
        )
        return {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "creationTimestamp": stamp(self.world.now()),
                "generation": 1,
                "labels": dict(spec["template"]["metadata"]["labels"]),
                "name": name,
                "namespace": metadata["namespace"],
                "ownerReferences": [_controlled_by(owner)],
                "uid": self.world.seed.uuid("replicaset", name, str(self.world.serial)),
            },
            "spec": {
                "replicas": spec.get("replicas", 1),
                "selector": spec["selector"],
                "template": spec["template"],
            },
            "status": {"replicas": 0},
        }

    def _count(self, owner: Object) -> None:
        """Write the status, if it says something else now."""
        kind = owner["kind"]
        pods = self._owned(owner)
        if kind == "Deployment":
            pods = [
                pod
                for each in self.store.each("ReplicaSet", owner["metadata"]["namespace"])
                if any(
                    owned["uid"] == owner["metadata"]["uid"]
                    for owned in each["metadata"].get("ownerReferences", [])
                )
                for pod in self._owned(each)
            ]
        pods = [pod for pod in pods if not is_over(pod)]
        pods = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        ready = sum(1 for pod in pods if is_ready(pod))
        status = _numbers(owner, len(pods), ready, len(list(self._nodes_for(owner))))
        if any(owner.get("status", {}).get(key) != value for key, value in status.items()):
            place = owner["metadata"]["namespace"], owner["metadata"]["name"]
            self.store.merge(kind, *place, {"status": status})


def _controlled_by(owner: Object) -> Object:
    return {
        "apiVersion": "apps/v1",
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }


def _numbers(owner: Object, there: int, ready: int, nodes: int) -> Object:
    generation = owner["metadata"].get("generation", 1)
    if owner["kind"] == "DaemonSet":
        return {
            "currentNumberScheduled": there,
            "desiredNumberScheduled": nodes,
            "numberAvailable": ready,
            "numberReady": ready,
            "numberUnavailable": nodes - ready or None,
            "observedGeneration": generation,
            "updatedNumberScheduled": there,
        }
    return {
        "availableReplicas": ready,
        "observedGeneration": generation,
        "readyReplicas": ready,
        "replicas": there,
        "unavailableReplicas": (there - ready or None) if owner["kind"] == "Deployment" else None,
    }


def _runs(replica_set: Object, template: Object) -> bool:
    """Whether it makes pods of that template; its own hash is no difference."""
    own = copied(replica_set["spec"]["template"])
    own.get("metadata", {}).get("labels", {}).pop("pod-template-hash", None)
    return bool(own == template)


def _version(pod: Object) -> str:
    return str(pod["metadata"].get("resourceVersion", "0"))
