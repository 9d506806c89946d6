"""Phase F2, the CSI driver: encryption gate and installation (runbook, F2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.at_rest import CLOCK, came_before, encrypted, facts
from fixtures.judge.encryption import protected, settled
from fixtures.judge.findings import said
from fixtures.observe.at_rest import ceph_secret
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fixtures.core.inventory import Cluster
    from fixtures.judge.findings import Wait
    from fixtures.observe.at_rest import AtRest
    from fixtures.observe.encryption import Encryption

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
def test_etcd_keeps_the_ceph_secret_encrypted(
    at_rest: AtRest, cluster: Cluster, record: Record
) -> None:
    """Runbook F2: `etcdctl get /registry/secrets/kube-system/csi-rbd-secret` shows ciphertext.

    STOP: plaintext: do not run the csi playbook.
    """
    seen = at_rest.stored.again(ceph_secret(cluster))
    record("stored", facts(seen))
    findings = encrypted(seen)
    assert not findings, said(findings)
