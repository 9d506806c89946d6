"""Whatever gateway and nodes tell of their ways is read or refused, and judged without error."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.routing import networks_disjoint, way_is_right
from fixtures.observe.answers import Misread
from fixtures.observe.claims import parse_replies
from fixtures.observe.flip import Flip, parse_switch
from fixtures.observe.kernel import parse_counter, parse_filters
from fixtures.observe.routes import Paths, parse_interfaces, parse_routes, parse_way
from selftests.gates.deciding import verdict_of
from selftests.gates.test_ceph_way import CLUSTER, FLIP, INTERFACES, MONITOR, OWN
from selftests.observe.damage import VALUES, AnyAnswer, quick

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address

GATEWAY = [
    {"dst": "default", "gateway": "203.0.113.1", "dev": "eth1", "flags": []},
    {"dst": "10.72.0.0/23", "dev": "eth0", "scope": "link", "prefsrc": "10.72.0.2", "flags": []},
    {"dst": "192.168.96.0/20", "dev": "eth2", "scope": "link", "prefsrc": str(OWN), "flags": []},
    {"type": "unreachable", "dst": "192.168.128.0/24", "flags": ["dead"]},
    {"dst": "198.51.100.0/24", "nexthops": [{"gateway": "10.72.0.9", "dev": "eth0", "flags": []}]},
]
NODE = [
    {"dst": "default", "gateway": "10.72.0.2", "dev": "eth0", "flags": []},
    {"dst": "10.64.1.0/24", "gateway": "10.64.1.5", "dev": "cilium_host", "flags": []},
]
WAY = [{"dst": str(MONITOR), "gateway": "10.72.0.2", "dev": "eth0", "prefsrc": "10.72.0.21"}]
ADDRESSES = [
    {},
    {"ifname": "eth0", "flags": ["UP"], "addr_info": [{"local": "10.72.0.2", "prefixlen": 23}]},
]
NETSTAT = "TcpExt: SyncookiesSent IPReversePathFilter\nTcpExt: 0 7\nIpExt: InNoRoutes\nIpExt: 0\n"
FILTERS = "net.ipv4.conf.all.rp_filter = 2\nnet.ipv4.conf.eth0.rp_filter = 1\n"
ARPING = "Unicast reply from 192.168.96.31 [BC:24:11:00:00:01] 0.6ms\nReceived 1 response(s)\n"
SWITCH = "natgw_ceph_routing_enabled: true\nnatgw_ceph_address: 192.168.96.31  # VLAN 2\n"


def judged(gateway: str, node: str, way: str) -> tuple[str, str]:
    """The verdicts on F1.gw and F1.f with these tables and this way."""
    addresses = [MONITOR, *(each.address for each in CLUSTER.nodes)]
    ways: dict[IPv4Address, Any] = dict.fromkeys(addresses, parse_way(way))
    own = Paths("wetopi-natgw01", parse_routes(gateway), ways)
    others = [Paths(each.name, parse_routes(node), ways) for each in CLUSTER.nodes]
    flip: Flip = FLIP
    return (
        verdict_of(lambda: way_is_right(own, INTERFACES, flip, CLUSTER)),
        verdict_of(lambda: networks_disjoint(others, own, INTERFACES, CLUSTER)),
    )


SAMPLES: dict[str, tuple[Callable[[str], object], str]] = {
    "gateway": (lambda text: judged(text, json.dumps(NODE), json.dumps(WAY)), json.dumps(GATEWAY)),
    "node": (lambda text: judged(json.dumps(GATEWAY), text, json.dumps(WAY)), json.dumps(NODE)),
    "way": (lambda text: judged(json.dumps(GATEWAY), json.dumps(NODE), text), json.dumps(WAY)),
    "interfaces": (parse_interfaces, json.dumps(ADDRESSES)),
    "netstat": (parse_counter, NETSTAT),
    "filters": (lambda text: parse_filters(text, text).effective("eth0"), FILTERS),
    "arping": (parse_replies, ARPING),
    "switch": (parse_switch, SWITCH),
}


def test_every_sample_is_understood() -> None:
    for read, text in SAMPLES.values():
        read(text)
    assert judged(*(json.dumps(each) for each in (GATEWAY, NODE, WAY))) == ("FAIL", "PASS")


class TestAnyAnswer(AnyAnswer):
    samples = SAMPLES


@quick
@given(networks=st.lists(st.sampled_from(["192.168.96.0/20", "192.168.0.0/16", "192.168.97.5"])))
def test_no_route_into_cephs_network_is_passed_over(networks: list[str]) -> None:
    """Whatever its length: one that is not the gateway's leg, and not through it, is found."""
    routes = [*NODE, *({"dst": each, "dev": "docker0", "flags": []} for each in networks)]
    found = judged(json.dumps(GATEWAY), json.dumps(routes), json.dumps(WAY))
    assert found[1] == ("FAIL" if networks else "PASS")


@quick
@given(value=VALUES)
def test_a_counter_is_a_number_or_nothing(value: Any) -> None:
    with suppress(Misread):
        assert parse_counter(NETSTAT.replace(" 7", f" {value}")) >= 0
