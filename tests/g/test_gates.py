"""Phase G, Argo CD (runbook, "Phase G")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.application import in_order, sync_told, synced_once, syncing, told
from fixtures.judge.argocd import (
    active,
    connected,
    pinned_versions,
    pods_told,
    reviewed_manifest,
    seven_pods,
    versions_told,
)
from fixtures.judge.at_rest import CLOCK, came_before
from fixtures.judge.cleanup import initial_admin, repository
from fixtures.judge.encryption import protected, settled
from fixtures.judge.findings import said, together
from fixtures.judge.waiting import clears
from fixtures.observe.answers import known
from fixtures.observe.argocd import CONTROLLER, SERVER
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fixtures.core.inventory import Cluster
    from fixtures.judge.findings import Wait
    from fixtures.observe.argocd import ArgoCd
    from fixtures.observe.argocd_cli import ArgoCdCli
    from fixtures.observe.argocd_manifest import ArgoCdManifest
    from fixtures.observe.argocd_repository import ArgoCdRepository
    from fixtures.observe.at_rest import AtRest
    from fixtures.observe.encryption import Encryption
    from fixtures.trials.credential import Cleanup

    Record = Callable[[str, object], None]
    Held = Callable[..., Sequence[Mapping[str, object]]]


@gate("G.1")
def test_the_seven_pods_of_argo_cd_run(argocd: ArgoCd, cluster: Cluster, record: Record) -> None:
    """Runbook G: `kubectl -n argocd get pods` → all Running/Ready, 7/7.

    STOP: pods not all Running.
    """
    seen = argocd.pods()
    record("pods", pods_told(seen))
    findings = seven_pods(seen, cluster)
    assert not findings, said(findings)


@gate("G.2")
def test_client_and_server_are_of_the_pinned_version(
    argocd_cli: ArgoCdCli, cluster: Cluster, record: Record
) -> None:
    """Runbook G: `argocd version --short` → v3.4.8, client and server."""
    seen = argocd_cli.version()
    record("versions", versions_told(seen))
    findings = pinned_versions(seen, cluster)
    assert not findings, said(findings)


@gate("G.3")
def test_secrets_were_encrypted_before_the_credential_was_made(
    encryption: Encryption, at_rest: AtRest, wait: Wait, held: Held, record: Record
) -> None:
    """Runbook G, step 1: check (i) FIRST, before creating the Secret, on all three CPs.

    STOP: check (i) fails, before any credential material enters the cluster.
    """
    cluster = encryption.cluster
    findings = protected(settled(encryption.everywhere.polling(), wait, cluster.limits), cluster)
    assert not findings, said(findings)
    clock, secret = encryption.clock.again(), repository(cluster).secret
    checks = [*held("G.3", "F2.enc-i"), {CLOCK: clock}]
    came_before(checks, secret, at_rest.version.again(secret))
    record(CLOCK, clock)


@gate("G.4")
def test_etcd_keeps_the_repository_credential_encrypted(cleanup: Cleanup) -> None:
    """Runbook G, step 3: `etcdctl get /registry/secrets/argocd/repo-infra-https` → ciphertext.

    STOP: plaintext → CLEANUP STOP.
    """
    cluster = cleanup.cluster
    findings = together(
        lambda: cleanup.kept(repository(cluster)),
        lambda: cleanup.password_kept(initial_admin(cluster)),
    )
    assert not findings, said(findings)


@gate("G.5")
def test_argo_cd_reaches_the_repository_with_the_labelled_secret(
    argocd: ArgoCd, argocd_cli: ArgoCdCli, argocd_repository: ArgoCdRepository, cluster: Cluster
) -> None:
    """Runbook G, step 17: `argocd repo list` → the repository's connection is Successful.

    STOP: argocd repo list not Successful.
    """
    seen, clock = argocd_cli.repositories.again(), known(lambda: argocd.clock(SERVER))
    findings = connected(seen, argocd_repository.registrations.again(), clock, cluster)
    assert not findings, said(findings)


@gate("G.6")
def test_the_root_application_is_synced_healthy_and_as_reviewed(
    argocd: ArgoCd, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook G: `argocd app get root` → Synced, Healthy, source main @ kubernetes/platform.

    STOP: root app not Synced+Healthy after argocd app wait.
    """
    sample, clock = argocd.application.polling(), known(lambda: argocd.clock(CONTROLLER))
    what, lag = "the root Application is Synced and Healthy", syncing(cluster.limits)
    findings = clears(lambda: in_order(sample(), cluster, clock), wait, lag, what)
    if seen := argocd.application():
        record("application", told(seen))
    assert not findings, said(findings)


@gate("G.7")
def test_the_sync_of_the_root_application_succeeded(
    argocd: ArgoCd, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook G: `argocd app sync root` → Succeeded (no-op, placeholders only)."""
    sample = argocd.application.polling()
    what = "the root Application's sync ends"
    findings = clears(lambda: synced_once(sample(), cluster), wait, syncing(cluster.limits), what)
    assert not findings, said(findings)
    if seen := argocd.application():
        record("sync", sync_told(seen))


@gate("G.8")
def test_the_namespace_that_the_sync_makes_is_active(argocd: ArgoCd, cluster: Cluster) -> None:
    """Runbook G: `kubectl get ns platform` → Active, created by the sync."""
    findings = active(argocd.namespace(), cluster)
    assert not findings, said(findings)


@gate("G.10")
def test_the_pinned_manifest_is_the_recorded_one(
    argocd_manifest: ArgoCdManifest, cluster: Cluster, record: Record
) -> None:
    """Runbook G: the SHA-256 is the recorded one; the awk rule splits it into 1 and 58."""
    seen = argocd_manifest.pinned()
    if seen:
        record("sha256", seen.sha256)
    findings = reviewed_manifest(seen, cluster)
    assert not findings, said(findings)
