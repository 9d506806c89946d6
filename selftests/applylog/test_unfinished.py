"""Which drills of earlier runs count as not finished: from the log alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fixtures.applylog.record import EMPTY, Kind, Line
from fixtures.applylog.unfinished import unfinished
from fixtures.core.milestones import LOOKED_AFTER

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LOCK = ("take the lock", "sending")
ARM = ("arm the undo", "sending")
RESET = ("reset", "sending")
DONE = ("recovery", "done")
FAILED = ("recovery", "failed")
RESTORED = ("the restore has ended", "done")


def log(*lines: tuple[str, Kind, dict[str, Any]]) -> list[Line]:
    head, found = EMPTY, []
    for run, kind, fields in lines:
        found.append(Line.after(head, at=AT, run=run, kind=kind, fields=fields))
        head = found[-1].head
    return found


def drill(run: str, gate: str, *steps: tuple[str, str]) -> list[tuple[str, Kind, dict[str, Any]]]:
    return [
        (run, Kind.STEP, {"gate": gate, "step": step, "state": state, "host": "rke-cp01"})
        for step, state in steps
    ]


def started(run: str) -> tuple[str, Kind, dict[str, Any]]:
    return (run, Kind.RUN_START, {"operator": "ada@desk"})


def ended(run: str) -> tuple[str, Kind, dict[str, Any]]:
    return (run, Kind.RUN_END, {"status": 1})


def told(run: str, gate: str, state: str) -> tuple[str, Kind, dict[str, Any]]:
    return ("later", Kind.STEP, {"gate": gate, "step": LOOKED_AFTER, "state": state, "of": run})


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([*drill("a", "C.5", LOCK)], ["C.5"]),
        ([*drill("a", "C.5", LOCK, ARM)], ["C.5"]),
        # Killed after its drill was over: it may have left its lock.
        ([*drill("a", "C.5", LOCK, ARM, DONE)], ["C.5"]),
        # Only the last drill of a dead run says where it died.
        ([*drill("a", "C.5", LOCK, ARM, DONE), *drill("a", "C.6", LOCK, ARM)], ["C.6"]),
        ([*drill("a", "C.5", LOCK, ARM, DONE), ended("a")], []),
        ([*drill("a", "C.5", LOCK, ARM, FAILED), ended("a")], ["C.5"]),
        # Refused, or ended before it changed anything.
        ([*drill("a", "C.5", LOCK), ended("a")], []),
        ([*drill("a", "F6-3", LOCK, RESET), ended("a")], ["F6-3"]),
        ([*drill("a", "F6-3", LOCK, RESET, RESTORED), ended("a")], []),
        # Told until it was found to be over.
        ([*drill("a", "C.5", LOCK, ARM), told("a", "C.5", "failed")], ["C.5"]),
        ([*drill("a", "C.5", LOCK, ARM), told("a", "C.5", "unknown")], ["C.5"]),
        ([*drill("a", "C.5", LOCK, ARM), told("a", "C.5", "done")], []),
        ([*drill("a", "C.5", LOCK, ARM), told("b", "C.5", "done")], ["C.5"]),
        # A step of no drill: nothing is broken by it.
        ([*drill("a", "P2", ("make marker 1", "sending"))], []),
        ([], []),
    ],
)
def test_what_is_unfinished(
    lines: list[tuple[str, Kind, dict[str, Any]]], expected: list[str]
) -> None:
    found = unfinished(log(started("a"), *lines))
    assert [each.gate for each in found] == expected
    assert all(each.operator == "ada@desk" for each in found)


def test_it_says_how_far_it_came() -> None:
    (found,) = unfinished(log(started("a"), *drill("a", "F6-3", LOCK, RESET)))
    assert found.froze
    assert str(found) == (
        "F6-3 of run a (ada@desk) was not finished: its last step was `reset` on rke-cp01, "
        "sending, at 2026-11-30T12:00:00.000Z"
    )
