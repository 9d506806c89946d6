"""P2 and P3: what is a saved, sound, private and distant snapshot, and what is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import IPv4Address
from typing import Any

import pytest

from fixtures.core.inventory import Vm
from fixtures.core.verdicts import Undecided
from fixtures.drills.snapshot import folder_on_bastion
from fixtures.judge.snapshot import (
    equal,
    listed,
    nothing_left,
    outside,
    private,
    room,
    saved,
    sound,
    taken_after,
)
from fixtures.observe.files import FileFacts
from fixtures.observe.markers import Marker
from fixtures.observe.snapshot_files import Privacy, SnapshotFile
from fixtures.observe.snapshots import Row, Save, Saved
from selftests.gates.world import wetopi

BASE, NODE = "pre-addons-fase6", "rke-cp01"
NAME = f"{BASE}-{NODE}-1796044509"
PATH = f"/var/lib/rancher/rke2/server/db/snapshots/{NAME}"
SNAPSHOT = Saved(NAME, BASE, NODE, 1796044509, compressed=False)
HASH = "a" * 64


@pytest.mark.parametrize("folder", ["~/rke2-snapshots", "/srv/backup/rke2", "~/a.b/c-d_e"])
def test_the_inventory_says_where_the_copy_is_kept(folder: str) -> None:
    assert folder_on_bastion(wetopi()) == "~/rke2-snapshots"
    assert folder_on_bastion(replace(wetopi(), operations={"snapshots": folder})) == folder
    assert folder_on_bastion(replace(wetopi(), operations={})) == "~/rke2-snapshots"


@pytest.mark.parametrize("folder", ["", "snapshots", "~", "/", "/a b", "~/x;rm -rf ~", "/a/$HOME"])
def test_a_folder_that_is_no_plain_path_is_undecided(folder: str) -> None:
    with pytest.raises(Undecided, match=r"operations\.snapshots is "):
        folder_on_bastion(replace(wetopi(), operations={"snapshots": folder}))


@pytest.mark.parametrize(
    ("rc", "names", "said", "says"),
    [
        (0, (NAME,), "", ""),
        (0, (), "", "rc 0, saved `none`"),
        (0, (NAME, NAME), "", "expected one"),
        (0, ("on-demand-rke-cp01-1",), "", "expected one"),
        (0, (f"{NAME}.zip",), "", "is compressed"),
        (1, (), "Error: see server log for details: etcd-snapshot error ID 1", "error ID 1"),
        (1, (), "Error: failed to get CA certs: connection refused", "rc 1"),
        (3, (), "No help topic for 'save'", "rc 3"),
        (1, (NAME,), "", "rc 1"),
    ],
)
def test_a_save(rc: int, names: tuple[str, ...], said: str, says: str) -> None:
    found = saved(Save(NODE, BASE, rc, names, said))
    assert bool(found) is bool(says)
    assert says in "".join(found)


@pytest.mark.parametrize(
    "said",
    [
        "Error: Post: context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
        "Error: open /var/lib/rancher/rke2/server/token: permission denied",
        "Error: see server log for details: not authorized",
    ],
)
def test_a_save_of_which_nobody_knows(said: str) -> None:
    with pytest.raises(Undecided, match="is not known"):
        saved(Save(NODE, BASE, 1, (), said))


def row(**changes: Any) -> Row:
    values = {"name": NAME, "node": NODE, "location": f"file://{PATH}", "size": 544, "ready": True}
    return Row(**(values | changes))


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([row()], ""),
        ([row(), row(location="s3://bucket/x")], ""),
        ([row(), row(name="other", size=0)], ""),
        ([], "has 0 local files"),
        ([row(), row()], "has 2 local files"),
        ([row(location="s3://bucket/x")], "has 0 local files"),
        ([row(name=f"{NAME}.part")], "has 0 local files"),
        ([row(size=0)], "has 0 bytes"),
        ([row(ready=False, error="no space left")], "`no space left`"),
        ([row(node="rke-cp02")], "listed for node `rke-cp02`"),
        ([row(location=f"file:///tmp/{NAME}")], "expected a plain path below"),
        ([row(location=f"file:///var/lib/rancher/rke2/../{NAME}")], "expected a plain path"),
        ([row(location="file://relative")], "expected a plain path"),
    ],
)
def test_a_list(rows: list[Row], says: str) -> None:
    found = listed(rows, SNAPSHOT)
    assert bool(found) is bool(says)
    assert says in "".join(found)


@pytest.mark.parametrize(("seconds", "good"), [(0, True), (5, True), (-1, False)])
def test_the_snapshot_holds_the_marker_only_if_it_is_not_older(seconds: int, good: bool) -> None:
    created = datetime.fromtimestamp(SNAPSHOT.seconds - seconds, UTC)
    assert (taken_after(SNAPSHOT, Marker("m", "u", created, "r")) == ()) is good


def file(host: str = NODE, path: str = PATH, **changes: Any) -> SnapshotFile:
    values = {
        "kind": "regular file",
        "size": 651296,
        "modified": 1,
        "sha256": "b" * 64,
        "body_sha256": HASH,
        "trailer": HASH,
    }
    return SnapshotFile(host, path, **(values | changes))


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (file(), ""),
        (None, "is not there"),
        (file(kind="regular empty file", size=0, trailer=""), "is a `regular empty file`"),
        (file(kind="symbolic link"), "is a `symbolic link`"),
        (file(kind="directory"), "is a `directory`"),
        (file(size=651264), "not whole pages of 512 and 32 more"),
        (file(size=31), "not whole pages"),
        (file(trailer="c" * 64), "it is damaged"),
        (file(trailer="", body_sha256=""), "it is damaged"),
        (file(path=f"{PATH}.zip"), "is compressed"),
    ],
)
def test_a_sound_file(seen: SnapshotFile | None, says: str) -> None:
    found = sound(seen, NODE, PATH)
    assert bool(found) is bool(says)
    assert says in "".join(found)


@pytest.mark.parametrize(
    ("copy", "good"),
    [
        (file("ops01"), True),
        (file("ops01", sha256="d" * 64), False),
        (file("ops01", size=544), False),
    ],
)
def test_both_digests_are_equal(copy: SnapshotFile, good: bool) -> None:
    found = equal(file(), copy)
    assert (found == ()) is good
    assert good or "rke-cp01" in found[0]


def test_two_files_without_a_digest_are_not_equal() -> None:
    assert equal(file(sha256=""), file(sha256=""))


def facts(mode: int, kind: str, user: str = "ubuntu") -> FileFacts:
    return FileFacts(mode, user, user, kind)


FOLDER, COPY = facts(0o700, "directory"), facts(0o600, "regular file")


@pytest.mark.parametrize(
    ("folder", "copy", "says"),
    [
        (FOLDER, COPY, ""),
        (facts(0o755, "directory"), COPY, "its folder is ubuntu:ubuntu 0755"),
        (FOLDER, facts(0o644, "regular file"), "it is ubuntu:ubuntu 0644"),
        (FOLDER, facts(0o600, "regular file", "root"), "belongs to `root`"),
        (FOLDER, facts(0o600, "symbolic link"), "symbolic link"),
        (None, COPY, "is not there"),
        (FOLDER, None, "is not there"),
    ],
)
def test_a_copy_is_private(folder: FileFacts | None, copy: FileFacts | None, says: str) -> None:
    found = private(Privacy("ops01", "~/rke2-snapshots/x", folder, copy))
    assert bool(found) is bool(says)
    assert says in "".join(found)


def test_the_bastion_of_this_cluster_is_outside() -> None:
    assert outside(wetopi()) == ()


def test_a_control_plane_takes_no_copy() -> None:
    cluster = wetopi()
    lan = replace(cluster.bastion, lan_address=IPv4Address("10.72.0.22"))
    assert "rke-cp02, a control plane" in outside(replace(cluster, bastion=lan))[0]
    named = replace(cluster.bastion, name="rke-cp03")
    assert outside(replace(cluster, bastion=named))


def test_the_same_proxmox_node_is_the_same_failure_domain() -> None:
    cluster = wetopi()
    first = cluster.first_control_plane.vm
    assert first is not None
    bastion = replace(cluster.bastion, vm=Vm(first.proxmox_node, 1))
    (finding,) = outside(replace(cluster, bastion=bastion))
    assert f"runs on {first.proxmox_node} like rke-cp01" in finding


def test_an_unknown_proxmox_node_is_undecided() -> None:
    cluster = wetopi()
    with pytest.raises(Undecided, match="wetopi-ops01 runs"):
        outside(replace(cluster, bastion=replace(cluster.bastion, vm=None)))


@pytest.mark.parametrize(("free", "good"), [(100, True), (99, False)])
def test_room(free: int, good: bool) -> None:
    found = room(free, 100, "ops01", "~/rke2-snapshots")
    assert (found == ()) is good


def test_nothing_is_left_in_tmp() -> None:
    assert nothing_left((), NODE) == ()
    (finding,) = nothing_left(("/tmp/a", "/tmp/b"), NODE)
    assert "`/tmp/a, /tmp/b`" in finding
