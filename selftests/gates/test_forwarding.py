"""F1.c: what the gateway's rules do with the packets between nodes and monitors."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from typing import Any

import pytest

from fixtures.core.inventory_file import load
from fixtures.judge.forwarding import accepts_both_ways
from fixtures.observe.routes import Interface
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
AT = {"family": "inet", "table": "wetopi_filter"}
DISPATCH = {
    "map": AT | {
        "name": "dispatch", "type": "ifname", "map": "verdict",
        "elem": [["eth0", {"jump": {"target": "ceph"}}], ["eth1", {"drop": None}]],
    },
}  # fmt: skip
BY_MAP = [{"vmap": {"key": {"meta": {"key": "iifname"}}, "data": "@dispatch"}}]
BY_NO_MAP = [{"vmap": {"key": {"meta": {"key": "iifname"}}, "data": "@nowhere"}}]
TCP_DPORT = {"payload": {"protocol": "tcp", "field": "dport"}}
TOGETHER = {"concat": [DADDR, TCP_DPORT]}
MONITOR_PORTS = {"set": [{"concat": [CEPH, port]} for port in (3300, 6789)]}
CONC = {"set": AT | {"name": "conc", "elem": [{"concat": [CEPH, {"range": [3300, 6800]}]}]}}
NARROW = {"set": [{"concat": ["192.168.96.10", 3300]}]}
REPLY = [match({"ct": {"key": "direction"}}, "reply")]
CLAMP = [match({"payload": {"protocol": "tcp", "field": "flags"}}, "syn", "in"), {"mangle": {}}]
COUNT = [{"ct count": {"val": 10, "inv": True}}, {"drop": None}]
QUOTA = [{"quota": {"val": 10, "val_unit": "mbytes", "inv": True}}, {"drop": None}]
METER = [{"set": {"op": "add", "elem": {"elem": {"val": SADDR}}, "set": "@seen"}}]


def target(name: str) -> dict[str, Any]:
    return {"xt": {"type": "target", "name": name}}


MATCHED = [{"xt": {"type": "match", "name": "multiport"}}]
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
        (ruleset(GENERAL, [match(STATE, "new"), *OUT], BACK), "PASS"),
        # A connection is more than its first packet and the answer to that.
        (ruleset([match(STATE, "new"), *OUT], BACK), "FAIL"),
        (
            ruleset([match(STATE, "established"), match(SADDR, LAN), {"drop": None}], OUT, BACK),
            "FAIL",
        ),
        (
            ruleset(
                [match(STATE, "established"), {"limit": {"rate": 9}}, *OUT],
                [match(STATE, "new"), *OUT],
                BACK,
            ),
            "UNKNOWN",
        ),
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
        # Verdicts by a map with a name, and fields that are looked at together.
        (ruleset(BY_MAP, BACK, more=[JUMP, IN_JUMP, DISPATCH]), "PASS"),
        (ruleset(BY_NO_MAP, OUT, BACK), "UNKNOWN"),
        (ruleset([match(TOGETHER, MONITOR_PORTS), ACCEPT], BACK), "PASS"),
        (ruleset([match(TOGETHER, "@conc"), ACCEPT], BACK, more=[CONC]), "PASS"),
        (ruleset([match(TOGETHER, "@nowhere"), ACCEPT], BACK), "UNKNOWN"),
        (ruleset([match(TOGETHER, NARROW), {"drop": None}], OUT, BACK), "UNKNOWN"),
        # What looks at no address is no rule for the way back, as much as it accepts.
        (ruleset(OUT, [*REPLY, ACCEPT]), "FAIL"),
        (ruleset(OUT, [*REPLY, *BACK]), "PASS"),
        # What decides nothing, and what nobody can say of whether it holds.
        (ruleset(CLAMP, METER, [target("LOG")], [target("TCPMSS")], OUT, BACK), "PASS"),
        (ruleset(COUNT, OUT, BACK), "PASS"),
        (ruleset(QUOTA, OUT, BACK), "UNKNOWN"),
        (ruleset([*METER, {"drop": None}], OUT, BACK), "UNKNOWN"),
        # What iptables made; older nft do not tell what it is.
        (ruleset([target("REJECT")], OUT, BACK), "FAIL"),
        (ruleset([target("QUEUE")], OUT, BACK), "UNKNOWN"),
        (ruleset([*MATCHED, {"drop": None}], OUT, BACK), "UNKNOWN"),
        (ruleset([*MATCHED, ACCEPT], OUT, BACK), "PASS"),
        (ruleset([{"xt": None}], OUT, BACK), "UNKNOWN"),
        (ruleset([{"xt": None}, ACCEPT], OUT, BACK), "PASS"),
    ],
)
def test_forwarding(rules: Ruleset, verdict: str) -> None:
    assert verdict_of(lambda: accepts_both_ways(rules, INTERFACES, CLUSTER)) == verdict
