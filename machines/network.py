"""The lab's two network namespaces: the fabric with its bridges, and the controller on the WAN.

Neither is named nor mounted anywhere: a sleeping process holds each, so both end with the lab.
"""

from __future__ import annotations

import subprocess
from typing import Final

from machines import cgroups, dirs, plan
from machines.commands import run
from machines.errors import LabError

LAN_BRIDGE: Final = "br-lan"
WAN_BRIDGE: Final = "br-wan"
CEPH_BRIDGE: Final = "br-ceph"
FABRIC: Final = "fabric"
CONTROLLER: Final = "controller"
_CONTROLLER_LINK: Final = "wan"


def create() -> None:
    """Make both namespaces and what connects them.

    Raises:
        LabError: a step failed; the text has what `ip` said.
    """
    fabric = _hold(FABRIC)
    controller = _hold(CONTROLLER)
    for bridge in (LAN_BRIDGE, WAN_BRIDGE, CEPH_BRIDGE):
        _ip(fabric, "link", "add", bridge, "type", "bridge", "forward_delay", "0")
        _ip(fabric, "link", "set", bridge, "up")
    _ip(fabric, "link", "set", "lo", "up")
    # What is sent on to the Internet is refused at once, instead of waited for.
    _ip(fabric, "addr", "add", str(plan.WAN_ROUTER), "dev", WAN_BRIDGE)
    _ip(fabric, "route", "add", "unreachable", "default")
    _enter(fabric, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    _ip(
        fabric,
        *("link", "add", CONTROLLER, "type", "veth"),
        *("peer", "name", _CONTROLLER_LINK, "netns", str(controller)),
    )
    _ip(fabric, "link", "set", CONTROLLER, "master", WAN_BRIDGE, "up")
    _ip(controller, "link", "set", "lo", "up")
    _ip(controller, "addr", "add", str(plan.WAN_CONTROLLER), "dev", _CONTROLLER_LINK)
    _ip(controller, "link", "set", _CONTROLLER_LINK, "up")


def plug(machine: int, interface: str, bridge: str) -> None:
    """Give a running machine one more network card: down, without an address.

    Args:
        machine: the pid of its systemd.
        interface: what it is called there.
        bridge: what it is connected with.

    Raises:
        LabError: the lab is not up, or a step failed.
    """
    fabric = holder(FABRIC)
    _ip(
        fabric,
        *("link", "add", f"plugged-{interface}", "type", "veth"),
        *("peer", "name", interface, "netns", str(machine)),
    )
    _ip(fabric, "link", "set", f"plugged-{interface}", "master", bridge, "up")


def bridge(machine: plan.Machine) -> str:
    """The bridge of the network in which the machine has its address."""
    return CEPH_BRIDGE if machine.lan == plan.CEPH_LAN else LAN_BRIDGE


def enter(namespace: str) -> list[str]:
    """The command prefix that runs a program in the namespace.

    Raises:
        LabError: the lab is not up.
    """
    return ["nsenter", f"--net=/proc/{holder(namespace)}/ns/net", "--"]


def holder(namespace: str) -> int:
    """The pid that holds the namespace.

    Raises:
        LabError: the lab is not up.
    """
    pids = cgroups.processes(f"{namespace}-namespace")
    if not pids:
        raise LabError("the lab is not up: `python -m machines up`")
    return min(pids)


def _hold(namespace: str) -> int:
    made = cgroups.create(f"{namespace}-namespace")
    joined = " && ".join(f"echo $$ > {group}/cgroup.procs" for group in made)
    with (dirs.state() / f"{namespace}.log").open("ab") as log:
        process = subprocess.Popen(
            ["sh", "-c", f"{joined} && exec unshare --net sh -c 'echo up; exec sleep infinity'"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )
    with process.stdout as answer:  # type: ignore[union-attr]  # PIPE was asked for
        if answer.readline() != b"up\n":
            raise LabError(f"the {namespace} namespace could not be made: see {log.name}")
    return process.pid


def _ip(pid: int, *arguments: str) -> None:
    _enter(pid, "ip", *arguments)


def _enter(pid: int, *argv: str) -> None:
    run(["nsenter", f"--net=/proc/{pid}/ns/net", "--", *argv])
