"""One machine's state: units, processes, files, addresses, clock and how it can be reached."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from lab.jobs import Jobs

if TYPE_CHECKING:
    from datetime import datetime

    from lab.filesystem import FileSystem
    from lab.journal import Line
    from lab.layout import Machine


class Link(Enum):
    """What the network does with packets for the host."""

    UP = auto()
    DOWN = auto()
    DROPPED = auto()


class Ssh(Enum):
    """What the host's sshd does."""

    ANSWERS = auto()
    REFUSED = auto()
    SILENT = auto()
    NO_KEY_ACCEPTED = auto()


@dataclass(frozen=True, slots=True)
class Unit:
    """A systemd unit as `systemctl show` tells it.

    Attributes:
        file_state: as it is without a mask.
        status: exit status of the main process.
        masked: `systemctl mask` forbids every start.
    """

    name: str
    description: str
    active: str = "active"
    sub: str = "running"
    result: str = "success"
    restarts: int = 0
    file_state: str = "enabled"
    started: datetime | None = None
    pid: int = 0
    load: str = "loaded"
    status: int = 0
    masked: bool = False

    @property
    def transient(self) -> bool:
        """Whether `systemd-run` made it; it is gone as soon as nothing needs it."""
        return self.file_state == "transient"

    def stopped(self) -> Unit:
        """The unit after a clean stop."""
        return replace(self, active="inactive", sub="dead", result="success", pid=0)

    def failed(self, result: str) -> Unit:
        """The unit after its main process ended by itself."""
        return replace(self, active="failed", sub="failed", result=result, pid=0)

    def running(self, since: datetime, pid: int) -> Unit:
        """The unit after a start."""
        return replace(
            self, active="active", sub="running", result="success", started=since, pid=pid
        )


@dataclass(frozen=True, slots=True)
class Vrrp:
    """keepalived on one control plane.

    Attributes:
        weight: the check script's; 0 means that a failing check is a fault of the instance.
        nopreempt: it leaves the VIP with a living master of lower priority.
    """

    priority: int
    weight: int = 0
    nopreempt: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """An IPv4 address that is not the machine's own one."""

    address: str
    prefix: int
    interface: str = "eth0"


@dataclass(frozen=True, slots=True)
class Encryption:
    """What a server says of the encryption of Secrets: its own view, not the cluster's."""

    enabled: bool = True
    stage: str = "start"
    kind: str = "AES-CBC"
    key: str = "aescbckey"


@dataclass(slots=True)
class Host:
    """One machine.

    Attributes:
        processes: what runs beside systemd's own: `etcd`, `kube-apiserver`, `supervisor`, …
        stuck_vip: keepalived died by SIGKILL and left the VIP on the interface.
        key_generation: 0 is the host key of the known_hosts file.
        certificate_names: addresses in the API's serving certificate, when not the designed ones.
        free: bytes free on the root file system.
        mounts: lines of `/proc/mounts` beyond the usual ones.
        etcd_logs: paths of the etcd pod's log files, one a container, the last one in use.
        silent_since, speaks_since: when its kubelet last stopped and began to write to the API,
            on the host's own clock; None is before this lab's time.
        pod: namespace and name of the pod, if this is what runs in a container sees as its host.
    """

    machine: Machine
    files: FileSystem
    machine_id: str
    boot_id: str
    units: dict[str, Unit] = field(default_factory=dict)
    processes: set[str] = field(default_factory=set)
    addresses: list[Address] = field(default_factory=list)
    vrrp: Vrrp | None = None
    stuck_vip: bool = False
    clock_offset: float = 0.0
    sudo: bool = True
    link: Link = Link.UP
    ssh: Ssh = Ssh.ANSWERS
    key_generation: int = 0
    key_known: bool = True
    api_hangs: bool = False
    certificate_names: tuple[str, ...] | None = None
    certificate_foreign: bool = False
    jobs: Jobs = field(default_factory=Jobs)
    journal: list[Line] = field(default_factory=list)
    etcd_logs: list[str] = field(default_factory=list)
    free: int = 71_940_702_208
    encryption: Encryption = field(default_factory=Encryption)
    mounts: list[str] = field(default_factory=list)
    silent_since: datetime | None = None
    speaks_since: datetime | None = None
    pod: tuple[str, str] | None = None

    @property
    def posts(self) -> bool:
        """Whether its kubelet runs and can tell the API so."""
        return "kubelet" in self.processes and self.link is Link.UP

    @property
    def name(self) -> str:
        """The host name."""
        return self.machine.name

    def active(self, unit: str) -> bool:
        """Whether the unit is there and active."""
        known = self.units.get(unit)
        return known is not None and known.active == "active"
