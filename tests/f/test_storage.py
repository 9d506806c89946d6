"""Phase F2, the CSI driver: encryption gate and installation (runbook, F2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.at_rest import CLOCK, came_before
from fixtures.judge.ceph_settings import (
    dedicated,
    filled_in,
    names_used,
    names_what_is_used,
)
from fixtures.judge.cleanup import ceph
from fixtures.judge.components import csi_runs, places
from fixtures.judge.encryption import protected, settled
from fixtures.judge.findings import said, together
from fixtures.judge.storage_class import facts as class_facts
from fixtures.judge.storage_class import is_as_designed
from fixtures.judge.waiting import clears, csi_starts
from fixtures.observe.at_rest import ceph_secret
from fixtures.observe.components import CSI
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fixtures.core.inventory import Cluster
    from fixtures.core.statements import Statement
    from fixtures.judge.findings import Wait
    from fixtures.observe.at_rest import AtRest
    from fixtures.observe.ceph_settings import CephSettings
    from fixtures.observe.components import Components
    from fixtures.observe.encryption import Encryption
    from fixtures.observe.storage_class import StorageClasses
    from fixtures.trials.credential import Cleanup

    Record = Callable[[str, object], None]
    Held = Callable[[], Sequence[Mapping[str, object]]]


@gate("F2.enc-i")
def test_secrets_are_encrypted_before_the_ceph_secret_is_made(
    encryption: Encryption,
    at_rest: AtRest,
    wait: Wait,
    held: Held,
    record: Record,
) -> None:
    """Runbook F2: before creating the Secret, `rke2 secrets-encrypt status` on all three CPs.

    STOP: the check fails: do not create csi-rbd-secret.
    """
    cluster = encryption.cluster
    findings = protected(settled(encryption.everywhere.polling(), wait, cluster.limits), cluster)
    assert not findings, said(findings)
    clock, secret = encryption.clock.again(), ceph_secret(cluster)
    came_before([*held(), {CLOCK: clock}], secret, at_rest.version.again(secret))
    record(CLOCK, clock)


@gate("F2.enc-ii")
def test_etcd_keeps_the_ceph_secret_encrypted(cleanup: Cleanup) -> None:
    """Runbook F2: `etcdctl get /registry/secrets/kube-system/csi-rbd-secret` shows ciphertext.

    STOP: plaintext: do not run the csi playbook.
    """
    findings = cleanup.kept(ceph(cleanup.cluster))
    assert not findings, said(findings)


@gate("F2.pre")
def test_the_driver_may_be_installed_with_what_there_is(
    ceph_settings: CephSettings, statement: Callable[[], Statement], record: Record
) -> None:
    """Runbook F2: placeholders replaced by reviewed PR; dedicated user, never admin, and pool.

    STOP: the playbook fails early on placeholders or a missing secret, by design.
    """
    seen, cluster = ceph_settings.at_head(), ceph_settings.cluster
    record("files", names_used(seen))
    findings = together(lambda: filled_in(seen), lambda: dedicated(ceph_settings.user.again()))
    assert not findings, said(findings)
    names_what_is_used(statement(), seen, cluster)


@gate("F2.pods")
def test_the_csi_driver_runs(
    components: Components, cluster: Cluster, wait: Wait, record: Record
) -> None:
    """Runbook F2: `kubectl -n kube-system get pods -l app=ceph-csi-rbd` → all Running.

    STOP: look at the provisioner's logs.
    """
    pods = components.csi.polling()
    lag = csi_starts(cluster.limits)
    findings = clears(lambda: csi_runs(pods(), cluster), wait, lag, "the CSI driver runs")
    record("pods", places(components.csi(), CSI))
    assert not findings, said(findings)


@gate("F2.class")
def test_the_storage_class_is_as_designed(
    storage_classes: StorageClasses, cluster: Cluster, record: Record
) -> None:
    """Runbook F2: provisioner rbd.csi.ceph.com, allowVolumeExpansion true.

    STOP: run the playbook, or correct the class by a reviewed pull request.
    """
    seen = storage_classes.seen()
    record("class", class_facts(seen))
    findings = is_as_designed(seen, cluster)
    assert not findings, said(findings)
