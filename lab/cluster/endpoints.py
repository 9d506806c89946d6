"""EndpointSlices that follow Services and their pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import services
from lab.objects import has_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.objects import Object, Store
    from lab.world import World


def serving(store: Store, pod: Object) -> Iterator[Object]:
    """The Services that select the pod."""
    for item in store.each("Service", pod["metadata"]["namespace"]):
        selector = item["spec"].get("selector")
        if selector and has_labels(pod, selector):
            yield item


def follow(world: World, store: Store, namespace: str, name: str) -> None:
    """Bring the Service's slice up to date."""
    item = store.peek("Service", namespace, name)
    if item is None:
        return
    made = services.endpoint_slice(world.seed, store, item, world.now())
    if made is None:
        return
    known = store.peek("EndpointSlice", namespace, made["metadata"]["name"])
    if known is None or known["endpoints"] != made["endpoints"] or known["ports"] != made["ports"]:
        store.put(made)
