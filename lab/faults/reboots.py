"""Faults of machines that restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.faults.registry import FaultError, fault, host_of
from lab.trouble import Reboot

if TYPE_CHECKING:
    from lab.world import World

_HOW = {
    "ignored": "the command's rc is 0, and nothing happens",
    "gone": "the machine never comes back",
    "not-ready": "its node stays NotReady",
    "unnoticed": "its node never reads NotReady, so fast it is",
    "label-lost": "its node registers without the label wetopi.io/role",
    "agent-down": "its Cilium agent does not become ready",
    "taint-stays": "the controllers' taints stay on its node",
    "flaps": "its node is Ready and NotReady in turn from then on",
}


@fault("reboot", f"what becomes of a node that reboots, `how` is {', '.join(_HOW)}")
def reboot(world: World, how: str, node: str = "rke-platform02") -> None:
    """See `Reboot`."""
    if how not in _HOW:
        raise FaultError(f"`how` is one of {', '.join(_HOW)}, not `{how}`")
    world.trouble.reboot[host_of(world, node).name] = Reboot(how)


@fault("boot-takes", "the machine answers again only so many seconds after its reboot")
def boot_takes(world: World, seconds: float, node: str = "rke-platform02") -> None:
    """Long enough for its node to turn Unknown."""
    world.trouble.boot_takes[host_of(world, node).name] = float(seconds)
