"""Runners of drills on workers, ended at any step: the worker takes pods again, and is Ready."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING

import pytest

from lab.phase import Phase
from selftests.drills.killed import drill, kinds, lab_and_runners
from selftests.drills.runners import Kill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lab.world import World
    from selftests.drills.outliving import Outliving
    from selftests.drills.runners import Runners

pytestmark = pytest.mark.thorough

LOOK = "--gate=B.4"
"""A run that only looks."""


def workers(folder: Path) -> AbstractContextManager[tuple[Outliving, Runners]]:
    return lab_and_runners(folder, phase=Phase.W, nodes=6)


def cordon(world: World, name: str, *, wanted: bool) -> None:
    """Somebody cordons a node by hand, or takes that back."""
    world.objects.merge("Node", "", name, {"spec": {"unschedulable": wanted or None}})


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("gate", ["W-1", "W-2"])
def test_after_sigkill_the_worker_comes_back_by_itself_and_the_next_run_tells(
    tmp_path: Path, gate: str, first: int
) -> None:
    with workers(tmp_path) as (lab, runners):
        killed = ""
        for at in count(first, 2):
            ended = drill(runners, Kill(gate, at))
            if killed:
                told = runners.told_of(killed)
                assert told["state"] == "done", told
            if runners.struck is None:
                break
            assert ended.status == -9, ended.text
            # A machine that was told to reboot is there for a moment yet.
            time.sleep(0.2)
            lab.hurry()
            assert lab.eventually(lab.unhealthy) == [], runners.struck
            runners.verify()
            killed = runners.last_run
            lab.release()
        assert ended.status == 0, ended.text
        assert at > 7
        assert f"{gate} of run {killed} (ada@desk) was not finished" in ended.text
        assert lab.eventually(lab.unhealthy) == []


def test_the_next_run_undoes_a_drain_at_once_and_nothing_else(tmp_path: Path) -> None:
    with workers(tmp_path) as (lab, runners):
        for kind, at in kinds(runners, "W-1").items():
            ended = drill(runners, Kill("W-1", at))
            assert (runners.struck, ended.status) == (kind, -9), ended.text
            dead = runners.last_run
            begun = "start the drain: sending" in runners.titles("W-1")
            lab.inside(lambda: cordon(lab.world, "rke-platform03", wanted=True))
            looked = runners.run(LOOK)
            assert looked.status == 0, looked.text
            told = runners.told_of(dead)
            assert lab.inside(lab.unhealthy) == ["rke-platform03 is cordoned"], (kind, told)
            (now,) = told["now"]
            assert "the lock is held by ada" in now or "neither lock nor latch" in now, told
            undone = f"W-1 of run {dead} is undone now: " in looked.text
            uncordoned = "rke-platform01 is uncordoned, and" in looked.text
            assert uncordoned <= (undone and begun), kind
            if kind in {"start the drain: done", "the fault is proved: done"}:
                assert uncordoned, looked.text
            lab.inside(lambda: cordon(lab.world, "rke-platform03", wanted=False))
            lab.release()
            runners.verify()


def test_a_cordon_without_its_timer_is_told_and_not_touched(tmp_path: Path) -> None:
    with workers(tmp_path) as (lab, runners):
        at = kinds(runners, "W-1")["the fault is proved: done"]
        drill(runners, Kill("W-1", at))
        dead = runners.last_run
        lab.hurry()
        assert lab.eventually(lab.unhealthy) == []
        lab.inside(lambda: cordon(lab.world, "rke-platform01", wanted=True))
        looked = runners.run(LOOK)
        assert looked.status == 0
        assert lab.inside(lab.unhealthy) == ["rke-platform01 is cordoned"]
        told = runners.told_of(dead)
        assert told["state"] == "failed"
        assert "rke-platform01 is cordoned" in str(told["now"])
        assert "rke2.yaml uncordon rke-platform01" in str(told["next"])
        assert "is undone now" not in looked.text


@pytest.mark.parametrize("gate", ["W-1", "W-2"])
def test_after_a_signal_the_worker_is_brought_back_at_once(tmp_path: Path, gate: str) -> None:
    with workers(tmp_path) as (lab, runners):
        for number, (kind, at) in enumerate(_changes(kinds(runners, gate))):
            means = ("SIGTERM", "SIGINT", "SIGHUP")[number % 3]
            ended = drill(runners, Kill(gate, at, means))
            assert runners.struck == kind, ended.text
            assert ended.status == 2, ended.text
            assert "Traceback" not in ended.text
            assert lab.inside(lab.unhealthy) == [], kind
            assert not lab.inside(lab.locked)
            assert f"interrupted by {means}" in ended.text
            assert "recovery: done" in runners.titles(gate)
            runners.verify()


@pytest.mark.parametrize("gate", ["W-1", "W-2"])
def test_after_a_short_cut_the_drill_goes_on_or_is_undone(tmp_path: Path, gate: str) -> None:
    with workers(tmp_path) as (lab, runners):
        for kind, at in _changes(kinds(runners, gate)):
            ended = drill(runners, Kill(gate, at, "cut 0.3"))
            assert runners.struck == kind
            assert ended.status in {0, 1}, ended.text
            assert lab.eventually(lab.unhealthy) == [], kind
            assert not lab.inside(lab.locked), kind
            assert not list(runners.last_lines("gate", gate=f"{gate}.undo")), ended.text
            runners.verify()


def _changes(kinds: dict[str, int]) -> Iterator[tuple[str, int]]:
    """The steps around each change of the worker."""
    for kind, at in kinds.items():
        if kind.startswith(("start the drain", "uncordon", "reboot")):
            yield kind, at
