"""Snapshot files, each measured by the host that has it."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.observe.answers import Misread
from fixtures.observe.snapshot_files import (
    SnapshotFiles,
    parse_available,
    parse_digest,
    parse_size,
    parse_trailer,
    typed,
)
from selftests.gates.drilling import Drilled, drilled, node
from selftests.gates.world import Reply

FOLDER = "/var/lib/rancher/rke2/server/db/snapshots"
PATH = f"{FOLDER}/x"
COPY = "~/rke2-snapshots/x"
CONTENT = b"\x00" * 512
TRAILER = hashlib.sha256(CONTENT).digest()
WHOLE = hashlib.sha256(CONTENT + TRAILER).hexdigest()
OD = "\n".join("".join(f" {byte:02x}" for byte in TRAILER[start : start + 16]) for start in (0, 16))


def answering(host: str, sudo: str, path: str, **changed: Reply) -> Drilled:
    world = drilled()
    replies = {
        "stat": (f"{sudo}stat -c '%F %s %Y' {path}", Reply("regular file 544 1796044509\n")),
        "whole": (f"{sudo}sha256sum {path}", Reply(f"{WHOLE}  {path}\n")),
        "trailer": (f"{sudo}tail -c 32 {path} | od -An -tx1", Reply(OD + "\n")),
        "body": (f"{sudo}head -c -32 {path} | sha256sum", Reply(f"{TRAILER.hex()}  -\n")),
    }
    for name, (command, reply) in replies.items():
        world.say(host, command, changed.get(name, reply))
    return world


@pytest.mark.parametrize(
    ("host", "sudo", "path"), [("rke-cp01", "sudo -n ", PATH), ("wetopi-ops01", "", COPY)]
)
def test_a_file_is_measured_by_its_own_host(host: str, sudo: str, path: str) -> None:
    world = answering(host, sudo, path)
    file = SnapshotFiles(world.cluster, world).measured(host, path)
    assert file is not None
    assert (file.kind, file.size, file.modified) == ("regular file", 544, 1796044509)
    assert (file.sha256, file.body_sha256, file.trailer) == (WHOLE, TRAILER.hex(), TRAILER.hex())


def test_a_file_that_is_not_there() -> None:
    reply = Reply(stderr=f"stat: cannot statx '{PATH}': No such file or directory\n", rc=1)
    world = answering("rke-cp01", "sudo -n ", PATH, stat=reply)
    assert SnapshotFiles(world.cluster, world).measured("rke-cp01", PATH) is None


def test_what_is_no_file_has_no_digest() -> None:
    reply = Reply("directory 4096 1796044509\n")
    failed = Reply(stderr=f"sha256sum: {PATH}: Is a directory\n", rc=1)
    world = answering("rke-cp01", "sudo -n ", PATH, stat=reply, whole=failed)
    file = SnapshotFiles(world.cluster, world).measured("rke-cp01", PATH)
    assert file is not None
    assert (file.kind, file.sha256) == ("directory", "")


@pytest.mark.parametrize(
    "changed",
    [
        {"body": Reply(f"{hashlib.sha256(b'').hexdigest()}  -\n", "head: cannot open 'x'\n")},
        {"trailer": Reply("", "tail: cannot open 'x'\n")},
        {"trailer": Reply(OD + OD)},
        {"whole": Reply(stderr="sha256sum: x: Permission denied\n", rc=1)},
        {"whole": Reply("no digest\n")},
        {"stat": Reply(stderr="stat: cannot statx 'x': Permission denied\n", rc=1)},
        {"stat": Reply("regular file\n")},
    ],
)
def test_what_cannot_be_measured_is_undecided(changed: dict[str, Reply]) -> None:
    world = answering("rke-cp01", "sudo -n ", PATH, **changed)
    with pytest.raises(Undecided, match="rke-cp01"):
        SnapshotFiles(world.cluster, world).measured("rke-cp01", PATH)


def test_a_host_that_cannot_resolve_its_own_name_still_answers() -> None:
    reply = Reply(f"{TRAILER.hex()}  -\n", "sudo: unable to resolve host rke-cp01: x\n")
    world = answering("rke-cp01", "sudo -n ", PATH, body=reply)
    assert SnapshotFiles(world.cluster, world).measured("rke-cp01", PATH)


def test_small_answers() -> None:
    assert parse_size("regular empty file 0 1\n") == ("regular empty file", 0, 1)
    assert parse_digest(f"\\{'a' * 64}  a\\nb\n") == "a" * 64
    assert parse_trailer("\n") == ""
    assert parse_available("     Avail\n 27917287424\n") == 27917287424
    assert parse_available("Verfügbar\n5\n") == 5
    for parse, text in (
        (parse_available, "Avail\n-\n"),
        (parse_size, "regular file x 1"),
        (parse_trailer, " zz"),
        (parse_digest, "a" * 64),
    ):
        with pytest.raises(Misread):
            parse(text)


@given(st.text(max_size=80))
def test_any_answer_is_read_or_refused(text: str) -> None:
    for parse in (parse_available, parse_size, parse_trailer, parse_digest):
        try:
            parse(text)
        except Misread:
            continue


def test_free_space_leftovers_and_modes() -> None:
    world = drilled()
    files = SnapshotFiles(world.cluster, world)
    world.say("wetopi-ops01", "df -B1 --output=avail ~/rke2-snapshots", Reply("Avail\n7\n"))
    assert files.free("wetopi-ops01", "~/rke2-snapshots") == 7
    world.say("rke-cp02", f"sudo -n df -B1 --output=avail {FOLDER}", Reply("Avail\n8\n"))
    assert files.free("rke-cp02", FOLDER) == 8
    find = "sudo -n find /tmp -maxdepth 2 -name 'pre-addons-fase6*'"
    world.say("rke-cp01", find, Reply("/tmp/pre-addons-fase6-x\n"))
    assert files.left_in_tmp(node("rke-cp01"), "pre-addons-fase6") == ("/tmp/pre-addons-fase6-x",)
    for path, answer in (
        ("~/rke2-snapshots", "700 ubuntu ubuntu directory\n"),
        (COPY, "600 ubuntu ubuntu regular file\n"),
    ):
        world.say("wetopi-ops01", f"stat -c '%a %U %G %F' {path}", Reply(answer))
    privacy = files.privacy("wetopi-ops01", "~/rke2-snapshots", "x")
    assert privacy.folder is not None
    assert privacy.file is not None
    assert (privacy.folder.mode, privacy.file.mode) == (0o700, 0o600)


@pytest.mark.parametrize(
    ("path", "line"),
    [("~/a b", "~/'a b'"), ("/a;b", "'/a;b'"), ("~root/x", "'~root/x'"), ("/x~/y", "'/x~/y'")],
)
def test_a_path_is_typed_so_that_only_the_home_folder_is_expanded(path: str, line: str) -> None:
    assert typed(path) == line
