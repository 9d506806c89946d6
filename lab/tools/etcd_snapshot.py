"""`rke2 etcd-snapshot save|ls|delete` (captures: k3s-snapshot.out)."""

from __future__ import annotations

import json
import posixpath
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import yaml

from lab import databases, journal, snapshots
from lab.filesystem import FileError, Kind
from lab.kinds import stamp
from lab.layout import HOME, USER
from lab.tools.call import UsageError, split
from lab.trouble import Save

if TYPE_CHECKING:
    from lab.tools.call import Call, Options
    from lab.world import World

_CONFIG = "/etc/rancher/rke2/config.yaml"
# The subcommand's own keys; everything else in config.yaml is for the server alone.
_OWN_KEYS = frozenset({"data-dir", "debug", "node-name", "etcd-snapshot-dir"})
_DEFAULT_NAME = "on-demand"
_COPIES = f"{HOME}/rke2-snapshots"


async def etcd_snapshot(call: Call, words: list[str]) -> int:
    """One of the subcommands; the warnings about config.yaml come first."""
    _warn_of_unknown_keys(call)
    options = split(
        words,
        flags=("--snapshot-compress", "--etcd-snapshot-compress"),
        valued=("--name", "-o", "--output", "--dir", "--etcd-snapshot-dir"),
        name="rke2",
        refuse="Incorrect Usage: flag provided but not defined: {flag}",
    )
    verb, names = (options.rest or [""])[0], options.rest[1:]
    if verb not in ("save", "ls", "list", "l", "delete"):
        raise UsageError(f"No help topic for '{verb}'", 3)
    if "supervisor" not in call.host.processes:
        return journal.fatal(
            call,
            'failed to get CA certs: Get "https://127.0.0.1:9345/cacerts": dial tcp '
            "127.0.0.1:9345: connect: connection refused",
        )
    if verb == "save":
        return _save(call, options, names)
    if verb == "delete":
        return _delete(call, options, names)
    return _list(call, options)


def _warn_of_unknown_keys(call: Call) -> None:
    try:
        config = yaml.safe_load(call.files.read(_CONFIG, call.user)) or {}
    except FileError:
        return
    for key, value in config.items():
        if key not in _OWN_KEYS:
            # Once per value, and the newline is literal.
            for _ in value if isinstance(value, list) else [value]:
                journal.complain(
                    call, "warning", f"Unknown flag --{key} found in config.yaml, skipping\\n"
                )


def _folder(options: Options) -> str:
    return options.get("--dir", "--etcd-snapshot-dir") or databases.SNAPSHOTS


def _save(call: Call, options: Options, names: list[str]) -> int:
    if names:
        return journal.fatal(call, "this command does not take any arguments")
    world, host, trouble = call.world, call.host, call.world.trouble.save
    folder = _folder(options)
    if (refusal := _refusal(call, folder)) is not None:
        return _server_error(call, refusal)
    cluster = world.cluster_of(host)
    assert cluster is not None
    if trouble is Save.LEARNER or any(m.learner and m.node == host.name for m in cluster.members):
        journal.complain(call, "warning", "Unable to take snapshot: not supported for learner")
        return 0
    name = _name(call, options)
    path = posixpath.join(folder, name)
    content = b"" if trouble is Save.EMPTY else snapshots.capture(world, cluster)
    if "/" in name or trouble is Save.SILENT or host.free < len(content):
        why = "no such file or directory" if "/" in name else "no space left on device"
        text = f"Failed to take etcd snapshot: could not write snapshot: write {path}.part: {why}"
        journal.logrus(world, host, "error", text)
        return 0
    host.files.file(path, content, 0o600)
    _take_name(world, name, content)
    journal.logrus(world, host, "info", f"Saving etcd snapshot to {path}")
    if trouble is Save.TIMEOUT:
        return journal.fatal(
            call,
            'Post "https://127.0.0.1:9345/db/snapshot": context deadline exceeded '
            "(Client.Timeout exceeded while awaiting headers)",
        )
    if trouble is not Save.NO_LINE:
        journal.complain(call, "info", f"Snapshot {name} saved.")
    return 0


def _take_name(world: World, name: str, content: bytes) -> None:
    """An earlier run's copy that only its content tells from this one."""
    for host in world.trouble.namesakes:
        files = world.hosts[host].files
        files.folder(_COPIES, 0o700, USER)
        files.file(f"{_COPIES}/{name}", bytes(reversed(content)), 0o600, USER)


def _refusal(call: Call, folder: str) -> str | None:
    """What the server side logs when it does not even begin."""
    if not call.shell.exists(folder):
        return f"failed to get etcd-snapshot-dir: stat {folder}: no such file or directory"
    if call.files.entry(folder).kind is not Kind.FOLDER:
        return f"failed to get etcd-snapshot-dir: {folder} is not a directory"
    if not call.world.etcd_serves(call.host):
        return "failed to get etcd status: context deadline exceeded"
    if call.world.trouble.save is Save.IN_PROGRESS:
        return "snapshot save already in progress"
    return None


def _name(call: Call, options: Options) -> str:
    trouble = call.world.trouble.save
    base = options.get("--name") or _DEFAULT_NAME
    if trouble is Save.OTHER_NAME:
        base = "etcd-snapshot"
    compressed = {"--snapshot-compress", "--etcd-snapshot-compress"} & set(options.values)
    ending = ".zip" if compressed or trouble is Save.COMPRESSED else ""
    return f"{base}-{call.host.name}-{int(call.world.now(call.host).timestamp())}{ending}"


def _server_error(call: Call, cause: str) -> int:
    text = "etcd-snapshot error ID 10767"
    journal.logrus(call.world, call.host, "error", f"{text}: {cause}")
    return journal.fatal(call, f"see server log for details: Internal error occurred: {text}")


def _files(call: Call, folder: str) -> list[tuple[str, int, str]]:
    """Name, size and creation time of every file, oldest first; half-written ones too."""
    found = []
    for name in call.files.children(folder):
        entry = call.files.entry(posixpath.join(folder, name))
        seconds = entry.modified or call.world.seed.born.timestamp()
        found.append((seconds, name, entry.length))
    return [
        (name, size, stamp(datetime.fromtimestamp(seconds, UTC)))
        for seconds, name, size in sorted(found)
    ]


def _list(call: Call, options: Options) -> int:
    folder = _folder(options)
    form = options.get("-o", "--output") or "table"
    rows = _files(call, folder)
    if form == "table":
        cells = [("Name", "Location", "Size", "Created")]
        cells += [
            (name, f"file://{folder}/{name}", str(size), created) for name, size, created in rows
        ]
        widths = [max(len(row[column]) for row in cells) for column in range(3)]
        for row in cells:
            padded = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)]
            call.say(" ".join([*padded, row[3]]))
        return 0
    if form not in ("json", "yaml"):
        return journal.fatal(call, f"invalid output format: {form}")
    document = {
        "kind": "List",
        "apiVersion": "v1",
        "metadata": {},
        "items": [_item(call, folder, *row) for row in rows],
    }
    call.say(
        json.dumps(document, indent=4) if form == "json" else yaml.safe_dump(document).rstrip()
    )
    return 0


def _item(call: Call, folder: str, name: str, size: int, created: str) -> dict[str, Any]:
    host = call.host.name
    return {
        "kind": "ETCDSnapshotFile",
        "apiVersion": "k3s.cattle.io/v1",
        "metadata": {
            "name": f"local-{name}",
            "labels": {"etcd.rke2.cattle.io/snapshot-storage-node": host},
        },
        "spec": {
            "snapshotName": name,
            "nodeName": host,
            "location": f"file://{folder}/{name}",
        },
        "status": {"size": str(size), "creationTime": created, "readyToUse": True},
    }


def _delete(call: Call, options: Options, names: list[str]) -> int:
    if not names:
        return journal.fatal(call, "no snapshots given for removal")
    folder = _folder(options)
    for name in names:
        if name in call.files.children(folder):
            call.files.remove(posixpath.join(folder, name))
            journal.complain(call, "info", f"Snapshot {name} deleted.")
        else:
            journal.complain(call, "warning", f"Snapshot {name} not found.")
    return 0
