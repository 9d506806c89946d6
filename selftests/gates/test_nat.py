"""F1.nat: which rules that change addresses are bound to the WAN; forms as nft 1.0.6 tells them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.nat import nat_only_to_the_wan
from fixtures.observe.answers import Unknown
from fixtures.observe.routes import Paths, parse_routes
from fixtures.observe.ruleset import Ruleset, parse_ruleset
from selftests.gates.deciding import verdict_of
from selftests.gates.test_forwarding import CLUSTER, LAN, SADDR, match, target


def nat(*rules: Any, more: Any = ()) -> Ruleset:
    at = {"family": "ip", "table": "wetopi_nat"}
    base = {"type": "nat", "hook": "postrouting", "prio": 100, "policy": "accept"}
    chain = {"chain": at | {"name": "postrouting"} | base}
    entries = [{"metainfo": {}}, chain, *more]
    entries += [{"rule": at | {"chain": "postrouting", "expr": rule}} for rule in rules]
    return parse_ruleset(json.dumps({"nftables": entries}))


WAN = match({"meta": {"key": "oifname"}}, "eth1")
HIDE = {"masquerade": None}
INNER = {"chain": {"family": "ip", "table": "wetopi_nat", "name": "inner"}}
IN_INNER = {"rule": {"family": "ip", "table": "wetopi_nat", "chain": "inner", "expr": [HIDE]}}
TO_INNER = {"jump": {"target": "inner"}}
OIFNAME, IIFNAME = ({"meta": {"key": key}} for key in ("oifname", "iifname"))
OF_TABLE = {"family": "ip", "table": "wetopi_nat"}
WANS = {"set": OF_TABLE | {"name": "wans", "type": "ifname", "elem": ["eth1"]}}
SNATS = {"map": {"key": SADDR, "data": "@snats"}}
TOGETHER = {"concat": [SADDR, OIFNAME]}
NETMAP = {"family": "ip", "addr": {"map": {"key": SADDR, "data": {"set": []}}}, "flags": "netmap"}
COUNTER = {"counter": {"packets": 0, "bytes": 0}}
COMMENT = {"xt": {"type": "match", "name": "comment"}}


def vmap(key: Any, *pairs: list[Any]) -> dict[str, Any]:
    return {"vmap": {"key": key, "data": {"set": [*pairs]}}}


def dispatch(*pairs: list[Any]) -> list[Any]:
    """A map with a name, by which the inner chain may be come to."""
    named = {"map": OF_TABLE | {"name": "disp", "map": "verdict", "elem": [*pairs]}}
    return [INNER, IN_INNER, named]


BY_MAP = {"vmap": {"key": OIFNAME, "data": "@disp"}}


def inward(*statements: Any) -> list[Any]:
    """A chain of prerouting with one rule."""
    base = {"name": "pre", "type": "nat", "hook": "prerouting", "prio": -100, "policy": "accept"}
    return [
        {"chain": OF_TABLE | base},
        {"rule": OF_TABLE | {"chain": "pre", "expr": [*statements]}},
    ]


FROM_WAN = match(IIFNAME, "eth1")
TO_PORT = {"dnat": {"addr": "10.72.0.5"}}
INET = {"family": "inet", "table": "mangle"}
MARKS = [
    {"chain": INET | {"name": "fwd", "type": "filter", "hook": "forward", "prio": -150}},
    {"rule": INET | {"chain": "fwd", "expr": [target("CONNMARK")]}},
]
SIX = {"family": "ip6", "table": "nat6"}
HIDE_SIX = [
    {"chain": SIX | {"name": "post", "type": "nat", "hook": "postrouting", "prio": 100}},
    {"rule": SIX | {"chain": "post", "expr": [HIDE]}},
]


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        (nat([match(SADDR, LAN), WAN, HIDE]), "PASS"),
        (nat([match({"meta": {"key": "oifname"}}, {"set": ["eth1"]}), HIDE]), "PASS"),
        (nat([WAN, TO_INNER], more=[INNER, IN_INNER]), "PASS"),
        (nat([WAN, HIDE], [match(SADDR, LAN), HIDE]), "FAIL"),
        (nat([WAN, HIDE], [{"snat": {"addr": "10.72.0.2"}}]), "FAIL"),
        (nat([match({"meta": {"key": "oifname"}}, "eth0", "!="), HIDE]), "FAIL"),
        (nat([match({"meta": {"key": "oifname"}}, {"set": ["eth1", "eth2"]}), HIDE]), "FAIL"),
        (nat([TO_INNER], more=[INNER, IN_INNER]), "FAIL"),
        (nat([WAN, HIDE], [{"xt": {"type": "target", "name": "MASQUERADE"}}]), "FAIL"),
        (nat(), "FAIL"),
        (nat([match({"meta": {"key": "oifname"}}, "@wan"), HIDE]), "UNKNOWN"),
        (nat([match({"meta": {"key": "oif"}}, "eth1"), COUNTER, HIDE]), "PASS"),
        (nat([match(OIFNAME, "@wans"), {"snat": {"addr": SNATS}}], more=[WANS]), "PASS"),
        (nat([match(OIFNAME, "eth*"), {"masquerade": {"flags": "random"}}]), "FAIL"),
        (nat([match(IIFNAME, "eth1"), HIDE]), "FAIL"),
        (nat([WAN, HIDE], [{"snat": NETMAP}]), "FAIL"),
        (nat([match({"fib": {"result": "type", "flags": ["daddr"]}}, "local"), HIDE]), "FAIL"),
        # Fields that are looked at together.
        (nat([match(TOGETHER, {"set": [{"concat": [LAN, "eth1"]}]}), HIDE]), "PASS"),
        (nat([match(TOGETHER, {"set": [{"concat": [LAN, each]} for each in ("eth1", "eth2")]}),
              HIDE]), "FAIL"),
        (nat([match(TOGETHER, "@nowhere"), HIDE]), "UNKNOWN"),
        # By a map: what counts is what leads there, and by which interface.
        (nat([vmap(OIFNAME, ["eth1", TO_INNER])], more=[INNER, IN_INNER]), "PASS"),
        (nat([vmap(OIFNAME, ["eth1", TO_INNER], ["eth2", TO_INNER])], more=[INNER, IN_INNER]),
         "FAIL"),
        (nat([vmap(OIFNAME, ["eth1", {"accept": None}], ["eth2", TO_INNER])],
             more=[INNER, IN_INNER]), "FAIL"),
        (nat([vmap(IIFNAME, ["eth0", TO_INNER])], more=[INNER, IN_INNER]), "FAIL"),
        (nat([WAN, vmap(IIFNAME, ["eth0", TO_INNER])], more=[INNER, IN_INNER]), "PASS"),
        (nat([BY_MAP], more=dispatch(["eth1", TO_INNER])), "PASS"),
        (nat([BY_MAP], more=dispatch(["eth0", TO_INNER], ["eth1", {"accept": None}])), "FAIL"),
        (nat([WAN, HIDE], [BY_MAP], more=[INNER, IN_INNER]), "UNKNOWN"),
        # A chain whose name is the beginning of another's.
        (nat([WAN, HIDE], [{"jump": {"target": "inner2"}}], more=[INNER, IN_INNER]), "PASS"),
        # Rules of iptables: what they do is told by newer nft only.
        (nat([WAN, COUNTER, target("MASQUERADE")]), "PASS"),
        (nat([match(SADDR, LAN), COMMENT, COUNTER, target("MASQUERADE")]), "FAIL"),
        (nat([WAN, HIDE], [COUNTER, target("NETMAP")]), "FAIL"),
        (nat([WAN, HIDE], [COUNTER, target("SAME")]), "UNKNOWN"),
        (nat([WAN, target("SAME")]), "PASS"),
        (nat([WAN, HIDE], [COUNTER, {"xt": None}]), "UNKNOWN"),
        (nat([WAN, HIDE], [COUNTER, target("LOG")]), "PASS"),
        (nat([WAN, HIDE], more=MARKS), "PASS"),
        # Inwards it is the interface that a packet comes in by.
        (nat([WAN, HIDE], more=inward(FROM_WAN, TO_PORT)), "PASS"),
        (nat([WAN, HIDE], more=inward(FROM_WAN, target("REDIRECT"))), "PASS"),
        (nat([WAN, HIDE], more=inward(TO_PORT)), "FAIL"),
        (nat([WAN, HIDE], more=inward(WAN, TO_PORT)), "FAIL"),
        (nat([WAN, HIDE], more=inward(target("NETMAP"))), "FAIL"),
        # The nodes' addresses are of IPv4.
        (nat([WAN, HIDE], more=HIDE_SIX), "PASS"),
    ],
)  # fmt: skip
def test_nat(rules: Ruleset, verdict: str) -> None:
    table = parse_routes('[{"dst":"default","gateway":"203.0.113.1","dev":"eth1","flags":[]}]')
    paths = Paths("wetopi-natgw01", table, {})
    assert verdict_of(lambda: nat_only_to_the_wan(rules, paths, CLUSTER)) == verdict


def test_without_a_single_wan_nothing_is_said_of_nat() -> None:
    two = (
        '[{"dst":"default","flags":[],"nexthops":['
        '{"gateway":"203.0.113.1","dev":"eth1","weight":1,"flags":[]},'
        '{"gateway":"203.0.113.9","dev":"eth3","weight":1,"flags":[]}]}]'
    )
    for table in ((), parse_routes(two), Unknown("nobody there")):
        paths = Paths("wetopi-natgw01", table, {})
        with pytest.raises(Undecided):
            nat_only_to_the_wan(nat([WAN, HIDE]), paths, CLUSTER)


@pytest.mark.parametrize(
    ("device", "routes"),
    [
        ("eth2", ""),
        ("eth4", ',{"dst":"192.168.96.0/20","dev":"eth4","flags":[]}'),
        ("eth0", ',{"dst":"10.72.0.0/23","dev":"eth0","flags":[]}'),
    ],
)
def test_an_interface_to_the_nodes_or_to_ceph_is_no_wan(device: str, routes: str) -> None:
    default = f'{{"dst":"default","gateway":"192.0.2.1","dev":"{device}","flags":[]}}'
    paths = Paths("wetopi-natgw01", parse_routes(f"[{default}{routes}]"), {})
    with pytest.raises(Undecided, match=f"leaves by {device}, which leads to"):
        nat_only_to_the_wan(nat([match(OIFNAME, device), HIDE]), paths, CLUSTER)
