"""Images that cannot be pulled, as a kubelet tells of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.cluster import events, podstatus

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.world import World


def failed(world: World, store: Store, pod: Object, image: str) -> bool:
    """The image cannot be had; whether the kubelet is about to back off and say so once more."""
    source = f"kubelet, {pod['spec']['nodeName']}"
    reason = pod["status"]["containerStatuses"][0]["state"].get("waiting", {}).get("reason")
    first: bool = reason == podstatus.WAITING
    if first:
        why = (
            f'Failed to pull image "{image}": rpc error: code = NotFound desc = failed to pull and '
            f'unpack image "{image}": failed to resolve reference "{image}": {image}: not found'
        )
        podstatus.waiting(pod, "ErrImagePull", why.partition(": ")[2], world.now())
        events.record(world, store, pod, "Failed", why, source=source)
    else:
        text = f'Back-off pulling image "{image}"'
        podstatus.waiting(pod, "ImagePullBackOff", text, world.now())
        events.record(world, store, pod, "BackOff", text, source=source)
    store.put(pod)
    return first
