"""Runners of drills that restore their node, ended at any step: nothing stays broken."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from selftests.drills.killed import drill, kinds, lab_and_runners
from selftests.drills.runners import Kill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("gate", ["C.5", "C.6", "F6-2", "F6-2R"])
def test_after_sigkill_the_node_restores_itself_and_the_next_run_tells(
    tmp_path: Path, gate: str, first: int
) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        killed = ""
        for at in count(first, 2):
            ended = drill(runners, Kill(gate, at))
            if killed:
                told = runners.told_of(killed)
                assert told["state"] == "done", told
            if runners.struck is None:
                break
            assert ended.status == -9, ended.text
            lab.hurry()
            assert lab.eventually(lab.unhealthy) == [], runners.struck
            runners.verify()
            assert runners.undos == runners.owed(gate), runners.struck
            killed = runners.last_run
            lab.release()
        # Not killed: it has not so many steps, and the drill passes after all those.
        assert ended.status == 0, ended.text
        assert at > 13
        assert f"{gate} of run {killed} (ada@desk) was not finished" in ended.text
        assert runners.undos == []
        assert lab.eventually(lab.unhealthy) == []


def test_a_snapshot_may_be_killed_at_any_step(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        for at in count(1):
            ended = drill(runners, Kill("P2", at))
            if runners.struck is None:
                break
            assert ended.status == -9, ended.text
            assert lab.inside(lab.unhealthy) == []
            assert not lab.inside(lab.locked)
            runners.verify()
        assert ended.status == 0, ended.text
        assert at > 9
        assert "did not end" in ended.text


@pytest.mark.parametrize("gate", ["C.5", "C.6"])
def test_after_a_signal_all_is_undone_at_once(tmp_path: Path, gate: str) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        own = kinds(runners, gate)
        # C.6 differs from C.5 in what it stops and starts.
        chosen = {kind: at for kind, at in own.items() if gate == "C.5" or "rke2" in kind}
        assert len(chosen) >= 4
        for number, (kind, at) in enumerate(chosen.items()):
            means = ("SIGTERM", "SIGINT", "SIGHUP")[number % 3]
            ended = drill(runners, Kill(gate, at, means))
            assert runners.struck == kind, ended.text
            assert ended.status == 2, ended.text
            assert "Traceback" not in ended.text
            assert lab.inside(lab.unhealthy) == [], kind
            assert not lab.inside(lab.locked)
            assert f"interrupted by {means}" in ended.text
            titles = runners.titles(gate)
            if "arm the undo: sending" in titles:
                assert "recovery: done" in titles
                assert "undone: " in ended.text or "1 PASS" in ended.text
            if "start" in kind:
                assert f"{means}: undo in progress, at most " in ended.text
            runners.verify()


@pytest.mark.parametrize("gate", ["C.5", "C.6"])
def test_after_a_short_cut_the_undo_takes_a_new_connection(tmp_path: Path, gate: str) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        own = kinds(runners, gate)
        for kind, at in own.items():
            if not kind.endswith("sending") or (gate == "C.6" and "rke2" not in kind):
                continue
            ended = drill(runners, Kill(gate, at, "cut 0.3"))
            assert runners.struck == kind
            assert ended.status in {0, 1}, ended.text
            assert lab.inside(lab.unhealthy) == [], kind
            assert not lab.inside(lab.locked), kind
            assert not list(runners.last_lines("gate", gate=f"{gate}.undo")), ended.text
            runners.verify()


def test_after_a_long_cut_the_timer_restores_the_node(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path, undo_failover=3.0) as (lab, runners):
        own = kinds(runners, "C.5")
        for kind in ("arm the undo: done", "stop keepalived: done", "start keepalived: sending"):
            ended = drill(runners, Kill("C.5", own[kind], "cut"))
            assert runners.struck == kind
            assert ended.status == 1, ended.text
            assert lab.eventually(lab.unhealthy) == [], kind
            undo = next(runners.last_lines("gate", gate="C.5.undo"))
            assert undo["verdict"] == "UNKNOWN"
            assert "rke-cp01 answers: could not be asked" in undo["summary"]
            assert "stays armed on rke-cp01" in ended.text
            assert "the lock is still there" in ended.text
            runners.verify()
            killed = runners.last_run
            lab.inside(lab.relay.mend)
            assert runners.run("--gate=B.4").status == 0
            told = runners.told_of(killed)
            assert (told["state"], len(told["now"])) == ("failed", 1), told
            assert "the lock is held by ada" in told["now"][0]
            lab.release()
