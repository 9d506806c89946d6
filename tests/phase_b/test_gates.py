"""Phase B, the first control plane: read-only gates (runbook, "Validation gate B")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.api import ready
from fixtures.judge.etcd import voters_where_applied
from fixtures.judge.findings import said, settles
from fixtures.judge.keepalived import as_designed
from fixtures.judge.network import lost_nothing
from fixtures.judge.nodes import ready_states, registered
from fixtures.judge.rke2 import matches_facts
from fixtures.judge.units import running
from fixtures.judge.vip import held_by_the_best, places
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.inventory import Cluster
    from fixtures.judge.findings import Findings, Wait
    from fixtures.observe.api import Api
    from fixtures.observe.etcd import Etcd
    from fixtures.observe.keepalived import Keepalived
    from fixtures.observe.network import Network
    from fixtures.observe.nodes import Nodes
    from fixtures.observe.rke2 import Rke2
    from fixtures.observe.units import Units
    from fixtures.observe.vip import Vip

    Record = Callable[[str, object], None]


@gate("B.1")
def test_the_api_is_ready_through_the_vip(api: Api) -> None:
    """Runbook B: `curl -k https://10.72.0.20:6443/readyz` → ok.

    STOP: /readyz via VIP fails.
    """
    findings = ready(api.readyz_through_vip())
    assert not findings, said(findings)


@gate("B.2")
def test_keepalived_runs_on_the_first_control_plane(
    units: Units, cluster: Cluster, wait: Wait
) -> None:
    """Runbook B: `systemctl is-active keepalived` on cp01 only → active.

    STOP: keepalived not active on cp01.
    """
    first, sample = cluster.first_control_plane, units.keepalived.polling()
    settles(
        lambda: running(sample(first), first.name),
        wait,
        cluster.limits,
        f"keepalived runs on {first.name}",
    )


@gate("B.3")
def test_the_best_ready_control_plane_alone_holds_the_vip(
    vip: Vip, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook B: `ip -4 addr show eth0` on each CP: exactly one lists 10.72.0.20/23.

    STOP: /readyz via VIP fails.
    """
    sample = vip.holding.polling()

    def look() -> Findings:
        holding = sample()
        record("vip", places(holding))
        return held_by_the_best(holding, cluster)

    settles(look, wait, cluster.limits, "the best ready control plane alone holds the VIP")


@gate("B.4")
def test_ping_to_the_vip_loses_nothing(network: Network, record: Record) -> None:
    """Runbook B: `ping -c 3 10.72.0.20` from wetopi-ops01 → 0% loss.

    STOP: /readyz via VIP fails.
    """
    ping = network.ping_vip()
    record("ping", {"duplicates": ping.duplicates, "errors": ping.errors})
    findings = lost_nothing(ping)
    assert not findings, said(findings)


@gate("B.5")
def test_etcd_has_one_voter_per_applied_control_plane(
    etcd: Etcd, rke2: Rke2, cluster: Cluster, applied_before: frozenset[str], record: Record
) -> None:
    """Runbook B: etcd member list → exactly 1 member, started (2 and 3 as peers are applied).

    STOP: etcd member count != 1.
    """
    membership, applied = etcd.membership(), rke2.applied()
    record("applied", sorted(applied.names))
    findings = voters_where_applied(membership, applied, applied_before, cluster)
    assert not findings, said(findings)


@gate("B.6")
def test_the_first_control_plane_is_registered(
    nodes: Nodes, cluster: Cluster, record: Record
) -> None:
    """Runbook B: `get nodes` shows cp01 NotReady, which is expected: recorded, not judged.

    STOP: /readyz via VIP fails.
    """
    seen = nodes.registered()
    record("nodes", ready_states(seen, cluster))
    findings = registered(seen, [cluster.first_control_plane])
    assert not findings, said(findings)


@gate("B.7")
def test_keepalived_is_configured_as_designed(
    keepalived: Keepalived, rke2: Rke2, cluster: Cluster, record: Record
) -> None:
    """Runbook B, keepalived design facts: VRID 51, priorities, unicast peers, health check.

    STOP: keepalived not active on cp01.
    """
    record("applied", sorted(rke2.applied().names))
    findings = as_designed(keepalived.configuration(), cluster)
    assert not findings, said(findings)


@gate("B.8")
def test_rke2_is_configured_as_the_facts_say(rke2: Rke2, cluster: Cluster, record: Record) -> None:
    """Runbook 0 item 7 and B: cni none, CIDRs, tls-san, server only on the joining nodes.

    STOP: any playbook play fails.
    """
    record("applied", sorted(rke2.applied().names))
    findings = matches_facts(rke2.configuration(), cluster)
    assert not findings, said(findings)
