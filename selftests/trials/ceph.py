"""A Kubernetes API with a CSI driver and its pool, and what goes wrong with them on request."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fixtures.core.requests import HostCommand, Output
from selftests.gates.world import AT, wetopi
from selftests.trials.cluster import Api, Ran

if TYPE_CHECKING:
    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Answer, KubeChange, Request

VOLUMES = "/api/v1/persistentvolumes"
DRIVERS = "/api/v1/namespaces/kube-system/pods"
MOUNTS = "overlay / overlay rw 0 0\n/dev/rbd0 /mnt/data ext4 rw 0 0\n"


def with_rbd() -> Cluster:
    cluster = wetopi()
    return replace(cluster, names={**cluster.names, "rbd_host": cluster.bastion.name})


def driver(name: str, uid: str = "", restarts: int = 0) -> dict[str, Any]:
    state = {"name": "csi-rbdplugin", "ready": True, "restartCount": restarts, "state": {}}
    labels = {"app": "ceph-csi-rbd", "component": "provisioner"}
    about = {"name": name, "namespace": "kube-system", "uid": uid or name, "labels": labels}
    return {
        "metadata": about,
        "spec": {"nodeName": "rke-platform01"},
        "status": {"phase": "Running", "containerStatuses": [state]},
    }


@dataclass
class CephApi(Api):
    """The API of a cluster whose claims get volumes.

    Attributes:
        images, trash: names in the pool, and in its trash.
        drivers: the driver's pods.
        provisions: claims are bound at once.
        reclaim: of new volumes.
        keeps: the driver deletes neither image nor volume.
        keeps_volume: it deletes the image only.
        trashes: a deleted image waits in the trash.
        sticks: parts of paths of objects that stay when they are deleted.
        rbd: rc of `rbd`.
        mounts: what a pod tells of its mounts.
        marker: what is on the volume.
        forgets: it is lost with the pod.
        of: merged into each new volume's spec.
        notes: annotations of each new volume.
        between: once, the trash is listed just before an image is moved there.
    """

    cluster: Cluster = field(default_factory=with_rbd)
    images: list[str] = field(default_factory=lambda: ["csi-vol-theirs"])
    trash: list[str] = field(default_factory=list)
    drivers: list[dict[str, Any]] = field(default_factory=lambda: [driver("provisioner-0")])
    provisions: bool = True
    reclaim: str = "Delete"
    keeps: bool = False
    keeps_volume: bool = False
    trashes: bool = False
    sticks: tuple[str, ...] = ()
    rbd: int = 0
    mounts: str = MOUNTS
    marker: str = ""
    forgets: bool = False
    of: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    between: bool = False

    def __post_init__(self) -> None:
        self.runs = self._runs

    def _runs(self, argv: tuple[str, ...]) -> Ran:
        if argv == ("cat", "/proc/mounts"):
            return 0, self.mounts, ""
        if argv[0] == "sh":
            self.marker = argv[-1]
        return 0, self.marker, ""

    def _answer(self, request: Request) -> Answer:
        if not isinstance(request, HostCommand):
            return super()._answer(request)
        self.sent.append(request)
        held = self.trash if " trash " in request.command else self.images
        if held is self.trash and held and self.between:
            held, self.between = [], False
        rows: list[Any] = [*held]
        if " trash " in request.command:
            rows = [{"id": "1e7a", "name": name} for name in held]
        said = json.dumps(rows) if not self.rbd else ""
        complaint = "rbd: couldn't connect to the cluster!" if self.rbd else ""
        return Output(request, self.rbd, said.encode(), complaint.encode(), AT, 0.1)

    def _put(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        made = super()._put(path, body)
        if body["kind"] == "PersistentVolumeClaim":
            made["status"] = {"phase": "Pending"}
            if self.provisions:
                self._provision(made)
        return made

    def _provision(self, claim: dict[str, Any]) -> None:
        metadata = claim["metadata"]
        name, image = f"pvc-{metadata['uid']}", f"csi-vol-{metadata['uid']}"
        self.images.append(image)
        attributes = {"imageName": image, "pool": "kubernetes"}
        spec = {
            "claimRef": {key: metadata[key] for key in ("name", "namespace", "uid")},
            "csi": {
                "driver": "rbd.csi.ceph.com",
                "volumeHandle": f"0001-{metadata['uid']}",
                "volumeAttributes": attributes,
            },
            "persistentVolumeReclaimPolicy": self.reclaim,
        }
        self.objects[f"{VOLUMES}/{name}"] = {
            "kind": "PersistentVolume",
            "metadata": {"name": name, "uid": name, "annotations": self.notes},
            "spec": spec | self.of,
            "status": {"phase": "Bound"},
        }
        claim["spec"]["volumeName"] = name
        claim["status"] = {"phase": "Bound"}

    def _got(self, target: str) -> tuple[int, dict[str, Any]]:
        path = target.partition("?")[0]
        if path == VOLUMES:
            items = [each for each in self.objects.values() if each["kind"] == "PersistentVolume"]
            return 200, {"kind": "PersistentVolumeList", "items": items}
        if path == DRIVERS:
            return 200, {"kind": "PodList", "items": self.drivers}
        found = super()._got(target)
        self._release()
        return found

    def _delete(self, request: KubeChange) -> tuple[int, dict[str, Any]]:
        status, item = super()._delete(request)
        inside = "/persistentvolumeclaims/" in request.path or "/pods/" in request.path
        if status == 200 and inside and not any(part in request.path for part in self.sticks):
            del self.objects[request.path]
            self.marker = "" if self.forgets else self.marker
            self._release()
        return status, item

    def _age(self, path: str) -> None:
        if not any(part in path for part in self.sticks):
            super()._age(path)

    def _release(self) -> None:
        """What the driver does about volumes whose claims are gone."""
        claims = {
            each["metadata"]["uid"]
            for each in self.objects.values()
            if each.get("kind") == "PersistentVolumeClaim"
        }
        for path, item in [*self.objects.items()]:
            if item.get("kind") != "PersistentVolume" or path.rpartition("/pvc-")[2] in claims:
                continue
            item["status"]["phase"] = "Released"
            if self.keeps or self.reclaim != "Delete":
                continue
            image = f"csi-vol-{path.rpartition('/pvc-')[2]}"
            if image in self.images:
                self.images.remove(image)
                self.trash += [image] if self.trashes else []
            if not self.keeps_volume:
                del self.objects[path]
