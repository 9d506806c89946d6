"""What Ceph, its CSI driver and the API answer of volumes: real forms, and anything else."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.inventory import ProxmoxNode
from fixtures.core.requests import HostCommand
from fixtures.core.verdicts import Undecided
from fixtures.judge.csi_logs import counts, unresolved
from fixtures.judge.findings import said
from fixtures.judge.storage_class import facts, is_as_designed
from fixtures.observe.answers import Misread
from fixtures.observe.ceph_settings import parse_tracked, parse_user
from fixtures.observe.mounted import Device, device_at
from fixtures.observe.pod_logs import PodLog, parse_log
from fixtures.observe.rbd import Rbd, parse_images, parse_trash
from fixtures.observe.storage_class import parse_class
from fixtures.observe.volumes import parse_claim, parse_volume, parse_volumes
from selftests.gates.world import World, wetopi
from selftests.observe.damage import AnyAnswer, quick

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fixtures.core.requests import Request

CLASS = {
    "kind": "StorageClass",
    "metadata": {"name": "ceph-rbd", "uid": "u"},
    "provisioner": "rbd.csi.ceph.com",
    "allowVolumeExpansion": True,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "WaitForFirstConsumer",
    "parameters": {
        "clusterID": "6c4f1d3e",
        "pool": "kubernetes",
        "csi.storage.k8s.io/provisioner-secret-name": "csi-rbd-secret",
        "csi.storage.k8s.io/provisioner-secret-namespace": "kube-system",
        "csi.storage.k8s.io/node-stage-secret-name": "csi-rbd-secret",
        "csi.storage.k8s.io/node-stage-secret-namespace": "kube-system",
    },
}
CLAIM = {
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "c", "uid": "u", "creationTimestamp": "2026-08-30T03:00:00Z"},
    "spec": {"volumeName": "pvc-u"},
    "status": {"phase": "Bound"},
}
VOLUME = {
    "kind": "PersistentVolume",
    "metadata": {"name": "pvc-u"},
    "spec": {
        "claimRef": {"name": "c", "namespace": "n", "uid": "u"},
        "csi": {
            "driver": "rbd.csi.ceph.com",
            "volumeHandle": "0001-u",
            "volumeAttributes": {"imageName": "csi-vol-1", "pool": "kubernetes"},
        },
        "persistentVolumeReclaimPolicy": "Retain",
    },
    "status": {"phase": "Released"},
}
STATIC = {"metadata": {"name": "nfs"}, "spec": {"nfs": {"server": "x", "path": "/"}}, "status": {}}
VOLUMES = {"kind": "PersistentVolumeList", "items": [VOLUME, STATIC]}
IMAGES = '["csi-vol-1","csi-vol-2"]'
TRASH = '[{"id":"1e7a","name":"csi-vol-3"}]'
TRACKED = "csiConfig:\n  - clusterID: 6c4f1d3e  # fsid\n    monitors: [192.168.96.10:6789]\n"
LOG = (
    "2026-08-30T03:00:00.123456789Z "
    "I0830 03:00:00.000000       1 utils.go:1] GRPC response: {} pvc\n"
    "2026-08-30T03:00:01+02:00 plain text\n"
)
SECRET = {"kind": "Secret", "data": {"userID": "a3ViZXJuZXRlcw==", "userKey": "a2V5"}}
MOUNTS = "overlay / overlay rw 0 0\n/dev/rbd0 /mnt/data ext4 rw 0 0\n"


def judged_class(text: str) -> object:
    seen = parse_class(text)
    json.dumps(facts(seen))
    return said(is_as_designed(seen, wetopi()))


def judged_log(text: str) -> object:
    logs = [PodLog("p", parse_log("c", text))]
    json.dumps(counts(logs, ("pvc", "")))
    with suppress(Undecided):
        return said(unresolved(logs, ("pvc",)))
    return None


SAMPLES: dict[str, tuple[Callable[[str], object], str]] = {
    "class": (judged_class, json.dumps(CLASS)),
    "claim": (parse_claim, json.dumps(CLAIM)),
    "volume": (parse_volume, json.dumps(VOLUME)),
    "volumes": (parse_volumes, json.dumps(VOLUMES)),
    "images": (parse_images, IMAGES),
    "trash": (parse_trash, TRASH),
    "tracked": (lambda text: parse_tracked("values.yaml", text), TRACKED),
    "log": (judged_log, LOG),
    "secret": (parse_user, json.dumps(SECRET)),
    "mounts": (lambda text: Device(device_at(text, "/mnt/data")).foreign, MOUNTS),
}


class TestAnyAnswer(AnyAnswer):
    samples = SAMPLES


@quick
@given(data=st.data())
def test_the_content_of_a_secret_stays_where_it_is_read(data: st.DataObject) -> None:
    """Nothing but verdicts, whatever its keys hold."""
    content = data.draw(st.text(min_size=8, max_size=40))
    text = json.dumps({"data": {"userID": content, "userKey": content}})
    assert content not in repr(parse_user(text))


def test_what_the_pool_holds() -> None:
    assert parse_images(IMAGES) == {"csi-vol-1", "csi-vol-2"}
    assert parse_images("[]") == frozenset()
    assert parse_trash(TRASH) == {"csi-vol-3"}
    assert parse_trash("[]") == frozenset()
    for parse in (parse_images, parse_trash):
        for text in ("", "null", "{}", "csi-vol-1\n"):
            with pytest.raises(Misread):
                parse(text)
    with pytest.raises(Misread):
        parse_trash(IMAGES)
    with pytest.raises(Misread):
        parse_trash('[{"id":"1e7a","name":""}]')


def test_volumes_of_any_driver_are_listed_with_the_namespace_of_their_claim() -> None:
    ceph, nfs = parse_volumes(json.dumps(VOLUMES))
    assert (ceph.space, ceph.image, ceph.pool, ceph.retained) == (
        "n",
        "csi-vol-1",
        "kubernetes",
        True,
    )
    assert (nfs.space, nfs.image, nfs.retained) == ("", "", False)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, ""),
        ({"allowVolumeExpansion": None}, None),
        ({"allowVolumeExpansion": False}, "allowVolumeExpansion is not true"),
        ({"provisioner": "cephfs.csi.ceph.com"}, "expected rbd.csi.ceph.com"),
        ({"provisioner": "x.rbd.csi.ceph.com"}, "expected rbd.csi.ceph.com"),
        ({"reclaimPolicy": "Retain"}, "images stay"),
        ({"parameters": {**CLASS["parameters"], "pool": "kubernetes2"}}, "expected kubernetes"),  # type: ignore[dict-item]
        ({"parameters": {**CLASS["parameters"], "clusterID": "<id>"}}, "clusterID is"),  # type: ignore[dict-item]
        ({"parameters": {}}, "its node-stage Secret is"),
    ],
)
def test_the_class(change: dict[str, Any], found: str | None) -> None:
    text = json.dumps({**CLASS, **change})
    if found is None:
        with pytest.raises(Misread):
            parse_class(text)
    else:
        seen = said(is_as_designed(parse_class(text), wetopi()))
        assert (found in seen) if found else not seen


def test_absent_keys_of_a_class_are_as_the_api_fills_them_in() -> None:
    few = {key: CLASS[key] for key in ("kind", "metadata", "provisioner")}
    seen = parse_class(json.dumps(few))
    assert (seen.expands, seen.reclaim, seen.binding) == (False, "Delete", "Immediate")


def asked_of(names: dict[str, str], *proxmox: ProxmoxNode) -> Sequence[Request]:
    cluster = replace(wetopi(), names=names, proxmox=proxmox)
    return Rbd.held.requests(cluster, "kubernetes")


def test_where_rbd_is_asked() -> None:
    images, trash = asked_of({"rbd_host": "rke-cp02", "rbd_user": "csi-reader"})
    assert isinstance(images, HostCommand)
    assert isinstance(trash, HostCommand)
    assert images.host == "rke-cp02"
    assert images.command == "sudo -n rbd --id csi-reader ls kubernetes --format json"
    assert trash.command == "sudo -n rbd --id csi-reader trash ls kubernetes --format json --all"
    (first, _) = asked_of({"rbd_host": "px1"}, ProxmoxNode("px1", "192.0.2.11", 22, "root"))
    assert isinstance(first, HostCommand)
    assert (first.host, first.command) == ("px1", "rbd ls kubernetes --format json")


def test_without_a_host_for_rbd_it_is_said_what_to_set() -> None:
    for names, why in (
        ({}, "has no `rbd_host`"),
        ({"rbd_host": "mon1"}, "`rbd_host: mon1`, which"),
    ):
        assert asked_of(names) == []
        cluster = replace(wetopi(), names=names)
        with pytest.raises(Undecided) as undecided:
            Rbd(cluster, World(cluster)).held("kubernetes")
        text = str(undecided.value)
        assert why in text
        for part in (
            "wetopi.yaml",
            "wetopi-ops01, rke-cp01",
            "ceph-common",
            "mon_host = 192.168.96.10",
            "`rbd_host: HOST` and `rbd_user: USER` under `names:`",
            "profile rbd-read-only pool=kubernetes",
            "on a Ceph host: rbd ls kubernetes; rbd trash ls --all kubernetes",
        ):
            assert part in text
