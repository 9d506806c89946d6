"""Snapshot files: the cluster's objects, with etcd's own trailer."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from lab.objects import Store

if TYPE_CHECKING:
    from lab.etcd import EtcdCluster
    from lab.world import World

# A page of a database comes first, so that the file looks like one for its size as well.
_MAGIC = b"\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\xed\xda\x0c\xed\2\0\0\0lab snapshot\n"
_PAGE = 512
_LEAST = 651_264
_TRAILER = 32


class SnapshotError(Exception):
    """Why a file cannot be restored, in etcd's words."""


def capture(world: World, cluster: EtcdCluster) -> bytes:
    """The file that a save makes now: size mod 512 is 32, the last 32 bytes hash the rest."""
    objects = world.store_of(cluster).everything()
    text = json.dumps({"cluster": cluster.key, "objects": objects}).encode()
    body = _MAGIC + text
    body = body.ljust(max(_LEAST, -(-len(body) // _PAGE) * _PAGE), b"\0")
    return body + hashlib.sha256(body).digest()


def restored(path: str, content: bytes) -> Store:
    """The objects in a snapshot.

    Raises:
        SnapshotError: as etcd refuses damaged files (captures: k3s-reset.out).
    """
    if len(content) < _TRAILER:
        raise SnapshotError(f"seek {path}: invalid argument")
    if len(content) % _PAGE != _TRAILER:
        raise SnapshotError("snapshot missing hash but --skip-hash-check=false")
    body, trailer = content[:-_TRAILER], content[-_TRAILER:]
    computed = hashlib.sha256(body).digest()
    if computed != trailer:
        raise SnapshotError(f"expected sha256 [{_bytes(trailer)}], got [{_bytes(computed)}]")
    text = body.removeprefix(_MAGIC).rstrip(b"\0")
    store = Store()
    for item in json.loads(text)["objects"]:
        store.put(item)
    return store


def _bytes(digest: bytes) -> str:
    return " ".join(str(byte) for byte in digest)
