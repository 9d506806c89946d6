"""Phase D2, full validation: nodes, components, CiliumNodes (runbook, "Phase D2")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.ciliumnodes import allocated, one_for_each_node
from fixtures.judge.components import (
    AGENT,
    AUTOSCALER,
    COREDNS,
    KUBE_PROXY,
    METRICS,
    OPERATOR,
    RELAY,
    nowhere_else,
    one_on_each,
    places,
    runs,
)
from fixtures.judge.findings import said, together
from fixtures.judge.readiness import Staying, registered_exactly
from fixtures.judge.units import all_running
from fixtures.judge.waiting import clears, readiness, settling
from fixtures.judge.workers import labelled_exactly
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.inventory import Cluster
    from fixtures.judge.findings import Findings, Wait
    from fixtures.observe.ciliumnodes import CiliumNodes
    from fixtures.observe.components import Component, Components
    from fixtures.observe.nodes import Nodes
    from fixtures.observe.pods import Everywhere
    from fixtures.observe.units import Units
    from fixtures.observe.vitals import Vitals

    Record = Callable[[str, object], None]


@gate("D2.nodes")
def test_all_nodes_are_ready_and_stay_so(
    vitals: Vitals, units: Units, cluster: Cluster, wait: Wait
) -> None:
    """Runbook D2: `get nodes` → 6 nodes, ALL Ready (60 x 10 s).

    STOP: any node not Ready after the retry window.
    """
    sample, running = vitals.of_all.polling(), units.rke2_everywhere.polling()
    staying = Staying(cluster.limits)

    def look() -> Findings:
        seen, states = sample(), running()
        return together(
            lambda: registered_exactly(seen.registered, cluster),
            lambda: staying(seen.signs),
            lambda: all_running(states),
        )

    findings = clears(look, wait, readiness(cluster.limits), "all nodes are Ready")
    assert not findings, said(findings)


@gate("D2.labels")
def test_exactly_three_workers_carry_the_exact_label(nodes: Nodes, cluster: Cluster) -> None:
    """Runbook D2: `get nodes -l wetopi.io/role=platform` → exactly 3, each with the exact label.

    STOP: a platform worker without the exact label.
    """
    findings = labelled_exactly(nodes.listed(), cluster)
    assert not findings, said(findings)


def component_runs(
    sample: Callable[[], Everywhere],
    component: Component,
    cluster: Cluster,
    wait: Wait,
    record: Record,
) -> None:
    """What the gates of a component have in common."""

    def look() -> Findings:
        seen = sample()
        record("pods", places(seen, component))
        return runs(seen, component)

    findings = clears(look, wait, settling(cluster.limits), f"{component.name} runs")
    assert not findings, said(findings)


def component_runs_everywhere(
    sample: Callable[[], Everywhere],
    component: Component,
    cluster: Cluster,
    wait: Wait,
    record: Record,
) -> None:
    """What the gates of a component of each node have in common."""

    def look() -> Findings:
        seen = sample()
        record("pods", places(seen, component))
        return (
            *one_on_each(seen, component, cluster.nodes),
            *nowhere_else(seen, component, cluster),
        )

    findings = clears(look, wait, settling(cluster.limits), f"{component.name} runs on each node")
    assert not findings, said(findings)


@gate("D2.coredns")
def test_coredns_runs(components: Components, cluster: Cluster, wait: Wait, record: Record) -> None:
    """Runbook D2: `get pods -l k8s-app=kube-dns` → Running+Ready, at least 1.

    STOP: the selector returns pods that are not all Running+Ready, or none.
    """
    component_runs(components.coredns.polling(), COREDNS, cluster, wait, record)


@gate("D2.autoscaler")
def test_the_coredns_autoscaler_runs(
    components: Components, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `get pods -l k8s-app=kube-dns-autoscaler` → Running+Ready, at least 1.

    STOP: the selector returns pods that are not all Running+Ready, or none.
    """
    component_runs(components.autoscaler.polling(), AUTOSCALER, cluster, wait, record)


@gate("D2.metrics")
def test_metrics_server_runs(
    components: Components, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `get pods -l app=rke2-metrics-server` → Running+Ready, at least 1.

    STOP: the selector returns pods that are not all Running+Ready, or none.
    """
    component_runs(components.metrics.polling(), METRICS, cluster, wait, record)


@gate("D2.operator")
def test_two_cilium_operators_run(
    components: Components, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `get pods -l io.cilium/app=operator` → Running+Ready, at least 2.

    STOP: the selector returns pods that are not all Running+Ready, or none.
    """
    component_runs(components.operators.polling(), OPERATOR, cluster, wait, record)


@gate("D2.relay")
def test_hubble_relay_runs(
    components: Components, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `get pods -l k8s-app=hubble-relay` → Running+Ready, at least 1.

    STOP: the selector returns pods that are not all Running+Ready, or none.
    """
    component_runs(components.relay.polling(), RELAY, cluster, wait, record)


@gate("D2.agents")
def test_one_cilium_agent_runs_on_each_node(
    components: Components, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `get pods -l k8s-app=cilium` → exactly one Running+Ready on each of the nodes.

    STOP: missing cilium-ds pod on any node.
    """
    component_runs_everywhere(components.agents.polling(), AGENT, cluster, wait, record)


@gate("D2.kube-proxy")
def test_one_kube_proxy_runs_on_each_node(
    components: Components, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `get pods -l component=kube-proxy` → Running+Ready, one per node.

    STOP: the selector returns pods that are not all Running+Ready, or none.
    """
    component_runs_everywhere(components.kube_proxies.polling(), KUBE_PROXY, cluster, wait, record)


@gate("D2.ciliumnodes")
def test_each_node_has_one_ciliumnode_with_addresses_of_its_own(
    ciliumnodes: CiliumNodes, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `get ciliumnodes` → exactly 6, one per node, each podCIDR inside 10.64.0.0/14.

    STOP: any podCIDR outside 10.64.0.0/14; fewer than 6 CiliumNode objects.
    """
    sample = ciliumnodes.listed.polling()

    def look() -> Findings:
        seen = sample()
        record("podCIDRs", allocated(seen))
        return one_for_each_node(seen, cluster)

    findings = clears(look, wait, settling(cluster.limits), "each node has its CiliumNode")
    assert not findings, said(findings)
