"""`rke2 etcd-snapshot`: the server's side on real etcd, and the command's words."""

from __future__ import annotations

import datetime
import json
import re
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

import yaml

from . import client, etcd, journal
from .config import unknown_flags
from .paths import CONFIG, SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .api import Json

PATH: Final = "/db/snapshot"
_NO_SUCH_TOPIC: Final = 3
_HEADINGS: Final = ("Name", "Location", "Size", "Created")
_TAKEN = re.compile(r"-(\d+)(?:\.zip)?$")
_saving = threading.Lock()


def save(node: str, request: Json) -> Json:
    """Save `<name>-<node>-<unix seconds>`; the answer's `saved` is empty if that went wrong.

    The real server answers so as well: its client then says nothing and ends with rc 0.

    Raises:
        RuntimeError: another save is under way, or etcd has no quorum.
    """
    if not _saving.acquire(blocking=False):
        raise RuntimeError("snapshot save already in progress")
    try:
        _await_quorum()
        name = f"{request['name']}-{node}-{round(time.time())}"
        path = SNAPSHOTS / name
        journal.info(f"Saving etcd snapshot to {path}")
        try:
            SNAPSHOTS.mkdir(mode=0o700, parents=True, exist_ok=True)
            etcd.snapshot(path)
            path.chmod(0o600)
        except (etcd.EtcdError, OSError) as reason:
            journal.error(f"Failed to take etcd snapshot: {reason}")
            return {"saved": []}
        return {"saved": [name]}
    finally:
        _saving.release()


def _await_quorum() -> None:
    deadline = time.monotonic() + client.LIMIT
    while True:
        try:
            etcd.ctl("endpoint", "health")
        except etcd.EtcdError as reason:
            if time.monotonic() > deadline:
                raise RuntimeError(f"failed to check etcd status for snapshot: {reason}") from None
            time.sleep(1)
        else:
            return


def listed(node: str) -> list[Json]:
    """Whatever lies in this node's folder, oldest first: empty and half-written files, too."""
    rows = [
        {
            "name": path.name,
            "node": node,
            "location": f"file://{path}",
            "size": path.stat().st_size,
            "created": int(match[1])
            if (match := _TAKEN.search(path.name))
            else int(path.stat().st_mtime),
        }
        for path in (sorted(SNAPSHOTS.iterdir()) if SNAPSHOTS.is_dir() else [])
        if path.is_file()
    ]
    return sorted(rows, key=lambda row: int(str(row["created"])))


def command(arguments: Sequence[str]) -> int:
    """`rke2 etcd-snapshot …`; its exit status."""
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if verb not in {"save", "ls", "list", "l"}:
        sys.stderr.write(f"No help topic for '{verb}'\n")
        return _NO_SUCH_TOPIC
    for flag in unknown_flags(CONFIG):
        journal.warning(f"Unknown flag --{flag} found in config.yaml, skipping\n")
    try:
        if verb == "save":
            _save(_options(rest, {"--name": "on-demand"})["--name"])
        else:
            _list(_options(rest, {"-o": "table"})["-o"])
    except client.FatalError as reason:
        return client.fail(reason)
    return 0


def _save(name: str) -> None:
    for saved in client.ask("POST", PATH, {"name": name})["saved"]:
        journal.info(f"Snapshot {saved} saved.")


def _list(form: str) -> None:
    if form not in {"table", "json", "yaml"}:
        raise client.FatalError(f"invalid output format: {form}")
    rows = client.ask("GET", PATH)
    if form == "table":
        sys.stdout.write(_table(rows))
    elif form == "json":
        sys.stdout.write(json.dumps(_objects(rows), indent=4) + "\n")
    else:
        sys.stdout.write(yaml.safe_dump(_objects(rows)))


def _options(words: Sequence[str], known: dict[str, str]) -> dict[str, str]:
    found = dict(known)
    remaining = list(words)
    while remaining:
        name, equals, value = remaining.pop(0).partition("=")
        if name not in known:
            raise client.FatalError(f"flag provided but not defined: {name}")
        if not equals and not remaining:
            raise client.FatalError(f"flag needs an argument: {name}")
        found[name] = value if equals else remaining.pop(0)
    return found


def _objects(rows: Iterable[Any]) -> Json:
    return {
        "kind": "List",
        "apiVersion": "v1",
        "metadata": {},
        "items": [
            {
                "kind": "ETCDSnapshotFile",
                "apiVersion": "k3s.cattle.io/v1",
                "metadata": {
                    "name": f"local-{row['name']}",
                    "labels": {"etcd.rke2.cattle.io/snapshot-storage-node": row["node"]},
                },
                "spec": {
                    "snapshotName": row["name"],
                    "nodeName": row["node"],
                    "location": row["location"],
                },
                "status": {
                    "size": str(row["size"]),
                    "creationTime": _instant(row["created"]),
                    "readyToUse": True,
                },
            }
            for row in rows
        ],
    }


def _table(rows: Iterable[Any]) -> str:
    cells = [_HEADINGS] + [
        (row["name"], row["location"], str(row["size"]), _instant(row["created"])) for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADINGS) - 1)]
    return "".join(
        " ".join([*map(str.ljust, line[:-1], widths), line[-1]]) + "\n" for line in cells
    )


def _instant(seconds: int) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
