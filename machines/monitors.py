"""Ceph's monitor: Debian's ceph-mon, alone in its quorum, without storage behind it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from machines import plan
from machines.console import step
from machines.container import Container

if TYPE_CHECKING:
    from machines.build import Layers

UNIT: Final = "ceph-mon.service"
_ME: Final = Container(plan.MONITOR)
_NAME: Final = plan.MONITOR.name
_DATA: Final = f"/var/lib/ceph/mon/ceph-{_NAME}"
_LIMIT: Final = 30.0


def start(layers: Layers) -> None:
    """Boot the machine, make the monitor and wait until it is its own quorum.

    Raises:
        LabError: it does not come up; the text has its journal.
    """
    with step(f"booting {_NAME} and its monitor"):
        _ME.start(layers)
        _ME.wait_booted()
        _ME.write("/etc/ceph/ceph.conf", config(str(uuid.uuid4())))
        _ME.write(f"/etc/systemd/system/{UNIT}", unit())
        _ME.do("install", "-d", "/var/lib/ceph/mon")
        _ME.do("ceph-mon", "--mkfs", "-i", _NAME, "--mon-data", _DATA)
        _ME.do("systemctl", "enable", "--now", UNIT)
        _ME.wait("monitor", lambda: not complaints(), limit=_LIMIT, journal_of=UNIT)


def complaints() -> list[str]:
    """What is wrong with the monitor; empty when both its ports greet as Ceph does."""
    if not _ME.running:
        return [f"{_NAME} is not running"]
    return [
        f"{_NAME}: port {port} says {greeting!r} instead of {wanted!r}"
        for port, wanted in zip(plan.CEPH_PORTS, ("ceph v2", "ceph v0"), strict=True)
        if not (greeting := _greeting(port)).startswith(wanted)
    ]


def _greeting(port: int) -> str:
    ask = f"exec 3<>/dev/tcp/{plan.MONITOR.address}/{port} && head -c 7 <&3"
    return _ME.call(["timeout", "2", "bash", "-c", ask]).stdout


def config(fsid: str) -> str:
    """ceph.conf: one monitor on both ports of Ceph's messenger, to which nobody logs in."""
    msgr2, msgr1 = (f"{plan.MONITOR.address}:{port}" for port in plan.CEPH_PORTS)
    return f"""[global]
fsid = {fsid}
mon initial members = {_NAME}
mon host = [v2:{msgr2},v1:{msgr1}]
auth cluster required = none
auth service required = none
auth client required = none
osd erasure code plugins =
mon data avail warn = 0
mon data avail crit = 0
log to stderr = true
log file =
mon cluster log file =
"""


def unit() -> str:
    """The unit that runs it."""
    return f"""[Unit]
Description=Ceph monitor
Wants=network-online.target
After=network-online.target

[Service]
RuntimeDirectory=ceph
ExecStart=/usr/bin/ceph-mon -f -i {_NAME}
Restart=on-failure

[Install]
WantedBy=multi-user.target
"""
