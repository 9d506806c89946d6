"""Phase F, the gateway's leg into the Ceph network (runbook, F0 and F1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from fixtures.judge.claims import can_hear, unclaimed
from fixtures.judge.findings import said, together
from fixtures.judge.forwarding import accepts_both_ways
from fixtures.judge.nat import nat_only_to_the_wan
from fixtures.judge.plan_changes import names_the_plan, told
from fixtures.judge.reach import all_answer, largest_fit, ports_open, through_the_gateway
from fixtures.judge.routing import (
    allocated_as_said,
    allocation,
    filter_settings,
    networks_disjoint,
    nothing_filtered,
    once_flipped,
    way_is_right,
)
from fixtures.judge.tofu import adds_one_nic
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address

    from fixtures.core.inventory import Cluster
    from fixtures.core.statements import Statement
    from fixtures.judge.findings import Findings
    from fixtures.observe.claims import Claimants
    from fixtures.observe.echoes import Echoes
    from fixtures.observe.flip import Flips
    from fixtures.observe.hops import Hops
    from fixtures.observe.kernel import Kernels
    from fixtures.observe.knocks import Knocks
    from fixtures.observe.routes import Interface, Routes
    from fixtures.observe.ruleset import Rulesets
    from fixtures.observe.tofu import Plans

    Record = Callable[[str, object], None]
    Fact = Callable[[str, str], Any]
    Blocked = Callable[[str], NoReturn]


@gate("F0.plan")
def test_the_plan_adds_one_nic(tofu: Plans, cluster: Cluster, fact: Fact, record: Record) -> None:
    """Runbook F0: ADD of exactly one NIC on wetopi-natgw01 and ZERO destroys; record the output.

    STOP: plan shows destroys or extra resource churn.
    """
    plan = tofu.saved()
    record("plan", told(plan, cluster))
    findings = adds_one_nic(plan, cluster, fact("F1.a", "allocation"))
    assert not findings, said(findings)


@gate("F0.apply")
def test_the_plan_was_applied(statement: Callable[[], Statement], fact: Fact) -> None:
    """Runbook F0: a human explicitly reviews the plan and runs the apply; evidence in the log.

    STOP: apply fails.
    """
    names_the_plan(statement(), fact("F0.plan", "plan"))


@gate("F1.a")
def test_the_address_is_allocated(
    *,
    statement: Callable[[], Statement],
    claimants: Claimants,
    flips: Flips,
    cluster: Cluster,
    record: Record,
) -> None:
    """Runbook F1 (a): pick a free address in 192.168.96.0/20, check live allocations.

    STOP: not verified and recorded before the vars are flipped.
    """
    address, leg = allocation(statement(), cluster), claimants.leg()
    record("allocation", str(address))
    record("leg", str(leg) if leg else "none yet")
    findings = together(
        lambda: allocated_as_said(address, flips.seen()),
        lambda: _claimed(address, leg, claimants) if leg and leg.up else (),
    )
    assert not findings, said(findings)


def _claimed(address: IPv4Address, leg: Interface, claimants: Claimants) -> Findings:
    can_hear(leg)
    return unclaimed(claimants.of_address(address))


@gate("F1.b")
def test_the_return_route_has_an_owner(statement: Callable[[], Statement]) -> None:
    """Runbook F1 (b): who installs the return route on the Ceph hosts; record the mechanism.

    STOP: not verified and recorded before the vars are flipped.
    """
    statement()


@gate("F1.nat")
def test_addresses_are_changed_towards_the_wan_only(
    rulesets: Rulesets, routes: Routes, cluster: Cluster
) -> None:
    """Runbook F1 (c): `nft list table ip wetopi_nat` still scopes NAT to oifname WAN only.

    STOP: not verified and recorded before the vars are flipped.
    """
    findings = nat_only_to_the_wan(rulesets.of_gateway(), routes.of_gateway(), cluster)
    assert not findings, said(findings)


@gate("F1.f")
def test_no_network_overlaps_cephs(routes: Routes, cluster: Cluster) -> None:
    """Runbook F1 (f): no CIDR overlap; `ip route get <ceph-host>` takes the gateway.

    STOP: not verified and recorded before the vars are flipped.
    """
    seen = (routes.of_nodes(), routes.of_gateway(), routes.interfaces())
    findings = networks_disjoint(*seen, cluster)
    assert not findings, said(findings)


@gate("F1.c")
def test_the_gateway_forwards_both_ways(
    *,
    flips: Flips,
    rulesets: Rulesets,
    routes: Routes,
    cluster: Cluster,
    blocked: Blocked,
    record: Record,
) -> None:
    """Runbook F1 (c): the forward chain shows the two ceph_net accept rules.

    STOP: firewall path not open in both directions.
    """
    once_flipped(flips.seen(), blocked, record)
    findings = accepts_both_ways(rulesets.of_gateway(), routes.interfaces(), cluster)
    assert not findings, said(findings)


@gate("F1.d")
def test_the_reverse_path_filter_drops_nothing(
    flips: Flips, kernels: Kernels, cluster: Cluster, blocked: Blocked, record: Record
) -> None:
    """Runbook F1 (d): rp_filter; asymmetric drops = missing gate b.

    STOP: asymmetric drops.
    """
    once_flipped(flips.seen(), blocked, record)
    filters, drops = kernels.filters(), kernels.drops()
    record("rp_filter", filter_settings(filters, drops, cluster))
    findings = nothing_filtered(drops, filters, cluster)
    assert not findings, said(findings)


@gate("F1.e")
def test_the_mtu_is_1500(
    flips: Flips, echoes: Echoes, cluster: Cluster, blocked: Blocked, record: Record
) -> None:
    """Runbook F1 (e): `ping -c 3 -M do -s 1472` passes, `-s 1473` fails.

    STOP: MTU probe failing.
    """
    once_flipped(flips.seen(), blocked, record)
    findings = largest_fit(echoes.sized(), cluster)
    assert not findings, said(findings)


@gate("F1.gw")
def test_the_gateway_is_connected(
    flips: Flips, routes: Routes, cluster: Cluster, blocked: Blocked, record: Record
) -> None:
    """Runbook F1: 192.168.96.0/20 dev eth2 src <natgw_ceph_address>; the ways there and back.

    STOP: missing connected route, wrong next-hop.
    """
    flip = flips.seen()
    once_flipped(flip, blocked, record)
    findings = way_is_right(routes.of_gateway(), routes.interfaces(), flip, cluster)
    assert not findings, said(findings)


@gate("F1.ping")
def test_every_node_pings_every_monitor(
    flips: Flips, echoes: Echoes, cluster: Cluster, blocked: Blocked, record: Record
) -> None:
    """Runbook F1: `ping -c 3 192.168.96.10` → 0% loss.

    STOP: ping loss.
    """
    once_flipped(flips.seen(), blocked, record)
    findings = all_answer(echoes.plain(), cluster)
    assert not findings, said(findings)


@gate("F1.trace")
def test_only_the_gateway_is_between(
    *,
    flips: Flips,
    hops: Hops,
    routes: Routes,
    cluster: Cluster,
    blocked: Blocked,
    record: Record,
) -> None:
    """Runbook F1: `traceroute -n 192.168.96.10` → one hop (gateway), then the mon host.

    STOP: wrong next-hop.
    """
    once_flipped(flips.seen(), blocked, record)
    ways, interfaces = routes.of_nodes(), routes.interfaces()
    findings = through_the_gateway(hops.traced(), ways, interfaces, cluster)
    assert not findings, said(findings)


@gate("F1.3300")
def test_msgr2_is_open(
    flips: Flips, knocks: Knocks, cluster: Cluster, blocked: Blocked, record: Record
) -> None:
    """Runbook F1: `nc -vz -w 3 192.168.96.10 3300` → msgr2 open.

    STOP: TCP 3300 closed.
    """
    once_flipped(flips.seen(), blocked, record)
    findings = ports_open(knocks.msgr2(), cluster)
    assert not findings, said(findings)


@gate("F1.6789")
def test_msgr1_is_open(
    flips: Flips, knocks: Knocks, cluster: Cluster, blocked: Blocked, record: Record
) -> None:
    """Runbook F1: `nc -vz -w 3 192.168.96.10 6789` → msgr1 open.

    STOP: TCP 6789 closed.
    """
    once_flipped(flips.seen(), blocked, record)
    findings = ports_open(knocks.msgr1(), cluster)
    assert not findings, said(findings)
