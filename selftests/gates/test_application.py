"""What is decided of the root Application: G.6, G.7."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.clock import Skew
from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Undecided
from fixtures.judge.application import in_order, sync_told, synced_once, told
from fixtures.judge.findings import Findings, Lasting
from fixtures.observe.answers import Read, Unknown
from fixtures.observe.application import Application, Operation
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
URL = CLUSTER.names["infrastructure_repository"]
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
CLOCK = Skew(0.0, 0.01)
SYNC = Operation("Succeeded", "", NOW - timedelta(hours=1), NOW, "b610209")
APPLICATION = Application(
    name="root",
    project="platform",
    sources=1,
    repo=URL,
    path="kubernetes/platform",
    target="main",
    prune=True,
    self_heal=True,
    destination="platform",
    server="https://kubernetes.default.svc",
    sync="Synced",
    revision="b610209",
    health="Healthy",
    conditions=(),
    operation=SYNC,
    resources=(),
    history=1,
    reconciled=NOW,
    read=Read(NOW, NOW + timedelta(seconds=1)),
)


def order(clock: Skew | Unknown = CLOCK, **changes: Any) -> Findings:
    return in_order(replace(APPLICATION, **changes), CLUSTER, clock)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"server": "in-cluster"},
        {"compared": (URL, "kubernetes/platform", "main")},
        {"conditions": (("OrphanedResourceWarning", "2 orphaned"),)},
    ],
)
def test_what_is_synced_healthy_and_as_reviewed_passes(changes: dict[str, Any]) -> None:
    assert order(**changes) == ()


def test_an_application_of_nothing_is_said_to_be_trivial() -> None:
    assert "trivial" in told(APPLICATION)["resources"]


@pytest.mark.parametrize(
    ("changes", "lasts"),
    [
        ({"sync": "Unknown"}, False),
        ({"sync": "OutOfSync"}, False),
        ({"sync": ""}, False),
        ({"sync": "synced"}, False),
        ({"health": "Progressing"}, False),
        ({"health": "Degraded"}, False),
        ({"health": ""}, False),
        # Healthy all the same (argo-cd#10330).
        ({"sync": "Unknown", "conditions": (("ComparisonError", "no such path"),)}, False),
        ({"conditions": (("InvalidSpecError", "no such project"),)}, False),
        # It says Synced, of what it was before.
        ({"compared": (URL, "kubernetes/platform", "feature/x")}, False),
        ({"compared": ("", "", "")}, False),
        ({"project": "default"}, True),
        ({"repo": "git@github.com:wetopi-platform/infrastructure.git"}, True),
        ({"path": "kubernetes"}, True),
        ({"target": "HEAD"}, True),
        ({"destination": "default"}, True),
        ({"server": "https://10.9.9.9:6443"}, True),
        ({"server": ""}, True),
        ({"prune": False}, True),
        ({"self_heal": False}, True),
        ({"sources": 2}, True),
        # Synced and Healthy to the end, which is what its controller wrote before.
        ({"deleting": NOW}, True),
        ({"sources": 0, "repo": "", "path": "", "target": ""}, True),
    ],
)
def test_what_is_not_fails_and_is_waited_for_only_where_it_may_change(
    changes: dict[str, Any], lasts: bool
) -> None:
    found = order(**changes)
    assert all("root" in each for each in found)
    assert any(isinstance(each, Lasting) for each in found) is lasts
    # However old it is, and whoever's clock is silent.
    assert order(Unknown("silent"), reconciled=None, **changes) == found


@pytest.mark.parametrize(
    ("changes", "clock", "why"),
    [
        ({"reconciled": NOW - timedelta(hours=1)}, CLOCK, "what it says is old"),
        ({"reconciled": None}, CLOCK, "does not tell when it was last compared"),
        ({"reconciled": NOW + timedelta(minutes=5)}, CLOCK, "in the future"),
        ({}, Unknown("rke-platform01 is silent"), "rke-platform01 is silent"),
        ({"read": None}, CLOCK, "nobody knows when it was read"),
        ({"revision": ""}, CLOCK, "which is no commit"),
        ({"revision": "main"}, CLOCK, "which is no commit"),
    ],
)
def test_what_may_be_old_is_undecided(
    changes: dict[str, Any], clock: Skew | Unknown, why: str
) -> None:
    with pytest.raises(Undecided, match=why):
        order(clock, **changes)


@given(ahead=st.floats(-1e6, 1e6), age=st.floats(0.0, 350.0))
def test_its_age_is_by_the_clock_that_wrote_it(ahead: float, age: float) -> None:
    clock = Skew(ahead, 0.01)
    compared = (NOW + timedelta(seconds=ahead - age)).replace(microsecond=0)
    assert order(clock, reconciled=compared) == ()
    with pytest.raises(Undecided, match="old"):
        order(clock, reconciled=compared - timedelta(seconds=400))


def test_an_application_that_is_not_there_fails() -> None:
    (found,) = in_order(None, CLUSTER, CLOCK)
    assert isinstance(found, Lasting)
    assert synced_once(None, CLUSTER)


def test_an_inventory_without_the_repository_is_undecided() -> None:
    with pytest.raises(Undecided, match="infrastructure_repository"):
        in_order(APPLICATION, replace(CLUSTER, names={}), CLOCK)


@pytest.mark.parametrize(
    "operation",
    [
        SYNC,
        replace(SYNC, repo=URL),
        replace(SYNC, repo=URL, path="kubernetes/platform"),
        replace(SYNC, started=None),
    ],
)
def test_a_sync_that_succeeded_and_says_so_passes(operation: Operation) -> None:
    seen = replace(APPLICATION, operation=operation)
    assert synced_once(seen, CLUSTER) == ()
    assert sync_told(seen)["revision"] == "b610209"


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        (None, "was never synced"),
        (replace(SYNC, phase="Running", finished=None), "is `Running`"),
        (replace(SYNC, phase="Terminating"), "is `Terminating`"),
        (replace(SYNC, phase=""), "is nothing, expected Succeeded"),
        (replace(SYNC, phase="Failed", message="no\nroom"), "is Failed"),
        (replace(SYNC, phase="Error"), "is Error"),
        (replace(SYNC, finished=None), "does not tell when it ended"),
        (replace(SYNC, revision=""), "does not tell its revision"),
        (replace(SYNC, finished=None, revision=""), "(finishedAt) and its revision"),
        (replace(SYNC, finished=NOW - timedelta(hours=2)), "ended before it began"),
        (replace(SYNC, repo="https://github.com/elsewhere.git"), "its last sync was of"),
        (replace(SYNC, repo=URL, path="kubernetes/old"), "its last sync was of `kubernetes/old`"),
        (replace(SYNC, dry=True), "was a dry run"),
    ],
)
def test_a_sync_that_did_not_or_does_not_fails(operation: Operation | None, says: str) -> None:
    (found,) = synced_once(replace(APPLICATION, operation=operation), CLUSTER)
    assert says in found
    assert "\n" not in found


def test_a_sync_that_is_asked_for_is_not_the_one_before_it() -> None:
    (found,) = synced_once(replace(APPLICATION, requested=True), CLUSTER)
    assert "has not begun" in found
    assert not isinstance(found, Lasting)
