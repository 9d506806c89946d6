"""The default service account, which every namespace has and no pod is made without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.admission import admits
from lab.kinds import stamp
from lab.statuses import failure

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.statuses import Answer
    from lab.world import World

_NAME = "default"


def begin(world: World) -> None:
    """Give every namespace there is its account."""
    for item in list(world.objects.each("Namespace")):
        _give(world, world.objects, item["metadata"]["name"])


@admits("Namespace")
def namespace(world: World, store: Store, item: Object) -> Answer | None:
    """Its account comes a moment after it."""
    name = item["metadata"]["name"]
    world.timeline.later(world.pace.account, lambda: _give(world, store, name))
    return None


@admits("Pod")
def pod(world: World, store: Store, item: Object) -> Answer | None:
    """Refused as long as its namespace has no account."""
    metadata = item["metadata"]
    where, name = metadata["namespace"], metadata["name"]
    if not world.timeline.runs or store.peek("ServiceAccount", where, _NAME) is not None:
        return None
    why = f'error looking up service account {where}/{_NAME}: serviceaccount "{_NAME}" not found'
    text = f'pods "{name}" is forbidden: {why}'
    return failure(403, "Forbidden", text, {"name": name, "kind": "pods"})


def _give(world: World, store: Store, where: str) -> None:
    home = store.peek("Namespace", "", where)
    if home is None or store.peek("ServiceAccount", where, _NAME) is not None:
        return
    metadata = {
        "creationTimestamp": stamp(world.now()),
        "name": _NAME,
        "namespace": where,
        "uid": world.seed.uuid("serviceaccount", where, home["metadata"]["uid"]),
    }
    store.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
