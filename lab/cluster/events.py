"""Events: what scheduler, kubelets and controllers tell about an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.kinds import stamp

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.world import World


def record(
    world: World, store: Store, item: Object, reason: str, message: str, *, source: str
) -> None:
    """Write an event; the same again is counted. A kubelet's and a scheduler's are on the pod."""
    metadata = item["metadata"]
    namespace = metadata.get("namespace") or "default"
    now = stamp(world.now())
    name = f"{metadata['name']}.{world.seed.hex(metadata['uid'], reason, message, digits=16)}"
    known = store.peek("Event", namespace, name)
    if known is not None:
        count = known["count"] + 1
        store.merge("Event", namespace, name, {"count": count, "lastTimestamp": now})
        return
    store.put(
        {
            "apiVersion": "v1",
            "count": 1,
            "firstTimestamp": now,
            "involvedObject": {
                "apiVersion": item["apiVersion"],
                "kind": item["kind"],
                "name": metadata["name"],
                "namespace": metadata.get("namespace", ""),
                "uid": metadata["uid"],
            },
            "kind": "Event",
            "lastTimestamp": now,
            "message": message,
            "metadata": {
                "creationTimestamp": now,
                "name": name,
                "namespace": namespace,
                "uid": world.seed.uuid("event", name),
            },
            "reason": reason,
            "reportingComponent": source,
            "source": {"component": source},
            "type": "Normal" if reason in _NORMAL else "Warning",
        }
    )


_NORMAL = frozenset({"Scheduled", "Pulled", "Created", "Started", "Killing", "SuccessfulCreate"})
