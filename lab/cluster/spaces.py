"""Namespaces that are deleted: everything in them goes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import apiwrites
from lab.admission import lingers
from lab.apipaths import Target
from lab.cluster.work import server
from lab.objects import RESOURCES

if TYPE_CHECKING:
    from lab.cluster.work import Work
    from lab.objects import Object, Store
    from lab.world import World


@lingers("Namespace")
def stays(world: World, store: Store, item: Object) -> bool:
    """It is held until it is empty; in a world that stands still it takes all with it at once."""
    if world.timeline.runs:
        return True
    for resource, below in _content(store, item["metadata"]["name"]):
        store.delete(resource, item["metadata"]["name"], below)
    return False


def empty(world: World, store: Store, work: Work, name: str) -> None:
    """Delete what is left in the namespace, and look again until nothing is."""
    item = store.get("Namespace", "", name)
    if item is None or "deletionTimestamp" not in item["metadata"]:
        return
    if item["status"]["phase"] != "Terminating":
        item["status"]["phase"] = "Terminating"
        store.put(item)
    content = _content(store, name)
    if not content:
        apiwrites.finish(world, store, item)
        return
    host = server(world)
    for resource in RESOURCES:
        for kind, below in content:
            known = store.peek(kind, name, below)
            if kind != resource.kind or known is None or host is None:
                continue
            if "deletionTimestamp" not in known["metadata"]:
                apiwrites.remove(world, host, Target(resource, name, below))
    work.soon(
        world,
        world.pace.namespace,
        ("namespace", name),
        lambda: empty(world, store, work, name),
    )


def _content(store: Store, namespace: str) -> list[tuple[str, str]]:
    return [
        (resource.kind, item["metadata"]["name"])
        for resource in RESOURCES
        if resource.namespaced
        for item in store.each(resource.kind, namespace)
    ]
