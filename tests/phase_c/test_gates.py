"""Phase C, quorum: read-only gates (runbook, "Validation gate C")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.api import ready
from fixtures.judge.etcd import voters_on_every_control_plane
from fixtures.judge.findings import said, settles, together
from fixtures.judge.nodes import ready_states, registered, taints
from fixtures.judge.pods import finished, no_platform_workload, not_registered
from fixtures.judge.units import running
from fixtures.judge.vip import held_by_the_best, places
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.inventory import Cluster, Node
    from fixtures.judge.findings import Findings, Wait
    from fixtures.observe.api import Api
    from fixtures.observe.etcd import Etcd
    from fixtures.observe.nodes import Nodes
    from fixtures.observe.pods import Pods
    from fixtures.observe.units import Units
    from fixtures.observe.vip import Vip

    Record = Callable[[str, object], None]


@gate("C.1")
def test_etcd_has_one_living_voter_on_each_control_plane(etcd: Etcd, cluster: Cluster) -> None:
    """Runbook C: etcd member list → exactly 3 members, all started; quorum = 2 of 3.

    STOP: member count != 3.
    """
    findings = voters_on_every_control_plane(etcd.membership(), cluster)
    assert not findings, said(findings)


@gate("C.2")
def test_the_api_is_ready_through_the_vip(api: Api) -> None:
    """Runbook C: `curl -k https://10.72.0.20:6443/readyz` → ok.

    STOP: /readyz fails.
    """
    findings = ready(api.readyz_through_vip())
    assert not findings, said(findings)


@gate("C.3")
def test_keepalived_runs_and_one_control_plane_holds_the_vip(
    *, units: Units, vip: Vip, cluster: Cluster, node: Node, wait: Wait, record: Record
) -> None:
    """Runbook C: `systemctl is-active keepalived` on all three CPs → active.

    STOP: keepalived not active on all three CPs.
    """
    unit, sample = units.keepalived.polling(), vip.holding.polling()

    def look() -> Findings:
        holding = sample()
        record("vip", places(holding))
        return together(
            lambda: running(unit(node), node.name), lambda: held_by_the_best(holding, cluster)
        )

    settles(look, wait, cluster.limits, f"keepalived runs on {node.name}, one holder of the VIP")


@gate("C.4")
def test_the_control_planes_are_registered(nodes: Nodes, cluster: Cluster, record: Record) -> None:
    """Runbook C: `get nodes` → rke-cp01..03 all NotReady, which is expected before phase E.

    STOP: member count != 3.
    """
    seen = nodes.registered()
    record("nodes", ready_states(seen, cluster))
    findings = registered(seen, cluster.control_planes)
    assert not findings, said(findings)


@gate("C.7")
def test_the_taints_of_each_control_plane_are_recorded(
    nodes: Nodes, cluster: Cluster, record: Record
) -> None:
    """Runbook C: record the taint state on all three CPs in the apply log.

    STOP: any platform workload found on a CP.
    """
    seen = nodes.registered()
    record("taints", taints(seen, cluster))
    findings = registered(seen, cluster.control_planes)
    assert not findings, said(findings)


@gate("C.8")
def test_no_platform_workload_runs_on_a_control_plane(
    pods: Pods, nodes: Nodes, cluster: Cluster, record: Record
) -> None:
    """Runbook C: do not proceed if `get pods -o wide` shows any platform pod on a CP.

    STOP: any platform workload found on a CP.
    """
    seen = pods.everywhere()
    record("finished", finished(seen, cluster))
    findings = together(
        lambda: no_platform_workload(seen, cluster),
        lambda: not_registered(nodes.registered(), cluster),
    )
    assert not findings, said(findings)
