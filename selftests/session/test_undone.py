"""What a run that was interrupted says of its short-lived objects: what it removed, no more."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fixtures.applylog.record import EMPTY, Kind, Line
from fixtures.session.trying import undone

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def log(*steps: tuple[str, str] | tuple[str, str, str]) -> list[Line]:
    head, found = EMPTY, []
    for step, state, *of in steps:
        fields: dict[str, Any] = {"gate": "D2.dns", "step": step, "state": state}
        fields |= {"of": of[0]} if of else {}
        found.append(Line.after(head, at=AT, run="me", kind=Kind.STEP, fields=fields))
        head = found[-1].head
    return found


SPACE = ("make Namespace x", "sending")
POD = ("make Pod web", "done")
GONE = ("remove Namespace x", "done", "me")


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([], ""),
        ([SPACE, POD], ""),
        ([SPACE, POD, ("remove Namespace x", "sending", "me")], ""),
        ([SPACE, POD, GONE], "Namespace x is removed, and gone, with Pod web"),
        ([SPACE, POD, ("remove Pod web", "done"), GONE], "Namespace x is removed, and gone"),
        ([SPACE, POD, GONE, GONE], "Namespace x is removed, and gone, with Pod web"),
        # What another run had left is told elsewhere.
        ([("remove Namespace y", "done", "dead"), SPACE], ""),
        # Of two gates, the one that was interrupted.
        ([SPACE, POD, GONE, ("make Namespace y", "done")], ""),
        (
            [("make Secret default/s", "sending"), ("remove Secret default/s", "done", "me")],
            "Secret default/s is removed, and gone",
        ),
        ([("make marker 1", "done"), ("remove marker 1", "done")], ""),
        ([("arm the undo", "done")], ""),
    ],
)
def test_what_is_undone(steps: list[tuple[str, str]], text: str) -> None:
    assert undone(log(*steps), "me") == text
    assert undone(log(*steps), "another") == ""
