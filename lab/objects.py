"""The Kubernetes objects of the lab and the resource types its API serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lab.phase import Phase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Object: TypeAlias = dict[str, Any]
    # What an object was and what it is now; None before it was made and after it is gone.
    Watcher: TypeAlias = Callable[[Object | None, Object | None], None]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource type as discovery lists it; `since` is the phase that installs a CRD."""

    kind: str
    plural: str
    singular: str
    group_version: str = "v1"
    short: tuple[str, ...] = ()
    namespaced: bool = True
    since: Phase | None = None

    @property
    def group(self) -> str:
        """The API group; empty for core."""
        return self.group_version.rpartition("/")[0]

    @property
    def qualified(self) -> str:
        """The plural with its group, as error texts print it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


RESOURCES = (
    Resource("Node", "nodes", "node", short=("no",), namespaced=False),
    Resource("Pod", "pods", "pod", short=("po",)),
    Resource("Namespace", "namespaces", "namespace", short=("ns",), namespaced=False),
    Resource("Service", "services", "service", short=("svc",)),
    Resource("ConfigMap", "configmaps", "configmap", short=("cm",)),
    Resource("Secret", "secrets", "secret"),
    Resource("ServiceAccount", "serviceaccounts", "serviceaccount", short=("sa",)),
    Resource("Event", "events", "event", short=("ev",)),
    Resource(
        "PersistentVolume", "persistentvolumes", "persistentvolume", short=("pv",), namespaced=False
    ),
    Resource(
        "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", short=("pvc",)
    ),
    Resource("Deployment", "deployments", "deployment", "apps/v1", short=("deploy",)),
    Resource("ReplicaSet", "replicasets", "replicaset", "apps/v1", short=("rs",)),
    Resource("DaemonSet", "daemonsets", "daemonset", "apps/v1", short=("ds",)),
    Resource("StatefulSet", "statefulsets", "statefulset", "apps/v1", short=("sts",)),
    Resource("Job", "jobs", "job", "batch/v1"),
    Resource(
        "StorageClass",
        "storageclasses",
        "storageclass",
        "storage.k8s.io/v1",
        short=("sc",),
        namespaced=False,
    ),
    Resource(
        "CiliumNode",
        "ciliumnodes",
        "ciliumnode",
        "cilium.io/v2",
        short=("cn", "ciliumn"),
        namespaced=False,
        since=Phase.E,
    ),
    Resource(
        "CiliumEndpoint",
        "ciliumendpoints",
        "ciliumendpoint",
        "cilium.io/v2",
        short=("cep", "ciliumep"),
        since=Phase.E,
    ),
    Resource(
        "Application",
        "applications",
        "application",
        "argoproj.io/v1alpha1",
        short=("app", "apps"),
        since=Phase.G,
    ),
    Resource("Lease", "leases", "lease", "coordination.k8s.io/v1"),
    Resource("EndpointSlice", "endpointslices", "endpointslice", "discovery.k8s.io/v1"),
    Resource(
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        "poddisruptionbudget",
        "policy/v1",
        short=("pdb",),
    ),
    Resource(
        "NetworkPolicy",
        "networkpolicies",
        "networkpolicy",
        "networking.k8s.io/v1",
        short=("netpol",),
    ),
)


def resource_named(name: str) -> Resource | None:
    """The type of that plural, singular, short name or kind, with or without its group."""
    wanted = name.lower()
    for resource in RESOURCES:
        names = {resource.plural, resource.singular, resource.kind.lower(), *resource.short}
        if wanted in names or wanted in {f"{known}.{resource.group}" for known in names}:
            return resource
    return None


class Store:
    """Objects by kind, namespace and name. `version` grows with every change.

    Attributes:
        views: per kind, what brings the copy that a reader gets up to date (times that pass).
    """

    def __init__(self) -> None:
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._watchers: list[Watcher] = []
        self.views: dict[str, Callable[[Object], None]] = {}
        self.version = 1000

    def watch(self, watcher: Watcher) -> None:
        """Tell `watcher` of every change from now on. It must not change what it is given."""
        self._watchers.append(watcher)

    def put(self, item: Object) -> None:
        """Create or replace an object."""
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        kind, *place = _key(item)
        below = self._objects.setdefault(kind, {})
        before = below.get((place[0], place[1]))
        below[place[0], place[1]] = item
        self._tell(before, item)

    def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """A copy of one object."""
        found = self.peek(kind, namespace, name)
        return self._copy(found) if found is not None else None

    def peek(self, kind: str, namespace: str, name: str) -> Object | None:
        """One object itself, not to be changed."""
        return self._objects.get(kind, {}).get((namespace, name))

    def each(self, kind: str, namespace: str | None = None) -> Iterator[Object]:
        """The objects of a kind themselves, not to be changed, in the API's order."""
        for place, item in sorted(self._objects.get(kind, {}).items()):
            if namespace is None or place[0] == namespace:
                yield item

    def everything(self) -> list[Object]:
        """A copy of every object."""
        return [self._copy(item) for below in self._objects.values() for item in below.values()]

    def delete(self, kind: str, namespace: str, name: str) -> bool:
        """Remove one object; whether it was there."""
        self.version += 1
        gone = self._objects.get(kind, {}).pop((namespace, name), None)
        if gone is not None:
            self._tell(gone, None)
        return gone is not None

    def merge(self, kind: str, namespace: str, name: str, patch: Object) -> None:
        """Apply a merge patch (RFC 7386); lists of `type`d conditions merge by type.

        Raises:
            KeyError: no such object.
        """
        self.put(merged(self._objects[kind][namespace, name], patch))

    def select(
        self,
        kind: str,
        namespace: str | None = None,
        labels: dict[str, str] | None = None,
        on: str | None = None,
    ) -> list[Object]:
        """Copies of the objects of a kind, in the API's order: by namespace, then name."""
        return [
            self._copy(item)
            for item in self.each(kind, namespace)
            if (on is None or item.get("spec", {}).get("nodeName") == on)
            and has_labels(item, labels or {})
        ]

    def _copy(self, item: Object) -> Object:
        copy: Object = copied(item)
        view = self.views.get(item["kind"])
        if view is not None:
            view(copy)
        return copy

    def _tell(self, before: Object | None, after: Object | None) -> None:
        for watcher in list(self._watchers):
            watcher(before, after)


def copied(value: Any) -> Any:
    """A copy of JSON values; several times as fast as `deepcopy`, which matters for lists."""
    if isinstance(value, dict):
        return {key: copied(below) for key, below in value.items()}
    if isinstance(value, list):
        return [copied(below) for below in value]
    return value


def has_labels(item: Object, labels: dict[str, str]) -> bool:
    """Whether the object carries all these labels."""
    own = item["metadata"].get("labels", {})
    return all(own.get(key) == value for key, value in labels.items())


def merged(target: Object, patch: Object) -> Object:
    """A merge patch applied to a copy of `target`."""
    result: Object = copied(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = merged(below if isinstance(below, dict) else {}, value)
        elif key == "conditions" and isinstance(value, list):
            result[key] = _conditions(result.get(key, []), value)
        else:
            result[key] = value
    return result


def _conditions(old: Iterable[Object], new: Iterable[Object]) -> list[Object]:
    # A merge patch replaces lists; for conditions a scenario means one of them, as a status
    # update with strategic merge does.
    result = {condition["type"]: condition for condition in old}
    for condition in new:
        result[condition["type"]] = {**result.get(condition["type"], {}), **condition}
    return list(result.values())


def _key(item: Object) -> tuple[str, str, str]:
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace", ""), metadata["name"]
