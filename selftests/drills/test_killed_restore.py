"""Runners of F6-3, ended at any step: undone before its reset, frozen from then on."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from selftests.drills.killed import drill, frozen, kinds, lab_and_runners
from selftests.drills.runners import Kill

if TYPE_CHECKING:
    from pathlib import Path

    from selftests.drills.outliving import Outliving
    from selftests.drills.runners import Runners

pytestmark = pytest.mark.thorough

# After each of these, the cluster is in another state.
TELLING = {
    "take the lock: done",
    "stop rke2-server: done",
    "mask rke2-server: done",
    "latch: done",
    "reset: sending",
    "reset: done",
    "start rke2-server: done",
}
# Its end: the cluster is whole, nothing is left to freeze.
WHOLE = {"health after: done", "latch: cleared", "the restore has ended: done"}


@pytest.mark.parametrize("share", range(4))
def test_after_sigkill_it_stays_as_it_is_and_the_next_run_tells(tmp_path: Path, share: int) -> None:
    told: set[str] = set()
    with lab_and_runners(tmp_path) as (lab, runners):
        for at in count(1 + share, 4):
            ended = drill(runners, Kill("F6-3", at))
            if runners.struck is None:
                break
            assert ended.status == -9, ended.text
            runners.verify()
            frozen(lab, runners, reset="reset: done" in runners.titles("F6-3"))
            if runners.struck in TELLING - told:
                told.add(runners.struck)
                _told(lab, runners)
            lab.repair()
            runners.begin_log()
        assert ended.status == 0, ended.text
        assert at > 45
        assert lab.eventually(lab.unhealthy) == []


def _told(lab: Outliving, runners: Runners) -> None:
    """The next run tells what was stopped, and what may be done about it."""
    killed = runners.last_run
    stopped = [name for name, (active, _) in runners.servers().items() if not active]
    begun = "reset: sending" in runners.titles("F6-3")
    next_run = runners.run("--gate=F6-1")
    told = runners.told_of(killed)
    assert f"F6-3 of run {killed} (ada@desk) was not finished" in next_run.text
    for name in stopped:
        assert f"{name}: rke2-server.service is inactive" in str(told["now"])
    if stopped:
        assert ("start nothing" if begun else "databases are untouched") in str(told["next"])
    assert ("the latch is set" in str(told["now"])) == lab.inside(lab.latched)[0]


def test_a_signal_undoes_it_before_its_reset_and_freezes_it_after(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        own = kinds(runners, "F6-3")
        chosen = [kind for kind in own if kind.endswith("sending") or kind in WHOLE]
        for number, kind in enumerate(chosen):
            lab.repair()
            runners.begin_log()
            means = ("SIGTERM", "SIGINT")[number % 2]
            ended = drill(runners, Kill("F6-3", own[kind], means))
            assert runners.struck == kind
            assert ended.status == 2, ended.text
            assert "Traceback" not in ended.text
            runners.verify()
            titles = runners.titles("F6-3")
            if own[kind] < own["reset: sending"]:
                _as_before(lab, kind)
                if "stop rke2-server: sending" in titles:
                    assert "undone: rke2-server unmasked and started" in ended.text
            elif titles[-1] == "the restore has ended: done":
                assert kind in WHOLE
                assert lab.inside(lab.unhealthy) == []
            else:
                assert "freeze: frozen" in titles
                assert "FROZEN: interrupted by" in ended.text
                frozen(lab, runners, reset=True)


def test_a_cut_link_undoes_it_before_its_reset_and_freezes_it_after(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        own = kinds(runners, "F6-3")
        chosen = [kind for kind in own if kind.endswith("sending")]
        for kind in chosen:
            lab.repair()
            runners.begin_log()
            before = own[kind] < own["reset: sending"]
            ended = drill(runners, Kill("F6-3", own[kind], "cut 0.3" if before else "cut"))
            assert runners.struck == kind
            assert ended.status == 1, ended.text
            runners.verify()
            if before:
                _as_before(lab, kind)
            else:
                assert "freeze: frozen" in runners.titles("F6-3")
                assert "FROZEN" in ended.text
                frozen(lab, runners, reset=kind != "reset: sending")


def _as_before(lab: Outliving, kind: str) -> None:
    assert lab.inside(lab.unhealthy) == [], kind
    assert lab.inside(lab.latched) == (False, False), kind
    assert not lab.inside(lab.locked), kind
