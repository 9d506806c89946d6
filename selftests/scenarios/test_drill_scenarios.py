"""Drills and the restore end as each scenario says, and leave what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.scenario import load
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path


DRILLS = sorted((SCENARIOS / "drills").glob("*.yaml"))
RESTORES = sorted((SCENARIOS / "restore").glob("*.yaml"))
# One of each kind; the others say the same in other words, and each takes seconds.
ALWAYS = frozenset(
    {
        "api-away-for-too-long",
        "link-cut-before-the-stop",
        "lock-held",
        "server-never-comes-back",
        "stop-leaves-etcd-running",
        "vip-comes-too-late",
        "vip-never-comes-back",
        "journal-corruption",
        "occupied-by-a-volume",
        "peer-stays-a-learner",
        "preflight-other-token",
        "reset-ends-without-its-sentence",
        "snapshot-copy-damaged",
        "snapshot-is-not-said",
        "snapshot-name-taken",
        "two-clusters-that-look-healthy",
    }
)
# A scenario without expectations says nothing of what it is about.
GATES = {"healthy": "C.5,C.6", "link-cut-after-each-change": "C.5"}
OPTIONS = {"authorization-ends-before-the-last-stop": ["--window=6s"]}
SNAPSHOT = "F6-1,P1,P2,P3,P4"


@pytest.mark.parametrize("path", cases(DRILLS, ALWAYS))
def test_drill(path: Path, reports_after_drills: Path) -> None:
    listed = [gate for gate in load(path).expect if not gate.endswith(".undo")]
    gates = GATES.get(path.stem) or ",".join(listed)
    check(path, reports_after_drills, gates)


@pytest.mark.parametrize("path", cases(RESTORES, ALWAYS))
def test_restore(path: Path, reports_after_drills: Path) -> None:
    gates = SNAPSHOT
    if not path.stem.startswith("snapshot-"):
        gates += ",F6-3"
    if path.stem.startswith(("healthy", "journal-")):
        gates += ",F6-3.journal,F6-1R"
    check(path, reports_after_drills, gates)


def check(path: Path, reports: Path, gates: str) -> None:
    scenario = load(path)
    options = ["--authorize=Ana", *OPTIONS.get(path.stem, [])]
    # Its own faults come after the general ones, and count for more.
    short = reports / "short.yaml"
    run = replay(reports, short, "", f"--scenario={path}", f"--gate={gates}", *options)
    compare(run, lambda key: expected(scenario, key))
    undone = {gate for gate in scenario.expect if gate.endswith(".undo")}
    assert set(run.verdicts) == {*gates.split(","), *undone}, run.console


def test_what_is_always_replayed_is_there() -> None:
    assert {path.stem for path in [*DRILLS, *RESTORES]} > ALWAYS
