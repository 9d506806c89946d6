"""Faults of the nodes' way to Ceph: gateway, monitor, and the tools that tell of it."""

from __future__ import annotations

from typing import Final

from machines import gateway, network, plan
from machines.container import Container
from machines.fault import Fault

_GATEWAY, _MONITOR = Container(plan.GATEWAY), Container(plan.MONITOR)
_NODES: Final = tuple(Container(machine) for machine in (*plan.CONTROL_PLANES, *plan.WORKERS))
_OVERLAPPED: Final = Container(plan.CONTROL_PLANES[2])
_BARE: Final = Container(plan.WORKERS[1])
_NETWORK: Final = "/usr/local/lib/machines-lab/network"
_OVERLAP: Final = "192.168.104.0/21"
_SIDE_DOOR: Final = ("eth1", "10.72.0.110/23")
_MISSING: Final = (
    (_BARE, "/usr/bin/traceroute"),
    (_BARE, "/usr/bin/nc"),
    (_GATEWAY, "/usr/bin/arping"),
)
_SHUT: Final = """
table inet shut {
    chain input {
        type filter hook input priority filter; policy accept;
        tcp dport 3300 reject with tcp reset
        tcp dport 6789 drop
    }
}
"""


def _remove_rule() -> None:
    rules = gateway.ruleset(ceph=True).splitlines(keepends=True)
    kept = [line for line in rules if f'oifname "{plan.CEPH_LEG}"' not in line]
    _GATEWAY.do("nft", "-f", "-", stdin="".join(kept))


def _hide_everywhere() -> None:
    rule = ("ip", "wetopi_nat", "postrouting", "ip", "saddr", str(plan.NODE_LAN), "masquerade")
    _GATEWAY.do("nft", "add", "rule", *rule)


def _render(_: str) -> None:
    gateway.render()


def _lower_mtu() -> None:
    _GATEWAY.do("ip", "link", "set", plan.CEPH_LEG, "mtu", "1400")


def _raise_mtu(_: str) -> None:
    _GATEWAY.do("ip", "link", "set", plan.CEPH_LEG, "mtu", "1500")
    for node in _NODES:
        # A node remembers for ten minutes what a router told it.
        node.do("ip", "route", "flush", "cache")


def _take_address() -> None:
    _GATEWAY.do("ip", "addr", "flush", "dev", plan.CEPH_LEG)


def _configure(_: str) -> None:
    gateway.configure()


def _claim_address() -> None:
    _MONITOR.do("ip", "addr", "add", str(plan.CEPH_GATEWAY), "dev", "eth0")


def _release_address(_: str) -> None:
    _MONITOR.do("ip", "addr", "del", str(plan.CEPH_GATEWAY), "dev", "eth0")
    _MONITOR.do(_NETWORK)


def _shut_ports() -> None:
    _MONITOR.do("nft", "-f", "-", stdin=_SHUT)


def _open_ports(_: str) -> None:
    _MONITOR.do("nft", "flush", "ruleset")


def _remove_return_route() -> None:
    _MONITOR.do("ip", "route", "del", str(plan.NODE_LAN))


def _restore_routes(_: str) -> None:
    _MONITOR.do(_NETWORK)


def _answer_by_another_way() -> None:
    """The monitor's answers reach the gateway on its interface in the node LAN."""
    interface, address = _SIDE_DOOR
    network.plug(_MONITOR.init, interface, network.LAN_BRIDGE)
    # Else it would ask for the gateway's hardware address in its own name of the other network,
    # and not even that would be answered.
    _MONITOR.do("sysctl", "-q", "-w", f"net.ipv4.conf.{interface}.arp_announce=2")
    _MONITOR.do("ip", "addr", "add", address, "dev", interface, "noprefixroute")
    _MONITOR.do("ip", "link", "set", interface, "up")
    way = ("via", str(plan.GATEWAY.address), "dev", interface, "onlink")
    source = ("src", str(plan.MONITOR.address))
    _MONITOR.do("ip", "route", "replace", str(plan.NODE_LAN), *way, *source)


def _answer_by_the_gateway(_: str) -> None:
    _MONITOR.call(["ip", "link", "del", _SIDE_DOOR[0]])
    _MONITOR.do(_NETWORK)


def _overlap() -> None:
    _OVERLAPPED.do("ip", "route", "add", _OVERLAP, "dev", "eth0")


def _separate(_: str) -> None:
    _OVERLAPPED.do("ip", "route", "del", _OVERLAP)


def _hide_tools() -> None:
    for container, path in _MISSING:
        container.do("mv", path, f"{path}.away")


def _bring_tools_back(_: str) -> None:
    for container, path in _MISSING:
        container.do("sh", "-c", f"[ ! -e {path}.away ] || mv {path}.away {path}")


FAULTS: Final = (
    Fault(
        "ceph-rule-missing",
        "the gateway has no rule that lets the nodes' packets into Ceph's network",
        _remove_rule,
        _render,
        phase=plan.Phase.F,
    ),
    Fault(
        "nat-everywhere",
        "the gateway hides the nodes from Ceph's network as well",
        _hide_everywhere,
        _render,
        phase=plan.Phase.F,
    ),
    Fault(
        "ceph-mtu-lowered",
        "packets into Ceph's network may have 1400 bytes only",
        _lower_mtu,
        _raise_mtu,
        phase=plan.Phase.F,
    ),
    Fault(
        "ceph-leg-bare",
        "the gateway's leg into Ceph's network has lost its address",
        _take_address,
        _configure,
        phase=plan.Phase.F,
    ),
    Fault(
        "ceph-address-claimed",
        "another machine has the gateway's address in Ceph's network",
        _claim_address,
        _release_address,
        phase=plan.Phase.F,
    ),
    Fault(
        "monitor-ports-shut",
        "the monitor refuses connections to 3300 and drops those to 6789",
        _shut_ports,
        _open_ports,
        phase=plan.Phase.F,
    ),
    Fault(
        "return-route-missing",
        "the monitor knows no way back to the nodes",
        _remove_return_route,
        _restore_routes,
        phase=plan.Phase.F,
    ),
    Fault(
        "answers-another-way",
        "the monitor's answers come to the gateway by the node LAN",
        _answer_by_another_way,
        _answer_by_the_gateway,
        phase=plan.Phase.F,
    ),
    Fault(
        "ceph-route-overlaps",
        f"{_OVERLAPPED.machine.name} has a route of its own to a part of Ceph's network",
        _overlap,
        _separate,
        phase=plan.Phase.F,
    ),
    Fault(
        "tools-missing",
        f"{_BARE.machine.name} has neither traceroute nor nc, the gateway no arping: others do",
        _hide_tools,
        _bring_tools_back,
        phase=plan.Phase.F,
    ),
)
