"""What units write: the journal of a host, and the log files of its etcd pod."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from lab.host import Host
    from lab.tools.call import Call
    from lab.world import World

RKE2 = "rke2-server.service"


@dataclass(frozen=True, slots=True)
class Line:
    """One entry.

    Attributes:
        unit: whose `-u` shows it.
        program: SYSLOG_IDENTIFIER; `systemd` speaks about the unit.
        priority: syslog's.
    """

    at: datetime
    unit: str
    program: str
    pid: int
    message: str
    priority: int = 6


_BEGINNING = (
    (0, "keepalived.service", "systemd", "Starting keepalived.service - Keepalive Daemon..."),
    (1, "keepalived.service", "Keepalived_vrrp", "(VI_1) Entering BACKUP STATE (init)"),
    (2, "keepalived.service", "Keepalived_vrrp", "VRRP_Script(check_rke2_api) succeeded"),
    (48, RKE2, "systemd", f"Starting {RKE2} - Rancher Kubernetes Engine v2 (server)..."),
    (49, RKE2, "rke2", 'level=info msg="Starting rke2 v1.36.3+rke2r1 (c4f306e6)"'),
    (93, RKE2, "rke2", 'level=info msg="rke2 is up and running"'),
    (93, RKE2, "systemd", f"Started {RKE2} - Rancher Kubernetes Engine v2 (server)."),
)


def history(world: World, host: Host, since: datetime) -> None:
    """What a control plane wrote when it was applied, from `since` on."""
    for seconds, unit, program, message in _BEGINNING:
        at = since + timedelta(seconds=seconds)
        pid = 1 if program == "systemd" else host.units[unit].pid
        text = f'time="{at:%Y-%m-%dT%H:%M:%SZ}" {message}' if program == "rke2" else message
        host.journal.append(Line(at, unit, program, pid, text))
    etcd(world, host, '{"level":"info","msg":"ready to serve client requests"}')


def write(world: World, host: Host, unit: str, message: str, *, program: str = "") -> None:
    """Add an entry at the host's present time."""
    known = host.units.get(unit)
    program = program or unit.partition("-")[0].partition(".")[0]
    pid = 1 if program == "systemd" else (known.pid if known else 0) or 2877
    host.journal.append(Line(world.now(host), unit, program, pid, message))


def logrus(world: World, host: Host, level: str, message: str) -> None:
    """Add a line of rke2-server itself."""
    write(world, host, RKE2, entry(world, host, level, message))


def entry(world: World, host: Host, level: str, message: str) -> str:
    """A logrus line as RKE2 prints it to a file or a pipe."""
    quoted = message.replace("\\", "\\\\").replace('"', '\\"')
    return f'time="{world.now(host):%Y-%m-%dT%H:%M:%SZ}" level={level} msg="{quoted}"'


def complain(call: Call, level: str, message: str) -> None:
    """A logrus line of an rke2 command, on its stderr."""
    call.complain(entry(call.world, call.host, level, message))


def fatal(call: Call, text: str) -> int:
    """The last line of an rke2 command that fails; its status, 1."""
    complain(call, "fatal", f"Error: {text}")
    return 1


def etcd(world: World, host: Host, line: str, *, fresh: bool = False) -> None:
    """Add a line to the etcd pod's log; `fresh` begins the file of a new container."""
    manifest = world.seed.hex("static", f"etcd-{host.name}", digits=32)
    folder = f"/var/log/pods/kube-system_etcd-{host.name}_{manifest}/etcd"
    at = f"{world.now(host):%Y-%m-%dT%H:%M:%S.%f}000Z"
    if fresh or not host.etcd_logs:
        path = f"{folder}/{len(host.etcd_logs)}.log"
        host.files.file(path, b"", 0o640)
        host.etcd_logs.append(path)
    host.files.write(host.etcd_logs[-1], f"{at} stderr F {line}\n".encode(), "root", append=True)
