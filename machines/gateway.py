"""The gateway: what the role nat_gateway makes of it, before and after the flip (runbook, F1)."""

from __future__ import annotations

import json
from typing import Final

from machines import network, plan
from machines.container import Container

FIREWALL: Final = "/etc/nftables.conf"
_SYSCTLS: Final = "/etc/sysctl.d/60-natgw.conf"
_ME: Final = Container(plan.GATEWAY)


def furnish() -> None:
    """Write what it boots with: it forwards, filters and hides the nodes; no leg for Ceph yet."""
    _ME.write(FIREWALL, ruleset(ceph=False), mode=0o755)
    _ME.write(_SYSCTLS, sysctls())


def plug() -> None:
    """Give the running gateway its third network card, as `tofu apply` does (runbook, F0).

    Raises:
        LabError: it is not running, or has the card already.
    """
    network.plug(_ME.init, plan.CEPH_LEG, network.CEPH_BRIDGE)


def configure() -> None:
    """What bootstrap.yml does after the flip: the leg's address, the rules for Ceph.

    Raises:
        LabError: a command failed there.
    """
    _ME.do("ip", "addr", "replace", str(plan.CEPH_GATEWAY), "brd", "+", "dev", plan.CEPH_LEG)
    _ME.do("ip", "link", "set", plan.CEPH_LEG, "mtu", "1500", "up")
    render()


def render() -> None:
    """Write the rules for Ceph and put them in force.

    Raises:
        LabError: nft refuses them.
    """
    _ME.write(FIREWALL, ruleset(ceph=True), mode=0o755)
    _ME.do("nft", "-f", FIREWALL)


def complaints() -> list[str]:
    """What is wrong with its leg into Ceph's network; empty when healthy."""
    shown = _ME.call(["ip", "-j", "-4", "addr", "show", "dev", plan.CEPH_LEG, "up"])
    addresses = [
        f"{address['local']}/{address['prefixlen']}"
        for link in json.loads(shown.stdout or "[]")
        for address in link.get("addr_info", [])
    ]
    if addresses != [str(plan.CEPH_GATEWAY)]:
        return [f"{plan.GATEWAY.name}: {plan.CEPH_LEG} has {', '.join(addresses) or 'no address'}"]
    return []


def sysctls() -> str:
    """The kernel's settings: forwarding, and a strict reverse-path filter (F1, gate d)."""
    return (
        "net.ipv4.ip_forward = 1\n"
        "net.ipv4.conf.all.rp_filter = 1\n"
        "net.ipv4.conf.default.rp_filter = 1\n"
    )


def ruleset(*, ceph: bool) -> str:
    """nftables.conf: the nodes are hidden from the WAN; with `ceph`, routed into that network."""
    networks, rules = "", ""
    if ceph:
        networks = f"""
    set ceph_net {{
        type ipv4_addr
        flags interval
        elements = {{ {plan.CEPH_LAN} }}
    }}
"""
        rules = f"""
        iifname "eth0" oifname "{plan.CEPH_LEG}" ip saddr {plan.NODE_LAN} ip daddr @ceph_net accept
        iifname "{plan.CEPH_LEG}" oifname "eth0" ip saddr @ceph_net ip daddr {plan.NODE_LAN} accept\
"""
    return f"""flush ruleset

table inet wetopi_filter {{{networks}
    chain forward {{
        type filter hook forward priority filter; policy drop;
        ct state established,related accept
        iifname "eth0" oifname "eth1" ip saddr {plan.NODE_LAN} accept{rules}
    }}
}}

table ip wetopi_nat {{
    chain postrouting {{
        type nat hook postrouting priority srcnat; policy accept;
        ip saddr {plan.NODE_LAN} oifname "eth1" masquerade
    }}
}}
"""
