"""What a drill leaves, and what the next run makes of it; what else can end or forbid a drill."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from selftests.drills.killed import drill, kinds, lab_and_runners
from selftests.drills.runners import Kill, Runners

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.thorough

C5 = ("--gate=C.5", "--authorize=ada")
STOPPED = 8
"""The step line of C.5 that says that keepalived is stopped."""


def test_the_lock_of_a_dead_run_is_never_taken_silently(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        drill(runners, Kill("C.5", STOPPED))
        assert runners.struck == "stop keepalived: done"
        dead = runners.last_run
        assert runners.undos == ["C.5.undo UNKNOWN"]

        refused = runners.run(*C5)
        assert refused.status == 1
        assert "C.5  BLOCKED" in refused.text
        assert f"held by ada (run {dead}, since 20" in refused.text
        assert '--release-lock="NAME: reason"' in refused.text
        told = runners.told_of(dead)
        assert told["state"] == "failed"
        for seen in ("keepalived.service is inactive", f"rke2-undo-{dead}-C-5.timer", "the lock"):
            assert seen in str(told["now"])
        page = (
            runners.reports / "lab" / next(runners.last_lines("run-start"))["report"]
        ).read_text()
        assert "was not finished" in page

        released = runners.run("--release-lock=grace: that run is dead")
        assert released.status == 0, released.text
        assert "grace: that run is dead" in released.text
        assert not lab.inside(lab.locked)
        assert runners.undos == ["C.5.undo UNKNOWN"], "the lock is not what it changed"

        too_early = runners.run(*C5)
        assert "C.5  BLOCKED" in too_early.text
        assert f"rke2-undo-{dead}-C-5.timer (loaded, active, waiting) is left" in too_early.text

        lab.hurry()
        assert lab.eventually(lab.unhealthy) == []
        passed = runners.run(*C5)
        assert passed.status == 0, passed.text
        assert runners.told_of(dead)["state"] == "done"
        assert runners.undos == []
        assert "was not finished" not in runners.run("--gate=B.4").text
        runners.verify()


def test_a_stop_file_ends_the_run_before_its_next_change(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        kill = Kill("C.5", STOPPED - 2, "stop")
        ended = runners.run("--gate=C.5,C.6", "--authorize=ada", kill=kill)
        assert runners.struck == "arm the undo: done"
        assert ended.status == 2, ended.text
        assert "C.5  UNKNOWN" in ended.text
        assert "a colleague stopped the drills" in ended.text
        assert "grace: not now" in ended.text
        assert "1 not reached" in ended.text
        assert "stop keepalived: sending" not in runners.titles("C.5")
        assert lab.inside(lab.unhealthy) == []
        assert not lab.inside(lab.locked)
        again = runners.run(*C5)
        assert "C.5  BLOCKED" in again.text
        assert "a colleague stopped the drills" in again.text


def test_of_two_runs_at_once_the_second_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with (
        lab_and_runners(tmp_path) as (lab, runners),
        Runners(lab, tmp_path / "elsewhere") as others,
    ):
        runners.begin(*C5, kill=Kill("C.5", STOPPED, "hold"))
        assert lab.holding.wait(20)
        second = others.run("--gate=C.6", "--authorize=bob", "--operator=bob@couch")
        lab.go.set()
        first = runners.end()
        assert second.status == 1
        assert "C.6  BLOCKED" in second.text
        assert f"held by ada (run {runners.last_run}, since 20" in second.text
        assert first.status == 0, first.text
        assert not lab.inside(lab.locked)
        assert others.titles("C.6") == ["take the lock: sending"]


def test_a_defect_of_ours_is_undone(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        ended = drill(runners, Kill("C.5", STOPPED, "raise"))
        assert ended.status == 1
        assert "a defect of this suite" in ended.text
        assert "C.5 ended early ('boom'); undone: start keepalived on rke-cp01" in ended.text
        assert lab.inside(lab.unhealthy) == []
        assert runners.titles("C.5")[-1] == "recovery: done"

        at = kinds(runners, "C.5")["disarm the undo: sending"]
        ended = drill(runners, Kill("C.5", at, "raise"))
        assert ended.status == 1
        assert "C.5.undo" in ended.text
        assert lab.inside(lab.latched) == (True, False)
        lab.hurry()
        assert lab.eventually(lab.unhealthy) == []


def test_a_full_disk_does_not_stop_an_undo(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        ended = drill(runners, Kill("C.5", STOPPED, "full"))
        assert ended.status == 3, ended.text
        assert lab.inside(lab.unhealthy) == []
        assert not lab.inside(lab.locked)
        runners.verify()


def test_a_failed_undo_is_a_red_row_of_its_own_and_latches(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    with lab_and_runners(tmp_path, peer_rejoin=1.0) as (lab, runners):
        lab.inside(lambda: lab.world.trouble.start_fails.add("rke-cp02"))
        ended = runners.run("--gate=C.6,C.5", "--authorize=ada", f"--junitxml={junit}")
        assert ended.status == 1
        assert "Traceback" not in ended.text
        records = {line["gate"]: line for line in runners.last_lines("gate")}
        assert list(records) == ["C.5", "C.6", "C.6.undo"]
        assert records["C.6.undo"]["verdict"] == "FAIL"
        assert "rke-cp02 is back: not so" in records["C.6.undo"]["summary"]
        assert "stays armed on rke-cp02" in ended.text
        assert lab.inside(lab.latched) == (True, False)
        cases = ET.parse(junit).getroot().iter("testcase")
        rows = {
            each["gate"]: each["verdict"]
            for case in cases
            if (each := {prop.get("name"): prop.get("value") for prop in case.iter("property")})
        }
        assert rows["C.6.undo"] == "FAIL"
        page = next((runners.reports / "lab").glob("2*-C.6-C.5.html")).read_text()
        assert "C.6.undo" in page

        latched = runners.run(*C5)
        assert "C.5  BLOCKED" in latched.text
        assert "the latch is set (C.6: the undo failed" in latched.text
        assert runners.run("--clear-latch=grace: cp02 is back").status == 0
        assert lab.inside(lab.latched) == (False, False)


def test_what_was_proved_too_long_ago_is_proved_again_before_a_stop(tmp_path: Path) -> None:
    p1, p3 = "quorum and API (P1)", "both copies of the snapshot (P3)"
    with lab_and_runners(tmp_path, p1_max_age=0.001, p3_max_age=0.001) as (_, runners):
        # The restore proves both copies in any case.
        for gate, old in (("F6-2", [p3, p1]), ("F6-3", [p1])):
            first = list(kinds(runners, gate))[: len(old) + 1]
            again = [f"prove {what} again: done" for what in old]
            assert first == [*again, "take the lock: sending"]
