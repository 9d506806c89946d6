"""Phase D, workers join: read-only gates (runbook, "Phase D")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.findings import said, together
from fixtures.judge.readiness import Staying
from fixtures.judge.units import running
from fixtures.judge.waiting import clears, joining, readiness
from fixtures.judge.workers import (
    control_planes_tainted,
    joined,
    labelled_exactly,
    private_kubeconfig,
    untainted,
)
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from fixtures.core.inventory import Cluster, Node
    from fixtures.judge.findings import Findings, Wait
    from fixtures.observe.agents import Agents
    from fixtures.observe.nodes import Nodes
    from fixtures.observe.units import Units
    from fixtures.observe.vitals import Vitals


@gate("D.1")
def test_a_worker_is_registered_under_its_own_name(
    nodes: Nodes, units: Units, cluster: Cluster, node: Node, wait: Wait
) -> None:
    """Runbook D: `kubectl get node <name>` (60 x 10 s) → metadata.name is the inventory's.

    STOP: a failed gate aborts before the next worker joins.
    """
    seen, unit = nodes.one.polling(), units.rke2.polling()

    def look() -> Findings:
        return together(lambda: joined(seen(node), node), lambda: running(unit(node), node.name))

    findings = clears(look, wait, joining(cluster.limits), f"{node.name} joins")
    assert not findings, said(findings)


@gate("D.2")
def test_exactly_the_workers_carry_the_platform_label(nodes: Nodes, cluster: Cluster) -> None:
    """Runbook D: labels['wetopi.io/role'] == 'platform' on each worker, and on no other node.

    STOP: a failed gate aborts before the next worker joins.
    """
    findings = labelled_exactly(nodes.listed(), cluster)
    assert not findings, said(findings)


@gate("D.3")
def test_the_control_planes_have_their_taint(nodes: Nodes, cluster: Cluster) -> None:
    """Runbook D, play 2: node-role.kubernetes.io/control-plane=true:NoSchedule on all 3 CPs.

    STOP: a control plane without it takes workload.
    """
    findings = control_planes_tainted(nodes.listed(), cluster)
    assert not findings, said(findings)


@gate("D.4")
def test_the_kubelets_kubeconfig_is_private(agents: Agents, node: Node) -> None:
    """Runbook D: /var/lib/rancher/rke2/agent/kubelet.kubeconfig on each worker; handbook: 600 root.

    STOP: a failed gate aborts before the next worker joins.
    """
    findings = private_kubeconfig(agents.kubeconfig(node), node)
    assert not findings, said(findings)


@gate("D.5")
def test_a_worker_becomes_ready_and_stays_so(
    vitals: Vitals, cluster: Cluster, node: Node, wait: Wait
) -> None:
    """Runbook D: NotReady is a transient join state; Ready once its Cilium agent starts.

    STOP: a worker that stays NotReady is a failure to investigate, never expected.
    """
    sign, staying = vitals.of_one.polling(), Staying(cluster.limits)
    findings = clears(
        lambda: staying([sign(node)]), wait, readiness(cluster.limits), f"{node.name} is Ready"
    )
    assert not findings, said(findings)


@gate("D.6")
def test_no_taint_is_left_on_a_worker(
    nodes: Nodes, cluster: Cluster, node: Node, wait: Wait
) -> None:
    """Runbook D, play 3: workers join with no taints.

    STOP: a worker that stays NotReady is a failure to investigate, never expected.
    """
    seen = nodes.one.polling()
    findings = clears(
        lambda: untainted(seen(node), node),
        wait,
        readiness(cluster.limits),
        f"{node.name} has no taint",
    )
    assert not findings, said(findings)
