"""What goes wrong only when something is changed: stops, saves, resets, rejoins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from lab.objects import has_labels

if TYPE_CHECKING:
    from lab.objects import Object


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


class Reboot(StrEnum):
    """What becomes of a machine that is told to restart."""

    IGNORED = "ignored"
    GONE = "gone"
    NOT_READY = "not-ready"
    UNNOTICED = "unnoticed"
    LABEL_LOST = "label-lost"
    AGENT_DOWN = "agent-down"
    TAINT_STAYS = "taint-stays"
    FLAPS = "flaps"


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
        crashing, lasting: pods whose containers crash, and pods that never go once deleted.
        unpullable: parts of names of images that no registry has.
        ready_after: nodes that become Ready only after so many seconds.
        flapping: nodes that are Ready and NotReady in turn, and for how many seconds each.
        reboot: per node, what goes wrong when it restarts.
        boot_takes: per node, seconds until a machine that restarts answers again.
        stays_cordoned: nodes that `kubectl uncordon` leaves as they are, and says nothing.
        clinging_taints: nodes whose taints of the controllers stay when they are Ready again.
        idle: controllers (kind, namespace, name) that make up for nothing.
        policy_delay: seconds until NetworkPolicies are enforced; infinity is never.
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
    crashing: list[Pods] = field(default_factory=list)
    lasting: list[Pods] = field(default_factory=list)
    unpullable: list[str] = field(default_factory=list)
    ready_after: dict[str, float] = field(default_factory=dict)
    flapping: dict[str, tuple[float, float]] = field(default_factory=dict)
    reboot: dict[str, Reboot] = field(default_factory=dict)
    boot_takes: dict[str, float] = field(default_factory=dict)
    stays_cordoned: set[str] = field(default_factory=set)
    clinging_taints: set[str] = field(default_factory=set)
    idle: set[tuple[str, str, str]] = field(default_factory=set)
    policy_delay: float = 0.0
    stale_leases: dict[str, float] = field(default_factory=dict)
    journal: dict[str, list[Murmur]] = field(default_factory=dict)

    def crashes(self, pod: Object) -> bool:
        """Whether the pod's containers crash as often as they are started."""
        return any(pods.include(pod) for pods in self.crashing)

    def lasts(self, pod: Object) -> bool:
        """Whether the pod stays although it was deleted."""
        return any(pods.include(pod) for pods in self.lasting)

    def keeps_taints(self, node: str) -> bool:
        """Whether the node's taints stay although it is Ready."""
        return node in self.clinging_taints

    def cannot_pull(self, image: str) -> bool:
        """Whether no registry has the image."""
        return any(part in image for part in self.unpullable)


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods that a fault is about; what is empty does not matter."""

    namespace: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    node: str = ""

    def include(self, pod: Object) -> bool:
        """Whether the pod is one of them."""
        metadata = pod["metadata"]
        return (
            self.namespace in ("", metadata.get("namespace"))
            and has_labels(pod, self.labels)
            and self.node in ("", pod["spec"].get("nodeName"))
        )


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
