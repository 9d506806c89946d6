"""iproute2's `ip addr` and `ip route`, text and JSON (captures: net.out, ka.out)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from ipaddress import ip_interface
from typing import TYPE_CHECKING, Any

from lab import ceph_lan, layout
from lab.host import Address
from lab.phase import Phase
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.host import Host
    from lab.tools.call import Call
    from lab.world import World

_FOREVER = 4294967295


@dataclass(frozen=True, slots=True)
class _Interface:
    index: int
    name: str
    flags: tuple[str, ...]
    mtu: int
    qdisc: str
    state: str

    @property
    def header(self) -> str:
        flags = ",".join(self.flags)
        return (
            f"{self.index}: {self.name}: <{flags}> mtu {self.mtu} qdisc {self.qdisc} "
            f"state {self.state} group default qlen 1000"
        )

    def document(self) -> dict[str, Any]:
        return {
            "ifindex": self.index,
            "ifname": self.name,
            "flags": list(self.flags),
            "mtu": self.mtu,
            "qdisc": self.qdisc,
            "operstate": self.state,
            "group": "default",
            "txqlen": 1000,
        }


_LO = _Interface(1, "lo", ("LOOPBACK", "UP", "LOWER_UP"), 65536, "noqueue", "UNKNOWN")
_ETH0 = _Interface(2, "eth0", ("BROADCAST", "MULTICAST", "UP", "LOWER_UP"), 1500, "fq_codel", "UP")
_WAN = replace(_ETH0, index=3, name=ceph_lan.WAN)
_LEG = replace(_ETH0, index=4, name=ceph_lan.LEG)
_UNPLUGGED = replace(_LEG, flags=("NO-CARRIER", "BROADCAST", "MULTICAST", "UP"), state="DOWN")
_CILIUM = _Interface(
    4, "cilium_host", ("BROADCAST", "MULTICAST", "NOARP", "UP", "LOWER_UP"), 1500, "noqueue", "UP"
)


def addresses_of(world: World, host: Host) -> list[Address]:
    """Every IPv4 address on the host, loopback and its own first, the VIP among the others."""
    found = [Address("127.0.0.1", 8, "lo"), Address(host.machine.address, layout.VIP_PREFIX)]
    if world.holds_vip(host):
        found.append(Address(layout.VIP, layout.VIP_PREFIX))
    found += host.addresses
    if ceph_lan.is_gateway(host):
        found.append(Address("203.0.113.31", 24, ceph_lan.WAN))
        if world.ceph_lan.leg:
            found.append(Address(world.ceph_lan.source, 20, ceph_lan.LEG))
    if world.phase.reached(Phase.E) and host.processes:
        node = world.objects.get("Node", "", host.name)
        if node:
            network = node["spec"]["podCIDR"].partition("/")[0]
            found.append(Address(network.rpartition(".")[0] + ".117", 32, "cilium_host"))
    return found


async def ip(call: Call) -> int:
    """`ip [-4] [-j] [-o] [-br] addr|address|a [show] [[dev] NAME]`, `ip route …`."""
    flags: set[str] = set()
    words = list(call.arguments)
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        if flag not in ("-4", "-j", "-json", "-o", "-oneline", "-br", "-brief", "-d", "-s", "-p"):
            raise UsageError(f'Option "{flag}" is unknown, try "ip -help".', 255)
        flags.add({"-json": "-j", "-oneline": "-o", "-brief": "-br"}.get(flag, flag))
    family = words.pop(0) if words else ""
    if family and "address".startswith(family):
        return _addresses(call, flags, words)
    if family and "route".startswith(family):
        return _route(call, flags, words)
    raise UsageError(f'Object "{family}" is unknown, try "ip help".')


def _addresses(call: Call, flags: set[str], words: list[str]) -> int:
    if words and words[0] in ("show", "list", "ls", "s"):
        words.pop(0)
    if words and words[0] == "dev":
        words.pop(0)
    wanted = words[0] if words else None
    interfaces = [_LO, _ETH0]
    addresses = addresses_of(call.world, call.host)
    there = {address.interface for address in addresses}
    leg = _UNPLUGGED if call.world.ceph_lan.unplugged else _LEG
    interfaces += [more for more in (_WAN, leg, _CILIUM) if more.name in there]
    if wanted:
        interfaces = [interface for interface in interfaces if interface.name == wanted]
        if not interfaces:
            call.complain(f'Device "{wanted}" does not exist.')
            return 1
    if "-j" in flags:
        documents = []
        for interface in interfaces:
            document = interface.document()
            document["addr_info"] = [
                _info(address, secondary=secondary)
                for address, secondary in _on(interface, addresses)
            ]
            documents.append(document)
        call.say(json.dumps(documents, separators=(",", ":")))
        return 0
    for interface in interfaces:
        _print(call, interface, _on(interface, addresses), flags)
    return 0


def _on(interface: _Interface, addresses: list[Address]) -> list[tuple[Address, bool]]:
    """The interface's addresses; a later one in a network already there is secondary."""
    found: list[tuple[Address, bool]] = []
    networks: set[tuple[str, int]] = set()
    for address in addresses:
        if address.interface != interface.name:
            continue
        network = (_network(address), address.prefix)
        found.append((address, network in networks and address.prefix < 32))
        networks.add(network)
    return found


def _network(address: Address) -> str:
    return str(ip_interface(f"{address.address}/{address.prefix}").network)


def _scope(address: Address) -> str:
    return "host" if address.interface == "lo" else "global"


def _info(address: Address, *, secondary: bool) -> dict[str, Any]:
    info: dict[str, Any] = {
        "family": "inet",
        "local": address.address,
        "prefixlen": address.prefix,
    }
    if _broadcast(address, secondary=secondary):
        info["broadcast"] = layout.LAN_BROADCAST
    info["scope"] = _scope(address)
    if secondary:
        info["secondary"] = True
    info |= {
        "label": address.interface,
        "valid_life_time": _FOREVER,
        "preferred_life_time": _FOREVER,
    }
    return info


def _broadcast(address: Address, *, secondary: bool) -> bool:
    return address.interface == "eth0" and address.prefix < 32 and not secondary


def _print(
    call: Call, interface: _Interface, addresses: list[tuple[Address, bool]], flags: set[str]
) -> None:
    if "-br" in flags:
        listed = " ".join(f"{address.address}/{address.prefix}" for address, _ in addresses)
        call.say(f"{interface.name:<17}{interface.state:<15}{listed} ")
        return
    if "-o" not in flags:
        call.say(interface.header)
    for address, secondary in addresses:
        broadcast = _broadcast(address, secondary=secondary)
        parts = [f"inet {address.address}/{address.prefix}"]
        parts += [f"brd {layout.LAN_BROADCAST}"] if broadcast else []
        parts += [f"scope {_scope(address)}"]
        parts += ["secondary"] if secondary else []
        line = " ".join([*parts, address.interface])
        life = "       valid_lft forever preferred_lft forever"
        if "-o" in flags:
            call.say(f"{interface.index}: {interface.name}    {line}\\{life}")
        else:
            call.say(f"    {line}")
            call.say(life)


def _route(call: Call, flags: set[str], words: list[str]) -> int:
    if words[:1] == ["get"] and len(words) > 1:
        found = [ceph_lan.way(call.world, call.host, words[1], 0 if call.user == "root" else 1000)]
    elif not words or words[0] in ("show", "list"):
        found = ceph_lan.routes(call.world, call.host)
        if words[1:]:
            found = [each for each in found if each["dst"] == words[1]]
    else:
        raise UsageError(f'Command "{words[0]}" is unknown, try "ip route help".', 255)
    if "-j" in flags:
        call.say(json.dumps(found, separators=(",", ":")))
        return 0
    for each in found:
        call.say(_line(each))
        if "cache" in each:
            call.say("    cache ")
    return 0


def _line(route: dict[str, object]) -> str:
    names = {"gateway": "via", "dev": "dev", "protocol": "proto", "scope": "scope"}
    names |= {"prefsrc": "src", "uid": "uid"}
    words = [f"{word} {route[key]}" for key, word in names.items() if key in route]
    return " ".join([str(route["dst"]), *words, ""])
