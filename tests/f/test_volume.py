"""Phase F2, the CSI driver: the life of one volume (runbook, F2, PVC acceptance)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.csi_logs import counts, unresolved
from fixtures.judge.findings import said
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.trials.volume import VolumeLife

    Record = Callable[[str, object], None]


@gate("F2.bound")
def test_a_claim_is_bound_in_time(volume: VolumeLife, record: Record) -> None:
    """Runbook F2: `kubectl get pvc ceph-rbd-test -w` → Bound within ~1 min.

    STOP: PVC Pending (describe it; check provisioner logs).
    """
    findings, seen = volume.begin()
    record("volume", seen)
    assert not findings, said(findings)


@gate("F2.b")
def test_a_pod_mounts_the_volume_and_writes_to_it(volume: VolumeLife) -> None:
    """Runbook F2 (b): inside: date > /mnt/data/marker.txt && cat /mnt/data/marker.txt.

    STOP: any acceptance step (b)-(e) failing.
    """
    findings = volume.write()
    assert not findings, said(findings)


@gate("F2.c")
def test_the_marker_survives_the_pod(volume: VolumeLife) -> None:
    """Runbook F2 (c): delete the pod, run it again: the same marker is still readable.

    STOP: any acceptance step (b)-(e) failing.
    """
    findings = volume.recreate()
    assert not findings, said(findings)


@gate("F2.d")
def test_the_image_goes_with_its_claim(volume: VolumeLife) -> None:
    """Runbook F2 (d): delete the PVC; `rbd ls kubernetes` → no csi-vol image for the PVC.

    STOP: any acceptance step (b)-(e) failing.
    """
    findings = volume.end()
    assert not findings, said(findings)


@gate("F2.e")
def test_the_driver_left_no_error_without_a_success(volume: VolumeLife, record: Record) -> None:
    """Runbook F2 (e): no CSI errors or timeouts in the logs across (a)-(d).

    STOP: any acceptance step (b)-(e) failing.
    """
    logs, names = volume.logged()
    record("logs", counts(logs, names))
    findings = unresolved(logs, names)
    assert not findings, said(findings)
