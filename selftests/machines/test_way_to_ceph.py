"""The gateway, the monitor and the reviewed line, as the runbook has them."""

from __future__ import annotations

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.statements import Statement
from fixtures.judge.routing import allocation
from fixtures.observe.flip import parse_switch
from machines import container, gateway, monitors, network, plan, render, switch
from machines.dirs import CHECKOUT
from machines.errors import LabError
from machines.expectations import AFTER_FLIP, BEFORE_FLIP, NOT_FLIPPED, ROUTED

REAL = load(CHECKOUT / "inventories" / "wetopi.yaml")


def test_nodes_leave_through_the_gateway_and_ceph_answers_through_it() -> None:
    nodes = (*plan.CONTROL_PLANES, *plan.WORKERS)
    assert all(" default@10.72.0.2\n" in render.interfaces(node) for node in nodes)
    assert render.interfaces(plan.GATEWAY) == (
        "host0 eth0 10.72.0.2/23\nwan0 eth1 192.0.2.31/24 default@192.0.2.1\n"
    )
    assert render.interfaces(plan.MONITOR) == (
        "host0 eth0 192.168.96.10/20 10.72.0.0/23@192.168.96.31\n"
    )
    assert "default" not in render.interfaces(plan.BASTION)


def test_each_machine_hangs_on_its_network_s_bridge() -> None:
    assert network.bridge(plan.GATEWAY) == network.bridge(plan.BASTION) == network.LAN_BRIDGE
    assert network.bridge(plan.MONITOR) == network.CEPH_BRIDGE


@pytest.mark.parametrize("ceph", [False, True])
def test_addresses_are_changed_towards_the_wan_alone(ceph: bool) -> None:
    rules = gateway.ruleset(ceph=ceph)
    assert [line.strip() for line in rules.splitlines() if "masquerade" in line] == [
        'ip saddr 10.72.0.0/23 oifname "eth1" masquerade'
    ]
    assert "policy drop" in rules


def test_ceph_is_accepted_both_ways_only_after_the_flip() -> None:
    rules = gateway.ruleset(ceph=True)
    assert "elements = { 192.168.96.0/20 }" in rules
    assert 'oifname "eth2" ip saddr 10.72.0.0/23 ip daddr @ceph_net accept' in rules
    assert 'iifname "eth2" oifname "eth0" ip saddr @ceph_net' in rules
    assert "ceph" not in gateway.ruleset(ceph=False)
    assert "eth2" not in gateway.ruleset(ceph=False)


def test_the_gateway_forwards_with_a_strict_filter() -> None:
    assert "net.ipv4.ip_forward = 1\n" in gateway.sysctls()
    assert "net.ipv4.conf.all.rp_filter = 1\n" in gateway.sysctls()


def test_the_monitor_speaks_both_messengers() -> None:
    assert REAL.ceph is not None
    assert (plan.MONITOR.address,) == REAL.ceph.monitors
    assert REAL.ceph.ports == plan.CEPH_PORTS
    hosts = "mon host = [v2:192.168.96.10:3300,v1:192.168.96.10:6789]\n"
    assert hosts in monitors.config("an-id")


@pytest.mark.parametrize(
    ("greetings", "complaints"),
    [
        (("ceph v2", "ceph v0"), 0),
        (("ceph v2", ""), 1),
        (("ceph v0", "ceph v2"), 2),
        (("", ""), 2),
    ],
)
def test_a_monitor_is_known_by_its_greetings(
    greetings: tuple[str, str], complaints: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_port = dict(zip(plan.CEPH_PORTS, greetings, strict=True))
    monkeypatch.setattr(monitors, "_greeting", by_port.get)
    monkeypatch.setattr(container.Container, "running", property(lambda _: True))
    assert len(monitors.complaints()) == complaints


def test_the_reviewed_line_is_read_as_it_is_meant() -> None:
    before, after = (parse_switch(_of_role(switch.variables(on=on))) for on in (False, True))
    assert (before.enabled, before.address) == (False, None)
    assert (after.enabled, after.address) == (True, plan.CEPH_GATEWAY.ip)


def _of_role(text: str) -> str:
    """What the suite's `git grep` prints of it."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("natgw_ceph_"))


def test_what_is_stated_names_the_address() -> None:
    texts = [option.partition("=")[2].partition("=") for option in ROUTED if "--attest" in option]
    stated = {gate: text for gate, _, text in texts}
    assert set(stated) == {"F1.a", "F1.b"}
    statement = Statement("F1.a", stated["F1.a"], "Lab", "2026-12-01T00:00:00Z")
    assert allocation(statement, REAL) == plan.CEPH_GATEWAY.ip


def test_before_the_flip_every_gate_of_f1_is_expected() -> None:
    assert set(NOT_FLIPPED.gates) == {*BEFORE_FLIP, *AFTER_FLIP}
    assert all(NOT_FLIPPED.gates[gate] == {"BLOCKED"} for gate in AFTER_FLIP)


def test_the_monitor_is_a_machine_of_phase_f_alone() -> None:
    assert plan.MONITOR not in plan.running(plan.Phase.D)
    assert plan.MONITOR in plan.running(plan.Phase.F)
    assert plan.find("ceph-mon01") == plan.MONITOR
    with pytest.raises(LabError, match="ceph-mon01"):
        plan.find("nobody")
