"""Snapshots of the lab: what a save says, and what is in the file."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.snapshots import SnapshotError, capture, restored
from selftests.lab.living import DB, Living, live
from selftests.lab.world import world_at

CP = "rke-cp01"
SAVE = "sudo -n /usr/local/bin/rke2 etcd-snapshot save --name pre-addons-fase6"


def test_a_save_says_so_on_stderr_and_warns_once_per_value() -> None:
    async def test(lab: Living) -> None:
        said = await lab.ask(CP, SAVE)
        lines = said.err.splitlines()
        assert (said.rc, said.out) == (0, "")
        assert 'level=info msg="Snapshot pre-addons-fase6-rke-cp01-' in lines[-1]
        assert sum("Unknown flag --tls-san" in line for line in lines) == 4
        assert lines[0].endswith('found in config.yaml, skipping\\\\n"')
        listed = json.loads(
            await lab.must(CP, "sudo -n /usr/local/bin/rke2 etcd-snapshot ls -o json")
        )
        (item,) = listed["items"]
        assert item["spec"]["snapshotName"] in lines[-1]
        path = item["spec"]["location"].removeprefix("file://")
        size = int(await lab.must(CP, f"sudo -n stat -c %s {path}"))
        assert (str(size), size % 512) == (item["status"]["size"], 32)
        trailer = await lab.must(CP, f"sudo -n sh -c 'tail -c 32 {path} | od -An -tx1'")
        body = await lab.must(CP, f"sudo -n sh -c 'head -c {size - 32} {path} | sha256sum'")
        assert trailer.replace(" ", "").replace("\n", "") == body.split()[0]

    live(test)


@pytest.mark.parametrize(
    ("how", "rc", "said", "files"),
    [
        ("silent", 0, "", 0),
        ("no-line", 0, "", 1),
        ("empty", 0, "saved.", 1),
        ("learner", 0, "not supported for learner", 0),
        ("in-progress", 1, "etcd-snapshot error ID", 0),
        ("timeout", 1, "context deadline exceeded", 1),
    ],
)
def test_a_save_that_goes_wrong(how: str, rc: int, said: str, files: int) -> None:
    async def test(lab: Living) -> None:
        answer = await lab.ask(CP, SAVE)
        rest = [line for line in answer.err.splitlines() if "Unknown flag" not in line]
        assert answer.rc == rc
        assert bool(rest) == bool(said)
        assert said in "".join(rest)
        assert len(lab.world.hosts[CP].files.children(f"{DB}/snapshots")) == files

    live(test, ("snapshot-save", how))


def test_a_full_disk_and_a_slash_fail_in_silence() -> None:
    async def test(lab: Living) -> None:
        for line in (SAVE, "sudo -n rke2 etcd-snapshot save --name a/b"):
            answer = await lab.ask(CP, line)
            assert answer.rc == 0
            assert "saved" not in answer.err

    live(test, ("disk-full", {"host": CP, "bytes": 100}))


def test_without_a_supervisor_there_is_no_answer() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP, "sudo -n systemctl stop rke2-server")
        for words in ("etcd-snapshot ls", "secrets-encrypt status"):
            answer = await lab.ask(CP, f"sudo -n rke2 {words}")
            assert answer.rc == 1
            assert "127.0.0.1:9345: connect: connection refused" in answer.err

    live(test)


def test_a_snapshot_holds_the_objects_of_its_moment() -> None:
    world = world_at("c")
    content = capture(world, world.etcd[0])
    world.objects.delete("Namespace", "", "default")
    store = restored("/x", content)
    assert store.get("Namespace", "", "default") is not None
    assert store.get("Node", "", CP) is not None


@given(st.integers(0, 651_263), st.integers(1, 255))
def test_one_wrong_byte_is_found(at: int, other: int) -> None:
    content = bytearray(SOUND)
    content[at] ^= other
    with pytest.raises(SnapshotError, match=r"expected sha256 \["):
        restored("/x", bytes(content))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "seek /x: invalid argument"),
        (b"not a snapshot", "seek /x: invalid argument"),
        (b"\0" * 4096, "snapshot missing hash but --skip-hash-check=false"),
        (b"\0" * 4128, "expected sha256 [0 0"),
    ],
)
def test_other_files_are_refused_in_etcds_words(content: bytes, said: str) -> None:
    with pytest.raises(SnapshotError) as refusal:
        restored("/x", content)
    assert str(refusal.value).startswith(said)


SOUND = capture(_world := world_at("c"), _world.etcd[0])
assert hashlib.sha256(SOUND[:-32]).digest() == SOUND[-32:]
