"""What goes wrong only when something is changed: stops, saves, resets, rejoins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Save(StrEnum):
    """What becomes of `etcd-snapshot save`."""

    WELL = "well"
    SILENT = "silent"
    EMPTY = "empty"
    NO_LINE = "no-line"
    LEARNER = "learner"
    IN_PROGRESS = "in-progress"
    TIMEOUT = "timeout"
    OTHER_NAME = "other-name"
    COMPRESSED = "compressed"


class Reset(StrEnum):
    """What becomes of a cluster-reset that would succeed."""

    WELL = "well"
    OLD_WORDING = "old-wording"
    ERRORS_FIRST = "errors-first"
    LOOPS = "loops"
    HANGS = "hangs"
    NO_MESSAGE = "no-message"
    WITHOUT_RESTORE = "without-restore"
    FLAG_IGNORED = "flag-ignored"
    CLEANUP_TIMEOUT = "cleanup-timeout"
    OTHER_TOKEN = "other-token"  # noqa: S105 a way to fail
    PATH_GONE = "path-gone"
    FILE_EMPTY = "file-empty"
    FILE_TRUNCATED = "file-truncated"
    FILE_DAMAGED = "file-damaged"
    DIES_LATE = "dies-late"
    EMPTIED = "emptied"


class Rejoin(StrEnum):
    """How a peer comes up whose database was moved aside."""

    WELL = "well"
    STAYS_LEARNER = "stays-learner"
    FINDS_NOBODY = "finds-nobody"
    OLD_DATABASE = "old-database"
    OWN_CLUSTER = "own-cluster"
    NEVER_READY = "never-ready"


@dataclass(slots=True)
class Trouble:
    """What waits to go wrong.

    Attributes:
        killall_leaves: nodes whose `rke2-killall.sh` ends nothing and says nothing.
        vip_stays: nodes whose keepalived leaves the VIP behind when it stops.
        stop_fails: nodes where `systemctl stop rke2-server` ends with an error.
        stop_takes: seconds that `systemctl stop rke2-server` takes on a node.
        start_fails: nodes whose rke2-server never becomes active again.
        rejoin: per node.
        damaged_copies: hosts on which a byte of a copied snapshot gets lost.
        namesakes: hosts where a copy of another snapshot has the name and size of the next one.
        save, reset: see there.
        strays: per node, a pod that only the container runtime knows.
        stale_leases: nodes whose kubelet no longer renews its Lease, and for how many seconds.
        journal: per node, what rke2-server writes after each start: text and how often.
    """

    killall_leaves: set[str] = field(default_factory=set)
    vip_stays: set[str] = field(default_factory=set)
    stop_fails: set[str] = field(default_factory=set)
    stop_takes: dict[str, float] = field(default_factory=dict)
    start_fails: set[str] = field(default_factory=set)
    rejoin: dict[str, Rejoin] = field(default_factory=dict)
    damaged_copies: set[str] = field(default_factory=set)
    namesakes: set[str] = field(default_factory=set)
    save: Save = Save.WELL
    reset: Reset = Reset.WELL
    strays: dict[str, str] = field(default_factory=dict)
    stale_leases: dict[str, float] = field(default_factory=dict)
    journal: dict[str, list[Murmur]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Murmur:
    """A line that a unit writes again and again.

    Attributes:
        times: how often; 0 is for ever.
        every: seconds between two.
        unit: `rke2-server` for its journal, `etcd` for the etcd pod's log.
    """

    text: str
    times: int = 1
    every: float = 0.1
    unit: str = "rke2-server"
