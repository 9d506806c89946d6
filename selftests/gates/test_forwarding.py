"""F1.c and F1.nat: what the gateway's rules are judged to mean."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from typing import Any

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Undecided
from fixtures.judge.forwarding import accepts_both_ways, nat_only_to_the_wan
from fixtures.observe.answers import Unknown
from fixtures.observe.routes import Interface, Paths, parse_routes
from fixtures.observe.ruleset import Ruleset, parse_ruleset
from selftests.gates.deciding import verdict_of
from selftests.gates.world import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
INTERFACES = (Interface("eth0", up=True, addresses=(IPv4Address("10.72.0.2"),)),)

STATE = {"ct": {"key": "state"}}
SADDR = {"payload": {"protocol": "ip", "field": "saddr"}}
DADDR = {"payload": {"protocol": "ip", "field": "daddr"}}
LAN = {"prefix": {"addr": "10.72.0.0", "len": 23}}
CEPH = {"prefix": {"addr": "192.168.96.0", "len": 20}}
ACCEPT = {"accept": None}
GENERAL = [{"match": {"op": "in", "left": STATE, "right": ["established", "related"]}}, ACCEPT]


def match(left: Any, right: Any, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": left, "right": right}}


OUT = [match(SADDR, LAN), match(DADDR, CEPH), ACCEPT]
BACK = [
    match({"meta": {"key": "iifname"}}, "eth2"),
    match({"meta": {"key": "oifname"}}, "eth0"),
    match(SADDR, "@ceph_net"),
    {"counter": {"packets": 0, "bytes": 0}},
    ACCEPT,
]


def ruleset_text(*rules: Any, elements: Any = (CEPH,), policy: str = "drop", more: Any = ()) -> str:
    at = {"family": "inet", "table": "wetopi_filter"}
    base = {"type": "filter", "hook": "forward", "prio": 0, "policy": policy}
    entries: list[Any] = [
        {"metainfo": {}},
        {"chain": at | {"name": "forward"} | base},
        {"set": at | {"name": "ceph_net", "elem": [*elements]}},
        *more,
        *({"rule": at | {"chain": "forward", "expr": rule}} for rule in rules),
    ]
    return json.dumps({"nftables": entries})


def ruleset(*rules: Any, **more: Any) -> Ruleset:
    return parse_ruleset(ruleset_text(*rules, **more))


PORTS = match({"payload": {"protocol": "tcp", "field": "dport"}}, {"set": [3300, 6789]})
VMAP = {
    "vmap": {
        "key": STATE,
        "data": {
            "set": [["established", ACCEPT], ["related", ACCEPT], ["invalid", {"drop": None}]]
        },
    }
}
RANGE = {"range": ["192.168.96.0", "192.168.111.255"]}
HALVES = (
    {"prefix": {"addr": "192.168.96.0", "len": 21}},
    {"elem": {"val": {"prefix": {"addr": "192.168.104.0", "len": 21}}, "timeout": 9}},
)
JUMP = {
    "chain": {"family": "inet", "table": "wetopi_filter", "name": "ceph"},
}
IN_JUMP = {"rule": {"family": "inet", "table": "wetopi_filter", "chain": "ceph", "expr": OUT}}
OTHER = {
    "chain": {"family": "ip", "table": "filter", "name": "FORWARD", "type": "filter",
              "hook": "forward", "prio": 0, "policy": "drop"},
}  # fmt: skip
DROP_NODE = [match(SADDR, "10.72.0.43"), {"drop": None}]


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        (ruleset(GENERAL, OUT, BACK), "PASS"),
        (ruleset([VMAP], OUT, BACK), "PASS"),
        (ruleset(GENERAL, OUT, BACK, elements=[RANGE]), "PASS"),
        (ruleset(GENERAL, OUT, BACK, elements=HALVES), "PASS"),
        (ruleset(GENERAL, [PORTS, *OUT], BACK), "PASS"),
        (ruleset(GENERAL, [{"jump": {"target": "ceph"}}], BACK, more=[JUMP, IN_JUMP]), "PASS"),
        (ruleset([match(STATE, "invalid", "in"), {"drop": None}], OUT, BACK), "PASS"),
        (ruleset(GENERAL, OUT, [match(STATE, ["established"], "in"), *BACK]), "PASS"),
        (ruleset([{"limit": {"rate": 9}}, {"drop": None}], OUT, BACK), "PASS"),
        (ruleset(GENERAL, OUT), "FAIL"),
        (ruleset(GENERAL, BACK), "FAIL"),
        (ruleset(GENERAL, OUT, BACK, elements=[HALVES[0]]), "FAIL"),
        (ruleset(GENERAL, OUT, BACK, elements=[]), "FAIL"),
        (ruleset(GENERAL, DROP_NODE, OUT, BACK), "FAIL"),
        (ruleset(policy="accept"), "FAIL"),
        (ruleset(GENERAL, OUT, BACK, more=[OTHER]), "FAIL"),
        (ruleset(GENERAL, [match(SADDR, LAN, "!="), *OUT[1:]], BACK), "FAIL"),
        (ruleset(GENERAL, [match({"meta": {"key": "mark"}}, 1), *OUT], BACK), "UNKNOWN"),
        (ruleset(GENERAL, [{"limit": {"rate": 9}}, *OUT], BACK), "UNKNOWN"),
        (ruleset(GENERAL, OUT, [match(SADDR, "@nowhere"), ACCEPT]), "UNKNOWN"),
        (parse_ruleset('{"nftables": [{"metainfo": {}}]}'), "FAIL"),
    ],
)
def test_forwarding(rules: Ruleset, verdict: str) -> None:
    assert verdict_of(lambda: accepts_both_ways(rules, INTERFACES, CLUSTER)) == verdict


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
    ],
)
def test_nat(rules: Ruleset, verdict: str) -> None:
    table = parse_routes('[{"dst":"default","gateway":"203.0.113.1","dev":"eth1","flags":[]}]')
    paths = Paths("wetopi-natgw01", table, {})
    assert verdict_of(lambda: nat_only_to_the_wan(rules, paths, CLUSTER)) == verdict


def test_without_a_single_wan_nothing_is_said_of_nat() -> None:
    for table in ((), Unknown("nobody there")):
        paths = Paths("wetopi-natgw01", table, {})
        with pytest.raises(Undecided):
            nat_only_to_the_wan(nat([WAN, HIDE]), paths, CLUSTER)
