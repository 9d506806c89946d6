"""A server's etcd database on disk: whose it is, and what a start finds there.

The file itself says so, so that moving, copying or removing the folder has the real consequences.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from lab.filesystem import Entry, FileError, Kind

if TYPE_CHECKING:
    from lab.etcd import EtcdCluster, Member
    from lab.host import Host

FOLDER = "/var/lib/rancher/rke2/server/db"
ETCD = f"{FOLDER}/etcd"
SNAPSHOTS = f"{FOLDER}/snapshots"
RESET_FLAG = f"{FOLDER}/reset-flag"
SIZE = 4_718_624
_FILE = f"{ETCD}/member/snap/db"


class Damage(Enum):
    """What a failed restore leaves behind."""

    TRUNCATED = auto()
    FLIPPED = auto()


@dataclass(frozen=True, slots=True)
class Owner:
    """The member a database belongs to."""

    cluster: str
    member: int


def create(host: Host, cluster: EtcdCluster, member: Member) -> None:
    """Make the folder of that member, in place of what is there."""
    text = json.dumps({"cluster": cluster.key, "member": member.id})
    _write(host, text.encode())
    host.files.file(f"{ETCD}/name", member.name.encode(), 0o600)


def damage(host: Host, kind: Damage) -> None:
    """Leave what a restore of a damaged snapshot leaves: a folder that is no database."""
    _write(host, kind.name.encode())


def found(host: Host) -> Owner | Damage | None:
    """Whose database is there; None without one."""
    try:
        content = host.files.read(_FILE)
    except FileError:
        return None
    for kind in Damage:
        if content == kind.name.encode():
            return kind
    stored = json.loads(content)
    return Owner(stored["cluster"], stored["member"])


def _write(host: Host, content: bytes) -> None:
    files = host.files
    files.remove(ETCD)
    files.folder(FOLDER, 0o700)
    for folder in (ETCD, f"{ETCD}/member", f"{ETCD}/member/snap", f"{ETCD}/member/wal"):
        files.folder(folder, 0o700)
    files.file(f"{ETCD}/config", b"log-outputs:\n- stderr\n", 0o600)
    files.put(_FILE, Entry(Kind.FILE, 0o600, content=content, size=SIZE))
    files.put(f"{ETCD}/member/wal/0000000000000000-0000000000000000.wal", _wal())


def _wal() -> Entry:
    return Entry(Kind.FILE, 0o600, size=64_000_000)
