"""Faults of the VIP and of keepalived's processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import actions, layout
from lab.faults.registry import fault, host_of
from lab.host import Address
from lab.world import KEEPALIVED

if TYPE_CHECKING:
    from lab.world import World


@fault("vip-held-by", "these control planes, and only they, have the VIP on an interface")
def vip_held_by(world: World, nodes: list[str]) -> None:
    """Decree the holders, as two keepalived that cannot hear each other would."""
    world.vip_override = tuple(host_of(world, name).name for name in nodes)


@fault("vip-nowhere", "no control plane holds the VIP, though keepalived runs everywhere")
def vip_nowhere(world: World) -> None:
    """The address was deleted by hand; keepalived does not put it back (keepalived#534)."""
    world.vip_override = ()


@fault("decoy-address", "another address that contains the VIP's text is on the node")
def decoy_address(world: World, node: str, address: str = "10.72.0.200", prefix: int = 32) -> None:
    """`grep -F 10.72.0.20` finds it too."""
    host_of(world, node).addresses.append(Address(address, prefix))


@fault("vip-prefix", "the holder has the VIP with another prefix length than the design's")
def vip_prefix(world: World, prefix: int = 32) -> None:
    """The right address in a wrong network."""
    for host in world.holders():
        host.addresses.append(Address(layout.VIP, prefix))
    world.vip_override = ()


@fault("keepalived-stopped", "keepalived was stopped on the node; the VIP moves on")
def keepalived_stopped(world: World, node: str) -> None:
    """A clean stop."""
    host = host_of(world, node)
    if KEEPALIVED in host.units:
        actions.stop_unit(world, host, KEEPALIVED)


@fault("keepalived-failed", "keepalived ended with an error on the node; the VIP moves on")
def keepalived_failed(world: World, node: str) -> None:
    """A unit in state failed."""
    host = host_of(world, node)
    if KEEPALIVED in host.units:
        actions.fail_unit(world, host, KEEPALIVED)


@fault(
    "keepalived-killed-9",
    "keepalived was killed by SIGKILL on the node: the VIP stays there, and the next one takes it",
)
def keepalived_killed(world: World, node: str) -> None:
    """Two holders (keepalived#2361)."""
    host = host_of(world, node)
    if KEEPALIVED in host.units:
        actions.kill_unit(world, host, KEEPALIVED)


@fault("ping-loses", "that many of three pings to the VIP are lost")
def ping_loses(world: World, lost: int = 1) -> None:
    """Partial loss: ping's rc is 0."""
    world.ping_lost = lost
