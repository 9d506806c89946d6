"""Whose short-lived namespaces there are: only a dead run's of this log are removed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fixtures.applylog.record import EMPTY, Kind, Line
from fixtures.core.inventory import Label
from fixtures.core.ownership import MANAGED_BY, RUN
from fixtures.observe.namespaces import Namespace
from fixtures.session.sweeping import leftovers
from fixtures.session.volumes_left import unfinished
from fixtures.trials.adoption import ADOPT
from fixtures.trials.claimed import CLAIMED

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
Logged = tuple[str, Kind, dict[str, Any]]


def log(*lines: Logged) -> list[Line]:
    head, found = EMPTY, []
    for run, kind, fields in lines:
        found.append(Line.after(head, at=AT, run=run, kind=kind, fields=fields))
        head = found[-1].head
    return found


def started(*runs: str) -> list[Logged]:
    return [(run, Kind.RUN_START, {"operator": "ada@desk"}) for run in runs]


def adopting(run: str, state: str = "sending", before: tuple[str, ...] = ()) -> Logged:
    about = {"prefix": "cilium-test-", "before": list(before), "within": 1800.0}
    return (run, Kind.STEP, {"gate": "D2.connectivity", "step": ADOPT, "state": state, **about})


def ours(name: str, run: str) -> Namespace:
    return Namespace(name, f"uid of {name}", (MANAGED_BY, Label(RUN, run)), AT)


def plain(name: str, minutes: float | None = 1) -> Namespace:
    created = None if minutes is None else AT + timedelta(minutes=minutes)
    return Namespace(name, f"uid of {name}", (), created)


@pytest.mark.parametrize(
    ("lines", "there", "dead", "living", "others"),
    [
        (started("a"), [ours("x", "a")], ["x"], [], []),
        ([*started("a"), ("a", Kind.RUN_END, {})], [ours("x", "a")], ["x"], [], []),
        (started("b"), [ours("x", "b")], [], ["x"], []),
        (started("a"), [ours("x", "elsewhere")], [], [], ["x"]),
        # Exactly that run's, not one whose name begins alike; not our own either.
        (started("a"), [ours("x", "a2"), ours("y", "A"), ours("z", "me")], [], [], ["x", "y"]),
        (started("a"), [ours("x", "")], [], [], ["x"]),
        # Labelled for another tool, or for no run at all.
        (started("a"), [Namespace("x", "u", (Label(RUN, "a"),))], [], [], []),
        (started("a"), [plain("rke2-acceptance-dns-a"), plain("default")], [], [], []),
        ([], [plain("cilium-test-1")], [], [], []),
        # A tool that a dead run let make namespaces.
        ([adopting("a")], [plain("cilium-test-1"), plain("cilium-x")], ["cilium-test-1"], [], []),
        ([adopting("b")], [plain("cilium-test-1")], [], [], []),
        ([adopting("a"), adopting("a", "done")], [plain("cilium-test-1")], [], [], []),
        ([adopting("a", before=("uid of cilium-test-1",))], [plain("cilium-test-1")], [], [], []),
        # Made before it began, long after it can have ended, or nobody knows when.
        ([adopting("a")], [plain("cilium-test-1", -1)], [], [], []),
        ([adopting("a")], [plain("cilium-test-1", 31)], [], [], []),
        ([adopting("a")], [plain("cilium-test-1", None)], [], [], []),
        # Told apart by their labels where they have some.
        ([adopting("a")], [ours("cilium-test-1", "a")], ["cilium-test-1"], [], []),
        ([adopting("a"), *started("b")], [ours("cilium-test-1", "b")], [], ["cilium-test-1"], []),
    ],
)
def test_whose_they_are(
    lines: list[Logged],
    there: list[Namespace],
    dead: list[str],
    living: list[str],
    others: list[str],
) -> None:
    found = leftovers(log(*lines, *started("me")), there, "me", lambda run: run == "b", 2.0)
    assert [each.name for each in found.dead] == dead
    assert [each.name for each in found.living] == living
    assert [each.name for each in found.others] == others
    assert all(each.uid == f"uid of {each.name}" for each in found.dead)


def claiming(run: str, state: str = "sending", space: str = "space-a") -> Logged:
    about = {"gate": "F2.bound", "step": CLAIMED, "state": state, "space": space}
    return (run, Kind.STEP, about)


@pytest.mark.parametrize(
    ("lines", "spaces"),
    [
        ([], []),
        ([claiming("a")], ["space-a"]),
        ([claiming("a"), claiming("a", "done")], []),
        ([claiming("a"), claiming("a", "failed")], ["space-a"]),
        # A later run has seen them gone, or has looked and seen some.
        ([claiming("a"), claiming("c", "done")], []),
        ([claiming("a"), claiming("c", "failed")], ["space-a"]),
        ([claiming("a"), claiming("c", space="space-c")], ["space-a", "space-c"]),
        ([claiming("b")], []),
        ([claiming("me")], []),
        ([("a", Kind.STEP, {"gate": "F2.bound", "step": CLAIMED, "state": "sending"})], []),
        ([("a", Kind.STEP, {"gate": None, "step": "make Pod x", "space": "space-a"})], []),
    ],
)
def test_where_volumes_may_be_left(lines: list[Logged], spaces: list[str]) -> None:
    found = unfinished(log(*lines), "me", lambda run: run == "b")
    assert [each.space for each in found] == spaces
    assert all(each.run in {"a", "c"} for each in found)
