"""Phase D2, full validation: what short-lived pods show (runbook, D2); they are removed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.dns import facts, resolves_to_services
from fixtures.judge.findings import said
from fixtures.judge.landing import on_platform_workers, places
from fixtures.observe.answers import known
from fixtures.observe.dns import KUBERNETES_SERVICE, SHORT
from fixtures.session.marks import gate
from fixtures.trials.isolation import Isolation

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.inventory import Cluster
    from fixtures.observe.dns import Dns
    from fixtures.trials.trial import Trial

    Record = Callable[[str, object], None]


@gate("D2.dns")
def test_the_kubernetes_service_resolves_from_a_pod(
    trial: Trial, dns: Dns, cluster: Cluster, record: Record
) -> None:
    """Runbook D2: nslookup of the FQDN in a jessie-dnsutils pod is answered inside 10.68.0.0/16.

    STOP: DNS gate failing (zero parsed answers, or any answer outside 10.68.0.0/16).
    """
    (pod,) = trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    trial.ready(pod, within=cluster.limits.dns_pod_ready)
    (answer,) = dns.asked(pod, KUBERNETES_SERVICE)
    record("lookup", facts(answer))
    findings = resolves_to_services(answer, cluster)
    assert not findings, said(findings)


@gate("D2.dns-utils")
def test_the_kubernetes_service_resolves_from_busybox(
    trial: Trial, dns: Dns, cluster: Cluster, record: Record
) -> None:
    """Runbook D2: `nslookup kubernetes.default` in busybox resolves into 10.68.0.0/16.

    STOP: DNS gate failing (zero parsed answers, or any answer outside 10.68.0.0/16).
    """
    (pod,) = trial.begin(trial.sleeping("dns-utils", "dns_utils"))
    trial.ready(pod, within=cluster.limits.dns_utils_ready)
    answer = dns.asked(pod, KUBERNETES_SERVICE)[0]
    # Recorded only: with no way out, what the cluster does not know is answered late, or never.
    short = known(lambda: dns.asked(pod, SHORT)[0])
    record("lookups", [facts(answer), facts(short)])
    findings = resolves_to_services(answer, cluster)
    assert not findings, said(findings)


@gate("D2.sched")
def test_pods_land_on_platform_workers(trial: Trial, cluster: Cluster, record: Record) -> None:
    """Runbook D2: a pod with nodeSelector `wetopi.io/role=platform` lands on a platform worker.

    STOP: sched-check not placed on a platform-labeled node.
    """
    labelled = trial.sleeping("rke2-sched-check", "sched_check", on=cluster.worker_label)
    unlabelled = trial.sleeping("rke2-sched-any", "sched_check")
    pods = trial.begin(labelled, unlabelled)
    landed = trial.landed(*pods, within=cluster.limits.dns_pod_ready)
    record("placement", places(landed))
    findings = on_platform_workers(landed, cluster)
    assert not findings, said(findings)


@gate("D2.netpol")
def test_a_default_deny_policy_drops_the_probe(trial: Trial, record: Record) -> None:
    """Runbook D2: under default-deny `wget -qO- --timeout=5 http://web` MUST fail (dropped).

    STOP: NetworkPolicy probe NOT dropped.
    """
    isolation = Isolation(trial)
    isolation.begin()
    findings = isolation.deny()
    assert not findings, said(findings)
    record("dropped", isolation.drop())
