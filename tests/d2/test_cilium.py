"""Phase D2, full validation: Cilium and Hubble (runbook, "D2 full Cilium acceptance")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge import connectivity as tried
from fixtures.judge import hubble as seen
from fixtures.judge.cilium_status import counted, good, on_every_node
from fixtures.judge.findings import said, together
from fixtures.judge.waiting import clears, starting
from fixtures.session.marks import gate
from fixtures.trials.connectivity import connectivity

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Follow
    from fixtures.judge.findings import Findings, Wait
    from fixtures.observe.cilium_status import CiliumStatus
    from fixtures.observe.hubble import Hubble
    from fixtures.observe.nodes import Nodes
    from fixtures.trials.trial import Trial

    Record = Callable[[str, object], None]


@gate("D2.status")
def test_cilium_status_is_good_on_every_node(
    cilium_status: CiliumStatus, nodes: Nodes, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `cilium status --wait` → all agents ready, Hubble Ok/Enabled.

    STOP: missing cilium-ds pod on any node.
    """
    told, listed = cilium_status.told.polling(), nodes.listed.polling()

    def look() -> Findings:
        status, registered = told(), listed()
        record("cilium status", counted(status))
        return together(
            lambda: good(status, registered, cluster), lambda: on_every_node(status, cluster)
        )

    findings = clears(look, wait, starting(cluster.limits), "`cilium status` is good")
    assert not findings, said(findings)


@gate("D2.connectivity")
def test_pods_reach_pods_services_and_the_world(
    trial: Trial, follow: Follow, record: Record
) -> None:
    """Runbook D2: `cilium connectivity test` → all tests pass, incl. cross-node pod-to-pod.

    STOP: cilium connectivity test failures.
    """
    report = connectivity(trial, follow)
    record("connectivity test", tried.told(report))
    findings = tried.everything_passed(report)
    assert not findings, said(findings)


@gate("D2.hubble")
def test_hubble_relay_hears_every_node(
    hubble: Hubble, nodes: Nodes, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `hubble status` → flows counters increasing, sane uptime.

    STOP: hubble observe empty.
    """
    sample, listed = hubble.status.polling(), nodes.listed.polling()

    def look() -> Findings:
        status = sample()
        record("hubble status", seen.told(status))
        return together(
            lambda: seen.connected_to_every_node(status, cluster),
            lambda: seen.as_the_api_has_it(status, listed(), cluster),
        )

    findings = clears(look, wait, starting(cluster.limits), "hubble-relay hears every node")
    assert not findings, said(findings)
    again = hubble.status.again
    findings = seen.sees_more(again(), again, wait, cluster.limits)
    assert not findings, said(findings)


@gate("D2.flows")
def test_hubble_shows_real_flows(
    hubble: Hubble, nodes: Nodes, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook D2: `hubble observe --since 5m` → real flows with identities and VERDICTs.

    STOP: hubble observe empty.
    """
    sample, listed = hubble.recent.polling(), nodes.listed.polling()

    def look() -> Findings:
        flows = sample()
        record("flows", seen.summed(flows))
        return seen.real_flows(flows, listed())

    findings = clears(look, wait, starting(cluster.limits), "Hubble shows flows")
    assert not findings, said(findings)
