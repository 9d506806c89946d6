"""Phase W, worker lifecycle: the drills (runbook, "Phase W")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fixtures.drills.conduct import conduct
from fixtures.drills.drain import WorkerDrain
from fixtures.drills.reboot import WorkerReboot
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.drills.scene import Scene
    from fixtures.drills.watch import Watch

    Record = Callable[[str, Any], None]


@gate("W-1")
def test_a_drained_worker_is_emptied_and_takes_pods_again(
    scene: Scene, watch: Watch, record: Record
) -> None:
    """Runbook W-1: drain rke-platform01; eligible pods are rescheduled; uncordon it: Ready.

    STOP: drain hangs on un-evictable pods, node not Schedulable after uncordon.
    """
    conduct(WorkerDrain(scene, record), watch)


@gate("W-2")
def test_a_rebooted_worker_comes_back_ready_and_stays_so(
    scene: Scene, watch: Watch, record: Record
) -> None:
    """Runbook W-2: reboot rke-platform02; Ready, label, Cilium agent; no residue after ~5 min.

    STOP: node not Ready after 10 min, label lost, Cilium agent not Running+Ready.
    """
    conduct(WorkerReboot(scene, record), watch)
