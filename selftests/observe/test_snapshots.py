"""Snapshots as the real tool told of them."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.requests import HostCommand, Output
from fixtures.core.verdicts import Undecided
from fixtures.observe.answers import Misread
from fixtures.observe.snapshots import (
    Row,
    Snapshots,
    is_below,
    parse_name,
    parse_rows,
    parse_save,
    quantity,
    save,
    saved_by,
)
from selftests.gates.drilling import drilled, node
from selftests.gates.world import Reply
from selftests.observe import k3s

if TYPE_CHECKING:
    from fixtures.observe.snapshots import Save

AT = datetime(2026, 11, 30, tzinfo=UTC)
FOLDER = "/var/lib/rancher/rke2/server/db/snapshots"
SAVE = "sudo -n /usr/local/bin/rke2 etcd-snapshot save --name pre-addons-fase6"
LIST = "sudo -n /usr/local/bin/rke2 etcd-snapshot ls -o json"


def told(stderr: str, rc: int = 0, base: str = "pre-addons-fase6") -> Save:
    request = HostCommand("rke-cp01", SAVE, 1)
    return parse_save(Output(request, rc, b"", stderr.encode(), AT, 0.1), "rke-cp01", base)


def test_a_good_save_among_warnings() -> None:
    ((host, run),) = k3s.runs("snapshot", r"^etcd-snapshot save --name pre-addons-fase6$")
    assert host == "rke-cp01"
    snapshot = told(run.stderr, run.rc).snapshot
    assert snapshot is not None
    assert snapshot.name == "pre-addons-fase6-rke-cp01-1796044509"
    assert (snapshot.seconds, snapshot.compressed) == (1796044509, False)


@pytest.mark.parametrize("base", ["fulldisk", "readonly", "a/b"])
def test_a_save_that_fails_without_a_word(base: str) -> None:
    ((_, run),) = k3s.runs("snapshot", rf"^etcd-snapshot save --name {base}$")
    save = told(run.stderr, run.rc, base)
    assert (save.rc, save.names, save.said, save.snapshot) == (0, (), "", None)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("save --name nodir .*", "etcd-snapshot error ID 62030"),
        ("save --name down", "connect: connection refused"),
        ("save --name noquorum2", "Client.Timeout exceeded while awaiting headers"),
        ("save foo", "this command does not take any arguments"),
        ("save --nam x", "flag provided but not defined"),
    ],
)
def test_a_save_that_says_why_it_failed(command: str, says: str) -> None:
    ((_, run),) = k3s.runs("snapshot", rf"^etcd-snapshot {command}$")
    save = told(run.stderr, run.rc)
    assert save.rc == 1
    assert says in save.said
    assert save.snapshot is None


def test_a_compressed_save() -> None:
    run = k3s.runs("snapshot", r"save --name zipped --snapshot-compress")[0][1]
    snapshot = told(run.stderr, run.rc, "zipped").snapshot
    assert snapshot is not None
    assert snapshot.compressed


def test_a_save_on_a_terminal() -> None:
    line = (
        "\x1b[36mINFO\x1b[0m[0000] Snapshot pre-addons-fase6-rke-cp01-1796045898 saved.      \r\n"
    )
    assert told(line).snapshot is not None


@pytest.mark.parametrize(
    "stderr",
    [
        'level=warning msg="Snapshot pre-addons-fase6-rke-cp01-1 saved."',
        'level=info msg="it printed: Snapshot pre-addons-fase6-rke-cp01-1 saved."',
        'level=info msg="Snapshot pre-addons-fase6-rke-cp02-1 saved."',
        'level=info msg="Snapshot pre-addons-fase6-rke-cp01-1.part saved."',
        'level=info msg="Snapshot other-pre-addons-fase6-rke-cp01-1 saved."',
        'level=info msg="Snapshot on-demand-rke-cp01-1 saved."',
        'level=info msg="Snapshot no-such-snap not found."',
        "\n".join(
            f'level=info msg="Snapshot pre-addons-fase6-rke-cp01-{n} saved."' for n in (1, 2)
        ),
    ],
)
def test_what_names_no_snapshot_of_this_run(stderr: str) -> None:
    assert told(stderr).snapshot is None


@given(st.text(max_size=60))
def test_any_name_is_read(name: str) -> None:
    parse_name(name, "pre-addons-fase6", "rke-cp01")


def test_saving_is_one_command_on_the_first_control_plane() -> None:
    world = drilled()
    request = save(world.cluster)
    assert (request.host, request.command) == ("rke-cp01", SAVE)
    assert request.limit == world.cluster.limits.snapshot_save
    line = 'level=info msg="Snapshot pre-addons-fase6-rke-cp01-1796044509 saved."'
    world.say("rke-cp01", SAVE, Reply(stderr=line))
    assert saved_by(world.cluster, world.ask([request])).snapshot
    world.forget()
    world.say("rke-cp01", SAVE, Reply(silent="rke-cp01: the link is gone"))
    with pytest.raises(Undecided, match="the link is gone"):
        saved_by(world.cluster, world.ask([request]))


def listed(reply: Reply) -> tuple[Row, ...]:
    world = drilled()
    world.say("rke-cp01", LIST, reply)
    return Snapshots(world.cluster, world).on(node("rke-cp01"))


def test_the_real_list() -> None:
    run = k3s.runs("snapshot", r"^etcd-snapshot ls -o json$")[0][1]
    name = "pre-addons-fase6-rke-cp01-1796044509"
    (row,) = listed(Reply(run.stdout, run.stderr))
    assert row == Row(name, "rke-cp01", f"file://{FOLDER}/{name}", 651296, ready=True)
    assert row.path == f"{FOLDER}/{name}"


def item(**status: Any) -> dict[str, Any]:
    return {
        "kind": "ETCDSnapshotFile",
        "metadata": {"name": "local-x"},
        "spec": {"snapshotName": "x", "nodeName": "rke-cp01", "location": "s3://bucket/x"},
        "status": status,
    }


def test_a_failed_one_and_one_elsewhere() -> None:
    failed = item(size="0", readyToUse=False, error={"message": "no space left on device"})
    (row,) = listed(Reply(json.dumps({"kind": "List", "items": [failed]})))
    assert (row.size, row.ready, row.error, row.path) == (
        0,
        False,
        "no space left on device",
        None,
    )


def test_the_flat_list_of_older_releases() -> None:
    old = {
        "name": "x",
        "location": "file:///x",
        "nodename": "rke-cp01",
        "createdAt": "2026-01-01T00:00:00Z",
        "size": 32,
    }
    bad = old | {"status": "failed", "message": "disk"}
    assert parse_rows(json.dumps([old, old | {"status": "successful"}, bad])) == (
        Row("x", "rke-cp01", "file:///x", 32, ready=True),
        Row("x", "rke-cp01", "file:///x", 32, ready=True),
        Row("x", "rke-cp01", "file:///x", 32, ready=False, error="disk"),
    )


def test_an_empty_list_is_an_answer() -> None:
    assert listed(Reply('{"kind": "List", "items": []}')) == ()
    assert parse_rows("[]") == ()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(stderr='level=fatal msg="Error: failed to get CA certs"', rc=1),
        Reply("Name Location Size Created\n"),
        Reply("{}"),
        Reply('[{"name": "x"}]'),
        Reply(silent="rke-cp01: no answer"),
    ],
)
def test_what_is_no_list_is_undecided(reply: Reply) -> None:
    with pytest.raises(Undecided, match="rke-cp01"):
        listed(reply)


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("651296", 651296), ("4608Ki", 4718592), ("4M", 4000000), ("5k", 5000)],
)
def test_a_quantity(text: str, size: int) -> None:
    assert quantity(text) == size


@pytest.mark.parametrize("value", ["", "4.5Mi", "-1", "1m", "4 Ki", "K", 4, None])
def test_what_is_no_quantity(value: object) -> None:
    with pytest.raises(Misread):
        quantity(value)


@pytest.mark.parametrize(
    ("path", "below"),
    [
        (f"{FOLDER}/x", True),
        (FOLDER, False),
        (f"{FOLDER}/../x", False),
        (f"{FOLDER}//x", False),
        ("x", False),
        ("/tmp/x", False),
        (f"{FOLDER}x/y", False),
    ],
)
def test_a_path_below_a_folder(path: str, below: bool) -> None:
    assert is_below(path, FOLDER) is below


@given(st.text(max_size=80))
def test_any_answer_is_read_or_refused(text: str) -> None:
    with suppress(Misread):
        parse_rows(text)
