"""What the gateway and the nodes answer on the way to Ceph: measured outputs, and anything else."""

from __future__ import annotations

import json
from contextlib import suppress
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.claims import parse_replies
from fixtures.observe.door import Door
from fixtures.observe.flip import Switch, parse_switch
from fixtures.observe.hop_lines import parse_tracepath, parse_traceroute
from fixtures.observe.kernel import parse_counter, parse_filters
from fixtures.observe.knocks import met_by_bash, met_by_nc
from fixtures.observe.routes import parse_interfaces, parse_routes, parse_way
from fixtures.observe.ruleset import parse_ruleset
from fixtures.observe.tofu import parse_plan
from lab import plan
from selftests.lab.world import world_at

if TYPE_CHECKING:
    from collections.abc import Callable

PARSERS: list[Callable[[str], object]] = [
    parse_counter,
    parse_interfaces,
    parse_plan,
    parse_replies,
    parse_routes,
    parse_ruleset,
    parse_switch,
    parse_tracepath,
    parse_traceroute,
    parse_way,
    lambda text: parse_filters(text, text),
]
LINES = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            [
                " 1  10.72.0.2  0.2 ms !H",
                " 2  * * *",
                "TcpExt: IPReversePathFilter",
                "TcpExt: 7",
                "Received 1 response(s)",
                "natgw_ceph_address: 192.168.96.31",
                "natgw_ceph_routing_enabled: true",
                "net.ipv4.conf.all.rp_filter = 1",
            ]
        ),
    ),
    max_size=5,
).map("\n".join)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "nftables",
                    "metainfo",
                    "chain",
                    "rule",
                    "set",
                    "expr",
                    "dst",
                    "dev",
                    "addr_info",
                    "format_version",
                    "planned_values",
                    "resource_changes",
                    "change",
                    "actions",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
).map(json.dumps)


@pytest.mark.parametrize("parse", PARSERS)
@settings(max_examples=60, deadline=None)
@given(text=LINES | DOCUMENTS)
def test_anything_is_read_or_refused(parse: Callable[[str], object], text: str) -> None:
    with suppress(Misread):
        parse(text)


@pytest.mark.parametrize(
    ("rc", "stderr", "met"),
    [
        (0, "Connection to 192.168.96.10 3300 port [tcp/*] succeeded!", Door.OPEN),
        (0, "Connection to mon (192.168.96.10) 3300 port [tcp/ceph] succeeded!", Door.OPEN),
        (0, "Ncat: Version 7.93\nNcat: Connected to 192.168.96.10:3300.\nNcat: 0 bytes", Door.OPEN),
        (0, "x: inverse host lookup failed: y\n(UNKNOWN) [192.168.96.10] 3300 (?) open", Door.OPEN),
        (0, "", None),
        (
            1,
            "nc: connect to 192.168.96.10 port 6789 (tcp) failed: Connection refused",
            Door.REFUSED,
        ),
        (1, "(UNKNOWN) [192.168.96.10] 6789 (?) : Connection refused", Door.REFUSED),
        (1, "nc: connect to x port 1 (tcp) timed out: Operation now in progress", Door.TIMED_OUT),
        (1, "Ncat: TIMEOUT.", Door.TIMED_OUT),
        (1, "Ncat: No route to host.", Door.NO_ROUTE),
        (1, "nc: invalid option -- 'v'\nBusyBox v1.35.0 multi-call binary.", None),
        (127, "bash: nc: command not found", None),
    ],
)
def test_each_kind_of_nc(rc: int, stderr: str, met: Door | None) -> None:
    assert met_by_nc(rc, stderr) is met


@pytest.mark.parametrize(
    ("rc", "stdout", "stderr", "met"),
    [
        (0, "OK\n", "", Door.OPEN),
        (0, "", "", None),
        (1, "", "bash: connect: Connection refused\nbash: line 1: /dev/tcp/x/1", Door.REFUSED),
        (124, "", "", Door.TIMED_OUT),
        (1, "", "bash: connect: No route to host", Door.NO_ROUTE),
        (1, "", "bash: /dev/tcp/x/1: No such file or directory", None),
    ],
)
def test_bash(rc: int, stdout: str, stderr: str, met: Door | None) -> None:
    assert met_by_bash(rc, stdout, stderr) is met


@pytest.mark.parametrize(
    ("text", "switch"),
    [
        ("", Switch(enabled=False, address=None)),
        ('natgw_ceph_routing_enabled: false\nnatgw_ceph_address: ""', Switch(False, None)),
        ("natgw_ceph_routing_enabled: yes # flip", Switch(True, None)),
        ("natgw_ceph_routing_enabled: true\nnatgw_ceph_address: 192.168.96.31/20  # VLAN 2",
         Switch(True, IPv4Address("192.168.96.31"))),
        ("natgw_ceph_routing_enabled: 'True'\nnatgw_ceph_address: '192.168.96.31'",
         Switch(True, IPv4Address("192.168.96.31"))),
        ("natgw_ceph_routing_enabled: true\nnatgw_ceph_routing_enabled: false", None),
        ('natgw_ceph_routing_enabled: "{{ x }}"', None),
        ("natgw_ceph_address: eth2", None),
    ],
)  # fmt: skip
def test_the_switch(text: str, switch: Switch | None) -> None:
    if switch is None:
        with pytest.raises(Misread):
            parse_switch(text)
    else:
        assert parse_switch(text) == switch


def test_a_route_of_each_kind() -> None:
    text = (
        '[{"dst":"default","gateway":"10.72.0.2","dev":"eth0","flags":[]},'
        '{"type":"unreachable","dst":"192.168.97.0/24","flags":[]},'
        '{"dst":"192.168.96.10","dev":"eth2","scope":"link","flags":["linkdown"]}]'
    )
    first, second, third = parse_routes(text)
    assert first.default
    assert (second.kind, second.device) == ("unreachable", "")
    assert str(third) == "192.168.96.10/32 dev eth2 linkdown"
    assert parse_routes("") == ()


def test_what_a_host_calls_its_interface_is_made_safe() -> None:
    (found,) = parse_routes('[{"dst":"192.168.96.10","dev":"eth\\u001b[2J\\n","type":"\\u0007"}]')
    assert str(found) == r"\x07 192.168.96.10/32 dev eth\x1b[2J\n"


def test_a_missing_interface_is_told_beside_the_others() -> None:
    missing = (
        "sysctl: cannot stat /proc/sys/net/ipv4/conf/eth2/rp_filter: No such file or directory"
    )
    found = parse_filters(
        "net.ipv4.conf.all.rp_filter = 2\nnet.ipv4.conf.eth0.rp_filter = 1\n", missing
    )
    assert (found.effective("eth0"), found.effective("eth2")) == (2, None)
    assert found.missing == ("eth2",)


def test_a_plan_of_modules_tells_what_is_configured() -> None:
    document: dict[str, Any] = plan.document(world_at("f"))
    found = parse_plan(json.dumps(document))
    assert "initialization" in found.configured["module.vm.proxmox_virtual_environment_vm.this"]
    assert [change.actions for change in found.changes] == [("update",), ("no-op",)]
    with pytest.raises(Misread, match="format_version"):
        parse_plan(json.dumps(document | {"format_version": "2.0"}))
    with pytest.raises(Misread, match="no plan"):
        parse_plan('{"format_version": "1.0", "values": {}}')
