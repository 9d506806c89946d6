"""Faults of NetworkPolicies as the agents enforce them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lab.faults.registry import fault

if TYPE_CHECKING:
    from lab.world import World


@fault("policies-ignored", "nobody enforces NetworkPolicies")
def policies_ignored(world: World) -> None:
    """Cilium with policy enforcement `never`."""
    world.trouble.policy_delay = math.inf


@fault("policies-late", "NetworkPolicies are enforced only so many seconds after they were made")
def policies_late(world: World, seconds: float = 1.0) -> None:
    """As long as an agent takes to regenerate its endpoints."""
    world.trouble.policy_delay = float(seconds)
