"""The network beyond the gateway: its leg there, its rules, and the monitors (runbook, F1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Final

from lab import layout
from lab.host import Link
from lab.layout import Part
from lab.phase import Phase

if TYPE_CHECKING:
    from lab.host import Host
    from lab.world import World

NETWORK: Final = IPv4Network("192.168.96.0/20")
MONITOR: Final = "192.168.96.10"
LEG: Final = "eth2"
WAN: Final = "eth1"
ADDRESS: Final = "192.168.96.31"
PORTS: Final = (3300, 6789)
VARIABLES: Final = "ansible/inventories/prod/group_vars/all.yml"


@dataclass(slots=True)
class CephLan:
    """What is true of it.

    Attributes:
        flipped: the reviewed line switches the gateway's Ceph routing on.
        leg: the gateway has its third NIC, with its address.
        unplugged: that NIC is up, and has no link.
        source: the gateway's address on it.
        monitors: ports that each monitor listens on.
        silent: monitors that are switched off.
        returns: the Ceph side has a route back to the nodes.
        forward_out, forward_back: the gateway's two accept rules are there.
        elements: contents of the set `ceph_net`.
        nat_everywhere: there is a masquerade rule for every interface.
        filtered: packets that the gateway's reverse-path filter has dropped.
        filters: every packet from the monitors is dropped so.
        strangers: how many others it drops between two looks at that count.
        claimed: hardware address of another machine that has the gateway's address.
    """

    flipped: bool = False
    leg: bool = False
    unplugged: bool = False
    source: str = ADDRESS
    monitors: dict[str, set[int]] = field(default_factory=lambda: {MONITOR: set(PORTS)})
    silent: set[str] = field(default_factory=set)
    returns: bool = True
    forward_out: bool = True
    forward_back: bool = True
    elements: list[str] = field(default_factory=lambda: [str(NETWORK)])
    nat_everywhere: bool = False
    filtered: int = 0
    filters: bool = False
    strangers: int = 0
    claimed: str = ""

    @classmethod
    def at(cls, phase: Phase) -> CephLan:
        """What the runbook has made of it by that phase."""
        made = phase.reached(Phase.F)
        return cls(flipped=made, leg=made)

    def off(self, target: str) -> bool:
        """Whether nobody is at that address, as the gateway finds on its leg."""
        return self.linked and self.forward_out and target in self.silent

    @property
    def linked(self) -> bool:
        """Whether anything passes the leg."""
        return self.leg and not self.unplugged

    def passes(self, world: World, source: Host, target: str) -> bool:
        """Whether packets reach the monitor at that address, and its answers come back."""
        if target not in self.monitors or target in self.silent:
            return False
        # What comes back is accepted as established, whatever the rules say of the way back.
        if not (self.linked and self.returns and self.forward_out):
            return False
        gateway = world.hosts[world.layout.gateway.name]
        if self.filters:
            self.filtered += 1
            return False
        return source is gateway or gateway.link is Link.UP


def inside(address: str) -> bool:
    """Whether an address is one of the Ceph network."""
    return IPv4Address(address) in NETWORK


def is_gateway(host: Host) -> bool:
    """Whether that machine is the gateway."""
    return host.machine.part is Part.GATEWAY


def routes(world: World, host: Host) -> list[dict[str, object]]:
    """The main table as `ip -j -4 route` lists it."""
    own = host.machine.address
    lan = _connected(layout.NODE_LAN, "eth0", own)
    if not is_gateway(host):
        return [_via("default", world.layout.gateway.address, "eth0", "static"), lan]
    found = [_via("default", "203.0.113.1", WAN, "static"), lan]
    if world.ceph_lan.leg:
        connected = _connected(str(NETWORK), LEG, world.ceph_lan.source)
        found.append(connected | ({} if world.ceph_lan.linked else {"flags": ["linkdown"]}))
    return found


def _via(target: str, gateway: str, device: str, protocol: str) -> dict[str, object]:
    return {"dst": target, "gateway": gateway, "dev": device, "protocol": protocol, "flags": []}


def _connected(network: str, device: str, source: str) -> dict[str, object]:
    return {
        "dst": network,
        "dev": device,
        "protocol": "kernel",
        "scope": "link",
        "prefsrc": source,
        "flags": [],
    }


def way(world: World, host: Host, target: str, uid: int) -> dict[str, object]:
    """The way to an address as `ip -j route get` tells it."""
    address = IPv4Address(target)
    connected = [each for each in routes(world, host) if each.get("scope") == "link"]
    direct = next((each for each in connected if address in IPv4Network(str(each["dst"]))), None)
    if direct:
        return {
            "dst": target,
            "dev": direct["dev"],
            "prefsrc": direct["prefsrc"],
            "flags": [],
            "uid": uid,
            "cache": [],
        }
    default = routes(world, host)[0]
    source = "203.0.113.31" if is_gateway(host) else host.machine.address
    return {
        "dst": target,
        "gateway": default["gateway"],
        "dev": default["dev"],
        "prefsrc": source,
        "flags": [],
        "uid": uid,
        "cache": [],
    }
