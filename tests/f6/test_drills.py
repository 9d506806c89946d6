"""Phase F6, what stops servers and restores: each needs a named authorization (runbook, F6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.drills import quorum
from fixtures.drills.conduct import conduct
from fixtures.drills.outage import ControlPlaneOutage
from fixtures.drills.restore import Restore
from fixtures.drills.snapshot import prove, still_proved, take
from fixtures.drills.tidying import tidy
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.inventory import Cluster
    from fixtures.drills.memory import Memory
    from fixtures.drills.scene import Scene
    from fixtures.drills.snapshot import Copier, Snapshot
    from fixtures.drills.watch import Watch

    Record = Callable[[str, object], None]


@gate("P2")
def test_a_snapshot_is_saved_and_copied_off_cp01(
    scene: Scene, copier: Copier, memory: Memory, record: Record
) -> None:
    """Runbook P2: `rke2 etcd-snapshot save --name pre-addons-fase6`, `ls`, copy it to ops01.

    STOP: any P1-P4 item not PASS → do NOT run F6-2/F6-3.
    """
    memory.snapshot = take(scene, copier)
    record("snapshot", memory.snapshot.facts())


@gate("P3")
def test_both_copies_have_the_same_sha256(scene: Scene, snapshot: Snapshot) -> None:
    """Runbook P3: sha256sum on cp01 and, by itself, on the host that holds the copy: identical.

    STOP: mismatch → re-copy and re-verify before anything else.
    """
    prove(scene, snapshot)


@gate("P4")
def test_a_named_human_authorizes_the_downtime(scene: Scene, record: Record) -> None:
    """Runbook P4: name, date, scope and window recorded before the first stop of F6-3.

    STOP: no recorded authorization line = gate NOT passed.
    """
    scene.authorization.check()
    record("authorization", scene.authorization.fields())


@gate("F6-2")
def test_one_control_plane_fails_and_the_api_survives(
    scene: Scene, watch: Watch, memory: Memory, snapshot: Snapshot, cluster: Cluster
) -> None:
    """Runbook F6-2: stop rke2-server on cp02; readyz → ok throughout; start it; 3 members.

    STOP: API via VIP fails while one CP is stopped.
    """
    scene.only_control_planes()
    still_proved(scene, snapshot)
    quorum.still_proved(scene, memory)
    conduct(ControlPlaneOutage(scene, cluster.control_planes[1].name), watch)


@gate("F6-3")
def test_the_snapshot_is_really_restored(scene: Scene, memory: Memory, snapshot: Snapshot) -> None:
    """Runbook F6-3: stop all, cluster-reset with the snapshot on cp01, rejoin the peers.

    STOP: reset/restore failure is an immediate STOP-and-escalate condition; never retried.
    """
    scene.only_control_planes()
    quorum.still_proved(scene, memory)
    Restore(scene, snapshot).run()


@gate("F6-2R")
def test_one_control_plane_fails_after_the_restore(
    scene: Scene, watch: Watch, cluster: Cluster
) -> None:
    """Runbook F6-3: after the test, re-run F6-2.

    STOP: API via VIP fails while one CP is stopped.
    """
    scene.only_control_planes()
    conduct(ControlPlaneOutage(scene, cluster.control_planes[1].name), watch)
    tidy(scene)
