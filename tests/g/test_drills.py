"""Phase G, Argo CD: the drift drill (runbook, "Phase G", drift check)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fixtures.drills.drift import Drift
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from fixtures.drills.scene import Scene

    Record = Callable[[str, Any], None]


@gate("G.9")
def test_drift_is_seen_and_healed(
    scene: Scene, defer: Callable[[str], NoReturn], record: Record
) -> None:
    """Runbook G: a manual change shows OutOfSync, then self-heals; DEFERRED while nothing is there.

    STOP: drift is not seen, or not healed within the reconcile interval.
    """
    Drift(scene, record).conduct(defer)
