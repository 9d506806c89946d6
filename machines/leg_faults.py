"""Faults of the saved plan on the bastion."""

from __future__ import annotations

from typing import Final

from machines import leg, plan, tofu, tofu_changes
from machines.fault import Fault
from machines.tofu_cases import CASES

_OTHER: Final = next(case for case in CASES if case.name == "other-replaced")


def _plan_anew(_: str) -> None:
    leg.save()


FAULTS: Final = (
    Fault(
        "plan-replaces-another",
        "the saved plan adds the leg, and replaces another VM",
        lambda: leg.save(_OTHER.more),
        _plan_anew,
        phase=plan.Phase.D,
    ),
    Fault(
        "plan-cut-off",
        "the plan file on the bastion is not whole",
        lambda: tofu_changes.cut_off(leg.workspace().folder / tofu.PRODUCTION),
        _plan_anew,
        phase=plan.Phase.D,
    ),
)
