"""Ceph's CSI driver: claims get volumes, pods mount them, what is deleted leaves the pool."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lab import apiwrites
from lab.admission import admits
from lab.cluster import events
from lab.cluster.work import server
from lab.filesystem import FileSystem
from lab.kinds import stamp
from lab.storage import DRIVER, FSID, POOL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.cluster.containers import Container
    from lab.cluster.work import Work
    from lab.objects import Object, Store
    from lab.world import World

_CLAIM = "PersistentVolumeClaim"
_VOLUME = "PersistentVolume"
_DRIVER = "csi-rbdplugin"
_PROVISIONER = f"{DRIVER}_ceph-csi-rbd-provisioner"


@admits(_CLAIM)
def claim(world: World, store: Store, item: Object) -> None:
    """It is Pending at birth."""
    del world, store
    item["spec"] = {"volumeMode": "Filesystem"} | dict(item.get("spec") or {})
    item["status"] = {"phase": "Pending"}


def begin(world: World, store: Store, work: Work) -> None:
    """Act on claims from now on."""

    def notice(before: Object | None, after: Object | None) -> None:
        item = after or before
        assert item is not None
        if item["kind"] == _CLAIM and after is None:
            _release(world, store, item)
        elif item["kind"] == _CLAIM and after is not None and "volumeName" not in after["spec"]:
            place = (item["metadata"]["namespace"], item["metadata"]["name"])
            act = partial(_provision, world, store, *place)
            work.soon(world, world.pace.provision, ("provision", *place), act)

    store.watch(notice)


def _provision(world: World, store: Store, namespace: str, name: str) -> None:
    item = store.get(_CLAIM, namespace, name)
    if item is None or "volumeName" in item["spec"]:
        return
    of_class = store.peek("StorageClass", "", item["spec"].get("storageClassName", ""))
    if of_class is None or of_class["provisioner"] != DRIVER:
        return
    storage, metadata = world.storage, item["metadata"]
    volume = f"pvc-{metadata['uid']}"
    if not storage.provisions:
        why = (
            f'failed to provision volume with StorageClass "{of_class["metadata"]["name"]}": rpc '
            "error: code = DeadlineExceeded desc = context deadline exceeded"
        )
        events.record(world, store, item, "ProvisioningFailed", why, source=_PROVISIONER)
        _log(world, store, "csi-provisioner", "E", f"{name}: {why}")
        return
    ident = world.seed.uuid("image", metadata["uid"])
    image, handle = f"csi-vol-{ident}", f"0001-0024-{FSID}-0000000000000002-{ident}"
    for text in storage.errors:
        line = text.replace("VOLUME", volume).replace("IMAGE", image)
        _log(world, store, _DRIVER, "E", line)
    storage.images.append(image)
    call = f"ID: 27 Req-ID: {volume} GRPC "
    _log(world, store, _DRIVER, "I", f"{call}call: CreateVolume")
    _log(world, store, _DRIVER, "I", f"{call}response: volume_id {handle}")
    text = f"successfully created PV {volume} for PVC {name} and csi volume name {handle}"
    _log(world, store, "csi-provisioner", "I", text)
    store.put(_volume(world, item, of_class, image, handle))
    item["spec"]["volumeName"] = volume
    item["status"] = {"phase": "Bound", "accessModes": item["spec"].get("accessModes", [])}
    store.put(item)


def _volume(world: World, of: Object, of_class: Object, image: str, handle: str) -> Object:
    metadata = of["metadata"]
    reference = {key: metadata[key] for key in ("name", "namespace", "uid")}
    attributes = {"clusterID": FSID, "imageName": image, "pool": POOL}
    return {
        "apiVersion": "v1",
        "kind": _VOLUME,
        "metadata": {
            "annotations": {"pv.kubernetes.io/provisioned-by": DRIVER},
            "creationTimestamp": stamp(world.now()),
            "name": f"pvc-{metadata['uid']}",
            "uid": world.seed.uuid("volume", metadata["uid"]),
        },
        "spec": {
            "accessModes": of["spec"].get("accessModes", []),
            "claimRef": {"apiVersion": "v1", "kind": _CLAIM, **reference},
            "csi": {"driver": DRIVER, "volumeAttributes": attributes, "volumeHandle": handle},
            "persistentVolumeReclaimPolicy": of_class.get("reclaimPolicy", "Delete"),
            "storageClassName": of_class["metadata"]["name"],
            "volumeMode": "Filesystem",
        },
        "status": {"phase": "Bound"},
    }


def _release(world: World, store: Store, of: Object) -> None:
    """The claim is gone: its volume is released, and deleted unless it is to be retained."""
    volume = store.get(_VOLUME, "", of["spec"].get("volumeName", ""))
    if volume is None:
        return
    storage, csi = world.storage, volume["spec"]["csi"]
    image = csi["volumeAttributes"]["imageName"]
    if volume["spec"]["persistentVolumeReclaimPolicy"] != "Delete" or storage.keeps:
        volume["status"]["phase"] = "Released"
        store.put(volume)
        return
    storage.images.remove(image)
    if storage.trashes:
        storage.trash.append(image)
    if storage.halves:
        storage.removing.append(image)
    storage.contents.pop(csi["volumeHandle"], None)
    name = volume["metadata"]["name"]
    for text in storage.last_errors:
        line = text.replace("VOLUME", name).replace("IMAGE", image)
        _log(world, store, _DRIVER, "E", line)
    if not storage.last_errors:
        text = f"persistent volume {name} with image {image} deleted"
        _log(world, store, "csi-provisioner", "I", text)
    if storage.restarts:
        _restart(world, store)
    host = server(world)
    if storage.stays:
        volume["status"]["phase"] = "Released"
        store.put(volume)
    elif host is not None:
        apiwrites.finish(world, store, volume)


def _restart(world: World, store: Store) -> None:
    """The first provisioner's driver ends and is started again: its log is the former one now."""
    pods = store.select("Pod", labels={"app": "ceph-csi-rbd", "component": "provisioner"})
    for status in pods[0]["status"]["containerStatuses"] if pods else ():
        if status["name"] == _DRIVER:
            container = world.containers.of(world, pods[0], _DRIVER)
            container.former = bytearray(container.log)
            container.log.clear()
            container.marks.clear()
            status["restartCount"] = status.get("restartCount", 0) + 1
            store.put(pods[0])


def why_not_mounted(world: World, store: Store, pod: Object) -> tuple[str, str]:
    """Reason and message of the event that tells why a pod's volumes are not mounted; empty if not.

    A claim that is not bound yet is waited for without an event.
    """
    for _, volume in _claimed(store, pod):
        if volume is None:
            return "", "waits for its claim"
        if world.storage.mount_error:
            name = volume["metadata"]["name"]
            return "FailedMount", f'MountVolume.MountDevice failed for volume "{name}" : ' + (
                world.storage.mount_error
            )
    return "", ""


def mount(world: World, store: Store, pod: Object, container: Container) -> None:
    """Let the container see what is on its pod's volumes."""
    mounts = b"overlay / overlay rw,relatime 0 0\nproc /proc proc rw,nosuid 0 0\n"
    for path, volume in _claimed(store, pod):
        if volume is not None:
            handle = volume["spec"]["csi"]["volumeHandle"]
            container.host.files.folder(path)
            container.host.files.take_over(world.storage.contents.get(handle, FileSystem()), path)
            device = world.storage.device
            mounts += f"{device} {path} ext4 rw,relatime,stripe=16 0 0\n".encode()
    container.host.files.file("/proc/mounts", mounts, 0o444)


def unmount(world: World, store: Store, pod: Object) -> None:
    """What is on its volumes stays there."""
    for path, volume in _claimed(store, pod):
        if volume is None or world.storage.forgets:
            continue
        name = pod["spec"]["containers"][0]["name"]
        kept = FileSystem()
        kept.take_over(world.containers.of(world, pod, name).host.files, path)
        world.storage.contents[volume["spec"]["csi"]["volumeHandle"]] = kept


def _claimed(store: Store, pod: Object) -> Iterator[tuple[str, Object | None]]:
    """Where the pod's first container mounts claims, and their volumes."""
    paths = {
        each["name"]: each["mountPath"]
        for each in pod["spec"]["containers"][0].get("volumeMounts", ())
    }
    for each in pod["spec"].get("volumes", ()):
        if "persistentVolumeClaim" in each and each["name"] in paths:
            name = each["persistentVolumeClaim"]["claimName"]
            found = store.peek(_CLAIM, pod["metadata"]["namespace"], name)
            volume = found and found["spec"].get("volumeName")
            yield paths[each["name"]], store.get(_VOLUME, "", volume) if volume else None


def _log(world: World, store: Store, container: str, level: str, text: str) -> None:
    """A klog line of the first provisioner."""
    pods = store.select("Pod", labels={"app": "ceph-csi-rbd", "component": "provisioner"})
    if pods and not world.storage.silent:
        now = world.now()
        line = f"{level}{now:%m%d %H:%M:%S.%f}       1 utils.go:240] {text}"
        world.containers.of(world, pods[0], container).say(line, now)
