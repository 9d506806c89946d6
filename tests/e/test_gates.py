"""Phase E, Cilium install: read-only gates (runbook, "Validation gate E" and 0 item 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.agents import members, served
from fixtures.judge.cilium_endpoints import each_pod_has_its_endpoint, on_the_pod_network
from fixtures.judge.cilium_lan import lets_cilium_through, once_tried, ways
from fixtures.judge.cilium_release import as_designed, released
from fixtures.judge.cilium_status import counted, good
from fixtures.judge.cni import before_cilium, decided_by, installed, no_other_network
from fixtures.judge.components import AGENT, OPERATOR, one_on_each, places, runs
from fixtures.judge.findings import said, together
from fixtures.judge.provisioning import found_there, provisioned
from fixtures.judge.waiting import clears, starting
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fixtures.core.inventory import Cluster
    from fixtures.core.statements import Statement
    from fixtures.core.verdicts import Verdict
    from fixtures.judge.findings import Findings, Wait
    from fixtures.observe.cilium_endpoints import CiliumEndpoints
    from fixtures.observe.cilium_lan import CiliumLan
    from fixtures.observe.cilium_release import CiliumRelease
    from fixtures.observe.cilium_status import CiliumStatus
    from fixtures.observe.daemonsets import DaemonSets
    from fixtures.observe.nodes import Nodes, Registered
    from fixtures.observe.pods import Pods
    from fixtures.observe.provisioning import Provisioning

    Record = Callable[[str, object], None]


@gate("E.0")
def test_the_bastion_is_provisioned(
    provisioning: Provisioning, cluster: Cluster, record: Record
) -> None:
    """Runbook 0 item 9: "Ops01 provisioning — verify BEFORE Phase E"; record exact versions.

    STOP: any of it missing; a kubeconfig taken before the restore is stale.
    """
    seen = provisioning.seen()
    record("provisioning", found_there(seen))
    findings = provisioned(seen, cluster)
    assert not findings, said(findings)


@gate("E.1")
def test_nothing_but_kube_proxy_came_before_cilium(
    *,
    daemonsets: DaemonSets,
    pods: Pods,
    cluster: Cluster,
    wait: Wait,
    standing: Mapping[str, Verdict],
    statement: Callable[[], Statement],
    record: Record,
) -> None:
    """Runbook E: no CNI already deployed, kube-proxy present, the Cilium agent absent.

    STOP: any fail-closed probe rc != 0; absence is proven only by rc 0 with empty stdout.
    """
    sets, everywhere = daemonsets.listed.polling(), pods.listed.polling()

    def look() -> Findings:
        found, seen = sets(), everywhere()
        cilium = installed(found, seen)
        record("before Cilium", decided_by(cilium, standing))
        return together(
            lambda: no_other_network(found),
            lambda: before_cilium(cilium, seen, cluster, standing, statement),
        )

    findings = clears(look, wait, starting(cluster.limits), "kube-proxy runs")
    assert not findings, said(findings)


@gate("E.2")
def test_cilium_status_is_good(
    *,
    cilium_status: CiliumStatus,
    nodes: Nodes,
    pods: Pods,
    cluster: Cluster,
    wait: Wait,
    record: Record,
) -> None:
    """Runbook E: `cilium status --wait` → agents Ready on the 3 CPs, Hubble Ok/Enabled.

    STOP: any fail-closed probe rc != 0.
    """
    told, listed = cilium_status.told.polling(), nodes.listed.polling()
    everywhere = pods.listed.polling()

    def status_is_good(seen: Registered) -> Findings:
        status = told()
        record("cilium status", counted(status))
        return good(status, seen, cluster)

    def look() -> Findings:
        seen = listed()
        return together(
            lambda: status_is_good(seen),
            lambda: one_on_each(everywhere(), AGENT, members(seen, cluster)),
        )

    findings = clears(look, wait, starting(cluster.limits), "`cilium status` is good")
    assert not findings, said(findings)


@gate("E.3")
def test_an_agent_serves_each_control_plane(
    pods: Pods, nodes: Nodes, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook E: `get pods -l k8s-app=cilium` → Running+Ready on all 3 CPs, one per CP.

    STOP: cilium-ds pod not Running+Ready on each of the 3 CPs.
    """
    everywhere, listed = pods.listed.polling(), nodes.listed.polling()

    def look() -> Findings:
        seen, registered = everywhere(), listed()
        record("agents", places(seen, AGENT))
        return (
            *one_on_each(seen, AGENT, cluster.control_planes),
            *served(registered, cluster.control_planes),
        )

    findings = clears(look, wait, starting(cluster.limits), "an agent serves each control plane")
    assert not findings, said(findings)


@gate("E.4")
def test_the_operator_runs(pods: Pods, cluster: Cluster, wait: Wait, record: Record) -> None:
    """Runbook E: `get pods -l io.cilium/app=operator` → Running+Ready.

    STOP: cilium-operator not Running+Ready.
    """
    everywhere = pods.listed.polling()

    def look() -> Findings:
        seen = everywhere()
        record("operators", places(seen, OPERATOR))
        return runs(seen, OPERATOR, least=1)

    findings = clears(look, wait, starting(cluster.limits), "the Cilium operator runs")
    assert not findings, said(findings)


@gate("E.5")
def test_the_node_lan_lets_cilium_through(
    cilium_lan: CiliumLan, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook E: the node LAN must allow UDP 8472 between all nodes, and TCP 4244.

    STOP: cilium-ds pod not Running+Ready on each of the 3 CPs.
    """
    lan = once_tried(cilium_lan.between.polling(), wait, starting(cluster.limits))
    record("node LAN", ways(lan))
    findings = lets_cilium_through(lan, cluster)
    assert not findings, said(findings)


@gate("E.6")
def test_each_pod_has_its_endpoint(
    cilium_endpoints: CiliumEndpoints, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """VALIDATION.md section 7: pods from before Cilium must be restarted once to fall under it.

    STOP: any fail-closed probe rc != 0.
    """
    network = cilium_endpoints.network.polling()

    def look() -> Findings:
        seen = network()
        record("pod network", on_the_pod_network(seen, cluster))
        return each_pod_has_its_endpoint(seen, cluster)

    findings = clears(look, wait, starting(cluster.limits), "each pod has its CiliumEndpoint")
    assert not findings, said(findings)


@gate("E.7")
def test_cilium_is_installed_as_designed(
    cilium_release: CiliumRelease, cluster: Cluster, record: Record
) -> None:
    """Runbook E: chart 1.20.1; VXLAN tunnel, kubeProxyReplacement false, Hubble enabled.

    STOP: any fail-closed probe rc != 0.
    """
    seen = cilium_release.installed()
    record("installed", released(seen))
    findings = as_designed(seen, cluster)
    assert not findings, said(findings)
