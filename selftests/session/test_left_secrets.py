"""Which Secrets other runs may have left, by the log."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fixtures.applylog.record import EMPTY, Kind, Line
from fixtures.session.left_secrets import left
from fixtures.trials.own_secret import MAKE, REMOVE

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def line(run: str, step: str, state: str, kind: Kind = Kind.STEP) -> Line:
    fields = {"gate": "0.8", "step": step, "state": state}
    return Line.after(EMPTY, at=AT, run=run, kind=kind, fields=fields)


SENT, MADE = line("a", f"{MAKE}x", "sending"), line("a", f"{MAKE}x", "done")


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ([], {}),
        # What was announced may have been made.
        ([SENT], {"x": "a"}),
        ([SENT, MADE], {"x": "a"}),
        ([SENT, line("a", f"{MAKE}x", "failed")], {"x": "a"}),
        ([SENT, line("a", f"{REMOVE}x", "sending")], {"x": "a"}),
        ([SENT, line("a", f"{REMOVE}x", "failed")], {"x": "a"}),
        ([SENT, line("a", f"{REMOVE}x", "done")], {}),
        # Another run has removed it.
        ([SENT, line("b", f"{REMOVE}x", "done")], {}),
        ([SENT, line("b", f"{REMOVE}y", "done")], {"x": "a"}),
        ([line("me", f"{MAKE}x", "sending")], {}),
        ([line("a", f"{MAKE}x", "sending", Kind.LATCH)], {}),
    ],
)
def test_what_may_be_left(lines: list[Line], names: dict[str, str]) -> None:
    assert left(lines, "me") == names
