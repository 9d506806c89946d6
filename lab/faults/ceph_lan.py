"""Faults of the way to Ceph: gateway, rules, monitors, and what the reviewed line says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import ceph_lan, layout, plan
from lab.faults.registry import FaultError, fault

if TYPE_CHECKING:
    from lab.world import World


@fault("ceph-not-flipped", "the reviewed line does not switch the gateway's Ceph routing on yet")
def ceph_not_flipped(world: World) -> None:
    """Nothing was made either."""
    world.ceph_lan.flipped = world.ceph_lan.leg = False


@fault("ceph-leg-missing", "the switch is on, but the gateway has no leg into the Ceph network")
def ceph_leg_missing(world: World) -> None:
    """bootstrap.yml was not run after the flip."""
    world.ceph_lan.leg = False


@fault("ceph-leg-unplugged", "the gateway's leg into the Ceph network is up and has no link")
def ceph_leg_unplugged(world: World) -> None:
    """Its bridge on the Proxmox node is down."""
    world.ceph_lan.unplugged = True


@fault("ceph-address-claimed", "another machine answers ARP for the gateway's address")
def ceph_address_claimed(world: World, mac: str = "bc:24:11:66:66:66") -> None:
    """It was not free."""
    world.ceph_lan.claimed = mac


@fault("ceph-no-return-route", "the Ceph side does not know the way back to the nodes")
def ceph_no_return_route(world: World) -> None:
    """Nothing comes back."""
    world.ceph_lan.returns = False


@fault("ceph-packets-filtered", "the gateway's reverse-path filter drops what the monitors send")
def ceph_packets_filtered(world: World) -> None:
    """They come back by another way."""
    world.ceph_lan.filters = True


@fault("strangers-filtered", "the gateway's reverse-path filter drops somebody else's packets")
def strangers_filtered(world: World, packets: int = 3) -> None:
    """All the time, whoever pings."""
    world.ceph_lan.strangers = packets


@fault("ceph-rule-missing", "the gateway does not accept one direction: `out` or `back`")
def ceph_rule_missing(world: World, way: str = "back") -> None:
    """One of the two rules is not there."""
    if way not in {"out", "back"}:
        raise FaultError(f"`way` is out or back, not `{way}`")
    if way == "out":
        world.ceph_lan.forward_out = False
    else:
        world.ceph_lan.forward_back = False


@fault("ceph-set-elements", "the gateway's set `ceph_net` contains these networks")
def ceph_set_elements(world: World, networks: list[str]) -> None:
    """The rules stay as they are."""
    world.ceph_lan.elements = [str(each) for each in networks]


@fault("nat-everywhere", "the gateway also masquerades what does not leave through its WAN")
def nat_everywhere(world: World) -> None:
    """One more rule, without an interface."""
    world.ceph_lan.nat_everywhere = True


@fault("ceph-ports", "the monitors listen on these ports only")
def ceph_ports(world: World, ports: list[str]) -> None:
    """The others refuse."""
    for monitor in world.ceph_lan.monitors:
        world.ceph_lan.monitors[monitor] = {int(port) for port in ports}


@fault("ceph-monitor-silent", "a monitor is switched off: the gateway says that it is not there")
def ceph_monitor_silent(world: World, monitor: str = ceph_lan.MONITOR) -> None:
    """Nobody answers the gateway's ARP."""
    world.ceph_lan.silent.add(monitor)


@fault("tofu-plan-missing", "there is no saved plan on ops01")
def tofu_plan_missing(world: World) -> None:
    """Nobody planned with -out."""
    world.bastion.files.remove(plan.PATH)


@fault("tofu-plan", f"the saved plan is another one: {', '.join(plan.WAYS)}")
def tofu_plan(world: World, how: str) -> None:
    """Planned from other variables, or in other circumstances."""
    if how not in plan.WAYS:
        raise FaultError(f"`how` is one of {', '.join(plan.WAYS)}, not `{how}`")
    world.bastion.files.file(plan.PATH, plan.changed(world, how), 0o600, layout.USER)
