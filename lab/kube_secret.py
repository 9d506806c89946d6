"""A Secret as the API has it, and what its values are."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

from lab.kinds import stamp

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.world import World


def secret(world: World, namespace: str, name: str, data: Object) -> Object:
    """A Secret."""
    return {
        "apiVersion": "v1",
        "data": data,
        "kind": "Secret",
        "metadata": {
            "creationTimestamp": stamp(world.seed.born),
            "name": name,
            "namespace": namespace,
            "uid": world.seed.uuid("secret", namespace, name),
        },
        "type": "Opaque",
    }


def base64(content: str) -> str:
    """As a Secret holds it."""
    return b64encode(content.encode()).decode()


def decoded(item: Object, key: str) -> str:
    """A value of a Secret."""
    return b64decode(item.get("data", {}).get(key, "")).decode()
