"""Conditions of nodes and pods, written as controllers write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.kinds import stamp

if TYPE_CHECKING:
    from datetime import datetime

    from lab.objects import Object


def state(item: Object, kind: str, now: datetime, *, holds: bool | None, **why: str) -> None:
    """Set the item's condition; None is Unknown. `why` is `reason` and `message`, if any."""
    status = "Unknown" if holds is None else str(holds)
    conditions: list[Object] = item["status"].setdefault("conditions", [])
    old = next((each for each in conditions if each["type"] == kind), None)
    changed = old is None or old.get("status") != status
    new: Object = {
        **why,
        "lastTransitionTime": stamp(now) if changed or old is None else old["lastTransitionTime"],
        "status": status,
        "type": kind,
    }
    if old is not None and "lastHeartbeatTime" in old:
        new["lastHeartbeatTime"] = stamp(now)
    item["status"]["conditions"] = [
        *(each for each in conditions if each["type"] != kind),
        new,
    ]


def of(item: Object, kind: str) -> str:
    """The status of the item's condition; empty without one."""
    return next(
        (
            str(each["status"])
            for each in item.get("status", {}).get("conditions", [])
            if each["type"] == kind
        ),
        "",
    )
