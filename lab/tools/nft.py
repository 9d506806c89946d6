"""nft on the gateway: its ruleset as JSON (captures: nft.out)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lab import layout
from lab.ceph_lan import LEG, NETWORK, WAN, is_gateway
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.ceph_lan import CephLan
    from lab.tools.call import Call

_META = {"version": "1.0.9", "release_name": "Old Doc Yak #3", "json_schema_version": 1}


async def nft(call: Call) -> int:
    """`nft -j list ruleset`."""
    if call.arguments != ("-j", "list", "ruleset"):
        raise UsageError(f"nft: the lab knows `-j list ruleset` only, not {call.arguments}")
    if call.user != "root":
        call.complain("Operation not permitted (you must be root)")
        call.complain("netlink: Error: cache initialization failed: Operation not permitted")
        return 1
    entries: list[dict[str, Any]] = [{"metainfo": _META}]
    if is_gateway(call.host):
        entries += tables(call.world.ceph_lan)
    call.say(json.dumps({"nftables": entries}))
    return 0


def tables(lan: CephLan) -> list[dict[str, Any]]:
    """The gateway's tables, as the role nat_gateway renders them."""
    return [*_filter(lan), *_nat(lan)]


def _chain(family: str, table: str, name: str, **base: object) -> dict[str, Any]:
    named = {"family": family, "table": table, "name": name, "handle": 1}
    return {"chain": named | base}


def _rule(family: str, table: str, chain: str, *statements: dict[str, Any]) -> dict[str, Any]:
    place = {"family": family, "table": table, "chain": chain, "handle": 4}
    return {"rule": place | {"expr": list(statements)}}


def _match(left: dict[str, Any], right: object, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": left, "right": right}}


def _ip(field: str) -> dict[str, Any]:
    return {"payload": {"protocol": "ip", "field": field}}


def _prefix(network: str) -> dict[str, Any]:
    address, _, length = network.partition("/")
    return {"prefix": {"addr": address, "len": int(length)}}


def _meta(key: str) -> dict[str, Any]:
    return {"meta": {"key": key}}


def _filter(lan: CephLan) -> list[dict[str, Any]]:
    family, table = "inet", "wetopi_filter"
    at = (family, table, "forward")
    named = {"family": family, "name": "ceph_net", "table": table, "type": "ipv4_addr", "handle": 2}
    accept: dict[str, Any] = {"accept": None}
    counter = {"counter": {"packets": 0, "bytes": 0}}
    entries = [
        {"table": {"family": family, "name": table, "handle": 1}},
        _chain(*at, type="filter", hook="forward", prio=0, policy="drop"),
        {"set": named | {"flags": ["interval"], "elem": [_prefix(each) for each in lan.elements]}},
        _rule(*at, _match({"ct": {"key": "state"}}, ["established", "related"], "in"), accept),
        _rule(
            *at,
            _match(_meta("iifname"), "eth0"),
            _match(_meta("oifname"), WAN),
            _match(_ip("saddr"), _prefix(layout.NODE_LAN)),
            accept,
        ),
    ]
    if lan.leg and lan.forward_out:
        entries.append(
            _rule(
                *at,
                _match(_ip("saddr"), _prefix(layout.NODE_LAN)),
                _match(_ip("daddr"), _prefix(str(NETWORK))),
                accept,
            )
        )
    if lan.leg and lan.forward_back:
        entries.append(
            _rule(
                *at,
                _match(_meta("iifname"), LEG),
                _match(_meta("oifname"), "eth0"),
                _match(_ip("saddr"), "@ceph_net"),
                counter,
                accept,
            )
        )
    return entries


def _nat(lan: CephLan) -> list[dict[str, Any]]:
    at = ("ip", "wetopi_nat", "postrouting")
    source = _match(_ip("saddr"), _prefix(layout.NODE_LAN))
    entries = [
        {"table": {"family": "ip", "name": "wetopi_nat", "handle": 2}},
        _chain(*at, type="nat", hook="postrouting", prio=100, policy="accept"),
        _rule(*at, source, _match(_meta("oifname"), WAN), {"masquerade": None}),
    ]
    if lan.nat_everywhere:
        entries.append(_rule(*at, source, {"masquerade": None}))
    return entries
