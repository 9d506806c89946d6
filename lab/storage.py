"""The storage beyond the nodes, what the operator makes for it, and how etcd keeps Secrets."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from lab.kinds import stamp
from lab.kube_secret import secret
from lab.phase import Phase

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.filesystem import FileSystem
    from lab.objects import Object, Store
    from lab.world import World

POOL: Final = "kubernetes"
FSID: Final = "6c4f1d3e-8a07-4b5c-9d21-0f5e7a9b3c64"
CLASS: Final = "ceph-rbd"
DRIVER: Final = "rbd.csi.ceph.com"
SECRET: Final = ("kube-system", "csi-rbd-secret")


@dataclass(slots=True)
class Storage:
    """What the pool holds, and what goes wrong with it.

    Attributes:
        images: names in the pool.
        trash: names in the pool's trash.
        removing: names there of which the removal was begun; they are not listed with the others.
        contents: what is on a volume that no pod has mounted, by its handle.
        awaited: Secrets that the operator makes as soon as somebody looks for them, by namespace
            and name.
        note: told of each that was made: namespace, name, time stamp.
        raw: how etcd keeps a Secret by decree, by namespace and name; empty is for all others.
        provisions: claims get their volumes.
        keeps, trashes, halves: what is deleted stays in the pool, waits in its trash, or its
            removal there is cut off.
        stays: the image of a deleted claim goes, its volume stays.
        forgets: what was written is lost with the pod.
        device: what a pod has mounted for a volume.
        mount_error: why no volume can be mounted.
        rbd_error: why `rbd` fails.
        errors: lines that the driver logs of each volume when it makes it.
        last_errors: lines that it logs when it has removed it.
        silent: it logs nothing of volumes.
        restarts: it ends and is started again when it has removed a volume.
    """

    images: list[str] = field(default_factory=list)
    trash: list[str] = field(default_factory=list)
    removing: list[str] = field(default_factory=list)
    contents: dict[str, FileSystem] = field(default_factory=dict)
    awaited: dict[tuple[str, str], Object] = field(default_factory=dict)
    note: Callable[[str, str, str], None] = lambda *_: None
    raw: dict[tuple[str, str], str] = field(default_factory=dict)
    provisions: bool = True
    keeps: bool = False
    trashes: bool = False
    halves: bool = False
    stays: bool = False
    forgets: bool = False
    device: str = "/dev/rbd0"
    mount_error: str = ""
    rbd_error: str = ""
    errors: list[str] = field(default_factory=list)
    last_errors: list[str] = field(default_factory=list)
    silent: bool = False
    restarts: bool = False


def prepare(world: World) -> None:
    """What there is of it at the world's phase."""
    if not world.phase.reached(Phase.F):
        return
    # Of other claims: that there is no image of one's own says nothing of these.
    world.storage.images = ["csi-vol-0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9"]
    world.bastion.files.binary("/usr/bin/rbd", "rbd")
    world.storage.awaited[SECRET] = _secret(world)
    world.objects.put(_storage_class(world))


def missed(world: World, store: Store, namespace: str, name: str) -> None:
    """Somebody looks for a Secret that is yet to be made: the operator just makes it.

    The runbook's order, check (i) and then the Secret, takes an operator more than a second; the
    time stamp says so although nobody waits here.
    """
    awaited = world.storage.awaited.pop((namespace, name), None)
    if awaited is not None:
        made = stamp(world.now() + timedelta(seconds=1))
        awaited["metadata"]["creationTimestamp"] = made
        store.put(awaited)
        world.storage.note(namespace, name, made)


def stored(world: World, secret: Object) -> bytes:
    """The value that etcd has for a Secret (captures: k3s-encrypt.out)."""
    metadata = secret["metadata"]
    decreed = world.storage.raw
    form = decreed.get((metadata["namespace"], metadata["name"]), decreed.get(("", ""), ""))
    known = world.first_control_plane.encryption
    if form == "empty":
        return b""
    if form == "json":
        return b'{"kind":"Secret","apiVersion":"v1","data":{}}'
    if form == "plaintext" or (not form and not known.enabled):
        body = repr(secret.get("data", {})).encode()
        return b"k8s\0\n\x0c\n\x02v1\x12\x06Secret\x12" + bytes([len(body) & 0x7F]) + body
    kind = form or "aescbc"
    hidden = world.seed.hex("at rest", metadata["uid"], kind, digits=600)
    return f"k8s:enc:{kind}:v1:{known.key}:".encode() + bytes.fromhex(hidden)


def _secret(world: World) -> Object:
    data = {
        "userID": "a3ViZXJuZXRlcy1jc2k=",
        "userKey": "QVFEX2xhYl9vbmx5X25vdF9hX2tleV9hdF9hbGxfPT0=",
    }
    return secret(world, *SECRET, data)


def _storage_class(world: World) -> Object:
    parameters = {"clusterID": FSID, "pool": POOL, "imageFeatures": "layering"}
    for step in ("provisioner", "controller-expand", "node-stage"):
        parameters |= {
            f"csi.storage.k8s.io/{step}-secret-name": SECRET[1],
            f"csi.storage.k8s.io/{step}-secret-namespace": SECRET[0],
        }
    return {
        "allowVolumeExpansion": True,
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "creationTimestamp": stamp(world.seed.born),
            "name": CLASS,
            "uid": world.seed.uuid("storageclass", CLASS),
        },
        "parameters": parameters,
        "provisioner": DRIVER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    }
