"""Phase C, quorum: the drills (runbook, "Validation gate C"); they undo what they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.drills.conduct import conduct
from fixtures.drills.outage import ControlPlaneOutage
from fixtures.drills.vip_failover import VipFailover
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from fixtures.drills.scene import Scene
    from fixtures.drills.watch import Watch


@gate("C.5")
def test_the_vip_moves_to_the_best_healthy_peer_and_comes_back(scene: Scene, watch: Watch) -> None:
    """Runbook C: stop keepalived on the owner; the VIP moves to the best peer within ~10 s, ping
    and readyz through it go on; start it again, and the owner reclaims the VIP.

    STOP: API via VIP fails during VIP failover.
    """  # noqa: D205
    conduct(VipFailover(scene), watch)


@gate("C.6")
def test_the_api_survives_one_stopped_control_plane(scene: Scene, watch: Watch) -> None:
    """Runbook C: stop rke2-server on one CP that does not own the VIP; readyz through the VIP stays
    ok and the member list still names three; start it again.

    STOP: API via VIP fails with one CP stopped.
    """  # noqa: D205
    conduct(ControlPlaneOutage(scene), watch)
