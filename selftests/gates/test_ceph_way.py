"""F1: what the gateway's routes and filters and the nodes' probes are judged to mean."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from typing import Any

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.statements import Statement
from fixtures.core.verdicts import Undecided
from fixtures.judge import claims, reach, routing
from fixtures.observe.answers import Unknown
from fixtures.observe.echoes import Echo, Sized
from fixtures.observe.flip import Flip, Switch
from fixtures.observe.hop_lines import parse_traceroute
from fixtures.observe.hops import Trace
from fixtures.observe.kernel import Drops, Filters
from fixtures.observe.network import Ping
from fixtures.observe.routes import Interface, NoRoute, Paths, Route, parse_interfaces, parse_routes
from selftests.gates.deciding import verdict_of
from selftests.gates.world import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
MONITOR = IPv4Address("192.168.96.10")
OWN = IPv4Address("192.168.96.31")
GATEWAY = IPv4Address("10.72.0.2")
INTERFACES = (
    Interface("eth0", up=True, addresses=(GATEWAY,)),
    Interface("eth1", up=True, addresses=(IPv4Address("203.0.113.31"),)),
    Interface("eth2", up=True, addresses=(OWN,)),
)
FLIP = Flip("ops01:infrastructure", "a" * 40, Switch(enabled=True, address=OWN), "b" * 40)

GOOD = Ping(str(MONITOR), 0, 3, 3, "0")
LOST = Ping(str(MONITOR), 1, 3, 0, "100")
LONG = Ping(str(MONITOR), 1, 3, 0, "100", errors=3, remarks="ping: local error: message too long")
FRAG = Ping(str(MONITOR), 1, 3, 0, "100", errors=3, remarks="Frag needed and DF set (mtu = 1400)")
FULL = Ping(str(MONITOR), 1, 3, 0, "100", remarks="ping: sendmsg: No buffer space available")


@pytest.mark.parametrize(
    ("fitting", "too_long", "verdict"),
    [
        (GOOD, LONG, "PASS"),
        (GOOD, FRAG, "PASS"),
        (GOOD, GOOD, "FAIL"),
        (GOOD, LOST, "UNKNOWN"),
        (FRAG, LONG, "FAIL"),
        (LOST, LOST, "FAIL"),
        (LOST, LONG, "FAIL"),
        (FULL, FULL, "UNKNOWN"),
        (Unknown("rke-cp01: no answer"), LONG, "UNKNOWN"),
        (Ping(str(MONITOR), 2, 0, 0, "100", no_route="Network is unreachable"), LONG, "FAIL"),
    ],
)
def test_mtu(fitting: Any, too_long: Any, verdict: str) -> None:
    seen = [Sized(node.name, str(MONITOR), GOOD, LONG) for node in CLUSTER.nodes[1:]]
    seen.append(Sized(CLUSTER.nodes[0].name, str(MONITOR), fitting, too_long))
    assert verdict_of(lambda: reach.largest_fit(seen, CLUSTER)) == verdict


def test_a_smaller_mtu_is_told_with_what_remembers_it() -> None:
    seen = [Sized(node.name, str(MONITOR), FRAG, LONG) for node in CLUSTER.nodes]
    (first, *_) = reach.largest_fit(seen, CLUSTER)
    assert "too long for the way, which takes 1400 bytes at most" in first
    assert "`sudo ip route flush cache`" in first


def test_a_node_that_was_not_asked_is_not_passed_over() -> None:
    seen = [Echo(node.name, str(MONITOR), GOOD) for node in CLUSTER.nodes]
    assert reach.all_answer(seen, CLUSTER) == ()
    for some in (seen[1:], []):
        with pytest.raises(Undecided):
            reach.all_answer(some, CLUSTER)


def route(text: str) -> Route:
    return parse_routes(text)[0]


THROUGH = route('[{"dst":"192.168.96.10","gateway":"10.72.0.2","dev":"eth0"}]')
ON_LINK = route('[{"dst":"192.168.96.10","dev":"eth0"}]')
STRANGER = route('[{"dst":"192.168.96.10","gateway":"10.72.0.1","dev":"eth0"}]')


@pytest.mark.parametrize(
    ("text", "way", "verdict"),
    [
        (" 1  10.72.0.2  0.2 ms  0.1 ms\n 2  192.168.96.10  0.4 ms", THROUGH, "PASS"),
        (" 1  10.72.0.2  0.2 ms * 0.1 ms\n 2  192.168.96.10  0.4 ms !X", THROUGH, "PASS"),
        (" 1  * * *\n 2  * * *", THROUGH, "FAIL"),
        (" 1  192.168.96.10  0.2 ms", THROUGH, "FAIL"),
        (" 1  10.72.0.2  0.2 ms\n 2  * * *", THROUGH, "FAIL"),
        (" 1  10.72.0.2  0.2 ms\n 2  10.9.9.9  1 ms\n 3  192.168.96.10  1 ms", THROUGH, "FAIL"),
        (" 1  10.72.0.2  0.2 ms !H", THROUGH, "FAIL"),
        (" 1  10.72.0.1  0.2 ms\n 2  192.168.96.10  0.4 ms", THROUGH, "FAIL"),
        (" 1  10.72.0.1  0.2 ms\n 2  192.168.96.10  0.4 ms", STRANGER, "FAIL"),
        (" 1  10.72.0.2  0.2 ms\n 2  192.168.96.10  0.4 ms", ON_LINK, "FAIL"),
        (" 1  * * *\n 2  192.168.96.10  0.4 ms", THROUGH, "UNKNOWN"),
        # The monitor answers no more probes for now; or somebody silent is between.
        (" 1  10.72.0.2  0.2 ms\n 2  * * *\n 3  192.168.96.10  0.4 ms", THROUGH, "UNKNOWN"),
        (" 1  10.72.0.2  0.2 ms\n 2  * * *\n 3  10.72.0.2  9 ms !H", THROUGH, "FAIL"),
        (" 1  10.72.0.2  0.2 ms\n 2  10.72.0.2  0.4 ms !X", THROUGH, "FAIL"),
        (" 1  10.72.0.2  0.2 ms\n 2  192.168.96.10  0.4 ms", NoRoute("refused"), "FAIL"),
        (Unknown("rc 1: connect: Network is unreachable"), NoRoute("refused"), "FAIL"),
        (Unknown("no tool"), THROUGH, "UNKNOWN"),
        (" 1  10.72.0.2  0.2 ms\n 2  192.168.96.10  0.4 ms", Unknown("?"), "UNKNOWN"),
    ],
)
def test_trace(text: str | Unknown, way: Any, verdict: str) -> None:
    good = parse_traceroute(" 1  10.72.0.2  0.2 ms\n 2  192.168.96.10  0.4 ms")
    first = CLUSTER.nodes[0].name
    mine = text if isinstance(text, Unknown) else parse_traceroute(text)
    seen = [
        Trace(node.name, MONITOR, mine if node.name == first else good) for node in CLUSTER.nodes
    ]
    ways = [
        Paths(node.name, (), {MONITOR: way if node.name == first else THROUGH})
        for node in CLUSTER.nodes
    ]
    judge = reach.through_the_gateway
    assert verdict_of(lambda: judge(seen, ways, INTERFACES, CLUSTER)) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('[{"dst":"192.168.96.0/20","dev":"eth2","prefsrc":"192.168.96.31"}]', "PASS"),
        ("", "FAIL"),
        ('[{"dst":"192.168.96.0/20","dev":"eth1","prefsrc":"192.168.96.31"}]', "FAIL"),
        ('[{"dst":"192.168.96.0/20","dev":"eth2","prefsrc":"192.168.96.32"}]', "FAIL"),
        ('[{"dst":"192.168.96.0/20","dev":"eth2"}]', "FAIL"),
        ('[{"dst":"192.168.96.0/21","dev":"eth2","prefsrc":"192.168.96.31"}]', "FAIL"),
        ('[{"dst":"192.168.96.0/20","dev":"eth2","prefsrc":"192.168.96.31","flags":["linkdown"]}]',
         "FAIL"),
        (None, "UNKNOWN"),
    ],
)  # fmt: skip
def test_the_leg(text: str | None, verdict: str) -> None:
    to = '[{"dst":"%s","dev":"%s","prefsrc":"%s"}]'
    ways: dict[IPv4Address, Any] = {MONITOR: route(to % (MONITOR, "eth2", OWN))}
    ways |= {node.address: route(to % (node.address, "eth0", GATEWAY)) for node in CLUSTER.nodes}
    table = Unknown("not asked") if text is None else parse_routes(text)
    paths = Paths("wetopi-natgw01", table, ways)
    assert verdict_of(lambda: routing.way_is_right(paths, INTERFACES, FLIP, CLUSTER)) == verdict


@pytest.mark.parametrize(
    ("before", "after", "at_rest", "ping", "verdict"),
    [
        (7, 7, None, GOOD, "PASS"),
        (7, 10, 0, GOOD, "FAIL"),
        (7, 10, 2, GOOD, "FAIL"),
        (7, 10, 3, GOOD, "UNKNOWN"),
        (7, 10, 9, LOST, "FAIL"),
        (7, 10, 0, LOST, "FAIL"),
        (7, 7, None, LOST, "UNKNOWN"),
        (7, 0, None, GOOD, "UNKNOWN"),
    ],
)
def test_the_filter(before: int, after: int, at_rest: int | None, ping: Ping, verdict: str) -> None:
    echoes = tuple(Echo(node.name, str(MONITOR), ping) for node in CLUSTER.nodes)
    filters = Filters({"all": 0, "eth0": 1, "eth2": 2}, ())
    judge = routing.nothing_filtered
    drops = Drops(before, after, echoes, at_rest)
    assert verdict_of(lambda: judge(drops, filters, CLUSTER)) == verdict
    missing = Filters({"all": 1, "eth0": 1}, ("eth2",))
    assert verdict_of(lambda: judge(Drops(7, 7, echoes), missing, CLUSTER)) == "UNKNOWN"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.168.96.31 is ours, 192.168.96.10 the monitor", OWN),
        ("192.168.96.31/20, on 10.72.0.2", OWN),
        ("it is free", None),
        ("192.168.96.31 or 192.168.96.32", None),
        ("192.168.111.255", None),
        ("192.168.96.310", None),
    ],
)
def test_the_stated_address(text: str, address: IPv4Address | None) -> None:
    statement = Statement("F1.a", text, "Ana", "2026-08-30T03:10:00Z")
    if address:
        assert routing.allocation(statement, CLUSTER) == address
        assert not routing.allocated_as_said(address, FLIP)
        assert routing.allocated_as_said(IPv4Address("192.168.96.99"), FLIP)
    else:
        with pytest.raises(Undecided):
            routing.allocation(statement, CLUSTER)


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        (["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "PASS"),
        (["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"], "UNKNOWN"),
    ],
)
def test_silence_on_a_leg_without_a_link_says_nothing(flags: list[str], verdict: str) -> None:
    told = [{"ifname": "eth2", "flags": flags, "addr_info": []}]
    (leg,) = parse_interfaces(json.dumps(told))
    assert leg.up
    assert verdict_of(lambda: claims.can_hear(leg) or ()) == verdict
