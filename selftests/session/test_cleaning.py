"""Which lines of the log speak of a gate's CLEANUP STOPs on this cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fixtures.applylog.record import EMPTY, Kind, Line
from fixtures.judge.cleanup import TITLE
from fixtures.session.cleaning import events

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def line(kind: Kind = Kind.LATCH, **changes: Any) -> Line:
    fields = {"gate": "G.4", "step": TITLE, "state": "set", "identity": "here"} | changes
    return Line.after(EMPTY, at=AT, run="r", kind=kind, fields=fields)


@pytest.mark.parametrize(
    ("seen", "identity", "counts"),
    [
        (line(), "here", True),
        (line(identity="elsewhere"), "here", False),
        # Rather one stop too many than one too few.
        (line(identity=None), "here", True),
        (line(), None, True),
        (line(gate="F2.enc-ii"), "here", False),
        (line(step="latch"), "here", False),
        (line(Kind.STEP), "here", False),
    ],
)
def test_which_lines_count(seen: Line, identity: str | None, counts: bool) -> None:
    assert bool(list(events([seen], "G.4", identity))) is counts
