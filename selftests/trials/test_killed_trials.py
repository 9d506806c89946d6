"""Runners of gates that make objects, ended at any step: nothing of theirs stays, and only that."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from fixtures.core.ownership import MANAGED_BY, RUN
from lab import kinds
from lab.phase import Phase
from selftests.drills.killed import lab_and_runners
from selftests.drills.runners import Kill, Runners

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from selftests.drills.outliving import Outliving

pytestmark = pytest.mark.thorough

GATE = "D2.netpol"
SELECTED = f"--gate={GATE}"
THEIRS = {"customers": {}, "cilium-test-7": {}, "other": {MANAGED_BY.key: MANAGED_BY.value}}


def pods(folder: Path, **limits: float) -> AbstractContextManager[tuple[Outliving, Runners]]:
    return lab_and_runners(folder, phase=Phase.D2, nodes=6, **limits)


def populate(lab: Outliving) -> None:
    """Namespaces that are none of our business."""

    def put() -> None:
        for name, labels in THEIRS.items():
            item = kinds.namespace(lab.world.seed, name, lab.world.now())
            item["metadata"]["labels"] |= labels
            lab.world.objects.put(item)

    lab.inside(put)


def made_by(lab: Outliving) -> list[str]:
    """The runs whose namespaces are there, all of ours."""

    def look() -> list[str]:
        labels = [each["metadata"]["labels"] for each in lab.world.objects.each("Namespace")]
        return [each[RUN] for each in labels if RUN in each]

    return lab.inside(look)


def theirs(lab: Outliving) -> set[str]:
    def look() -> set[str]:
        there = {each["metadata"]["name"] for each in lab.world.objects.each("Namespace")}
        return there & THEIRS.keys()

    return lab.inside(look)


def kinds_of(runners: Runners) -> dict[str, int]:
    """The steps of a healthy run, without the run's own id, each with its number."""
    ended = runners.run(SELECTED)
    assert ended.status == 0, ended.text
    run = f"-{runners.last_run.lower()}"
    titles = [title.replace(run, "") for title in runners.titles(GATE)]
    return {title: number for number, title in enumerate(titles, start=1)}


def test_after_sigkill_the_next_run_removes_what_is_left_and_only_that(tmp_path: Path) -> None:
    with pods(tmp_path) as (lab, runners):
        populate(lab)
        left: list[str] = []
        told = 0
        for at in count(1):
            ended = runners.run(SELECTED, kill=Kill(GATE, at))
            for run in left:
                assert f"(run {run})" in ended.text, ended.text
                told += 1
            if runners.struck is None:
                break
            assert ended.status == -9, ended.text
            # What the run before left is gone; of this one, whatever it had made by then.
            left = made_by(lab)
            assert set(left) <= {runners.last_run}, runners.struck
            assert theirs(lab) == THEIRS.keys()
            runners.verify()
        assert ended.status == 0, ended.text
        assert at > 12
        assert told > 8
        assert made_by(lab) == []
        assert theirs(lab) == THEIRS.keys()
        assert "it is removed, and gone" not in runners.run(SELECTED).text


def test_after_a_signal_all_is_removed_at_once(tmp_path: Path) -> None:
    with pods(tmp_path) as (lab, runners):
        for number, (kind, at) in enumerate(kinds_of(runners).items()):
            means = ("SIGTERM", "SIGINT", "SIGHUP")[number % 3]
            ended = runners.run(SELECTED, kill=Kill(GATE, at, means))
            assert ended.status == 2, (kind, ended.text)
            assert f"interrupted by {means}" in ended.text
            assert "Traceback" not in ended.text
            assert made_by(lab) == [], kind
            if kind.startswith("remove"):
                assert "undo in progress, stopping after it" in ended.text
            runners.verify()


def test_a_link_that_is_cut_does_not_keep_a_removal(tmp_path: Path) -> None:
    with pods(tmp_path, trial_removal=5.0) as (lab, runners):
        for kind, at in kinds_of(runners).items():
            if kind.endswith("sending"):
                ended = runners.run(SELECTED, kill=Kill(GATE, at, "cut 0.3"))
                assert ended.status in {0, 1}, (kind, ended.text)
                assert made_by(lab) == [], kind
                runners.verify()


def test_what_a_long_cut_left_is_told_and_removed_by_the_next_run(tmp_path: Path) -> None:
    with pods(tmp_path, trial_removal=0.5) as (lab, runners):
        at = kinds_of(runners)["make Pod web: done"]
        ended = runners.run(SELECTED, kill=Kill(GATE, at, "cut"))
        assert ended.status == 1, ended.text
        dead = runners.last_run
        assert f"kubectl delete namespace rke2-acceptance-netpol-{dead.lower()}" in ended.text
        assert made_by(lab) == [dead]
        lab.inside(lab.relay.mend)
        following = runners.run(SELECTED)
        assert following.status == 0, following.text
        assert f"a dead run had left rke2-acceptance-netpol-{dead.lower()} (run {dead})" in (
            following.text
        )
        assert made_by(lab) == []


def test_a_run_that_is_alive_keeps_its_objects(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pods(tmp_path) as (lab, runners), Runners(lab, tmp_path / "other") as others:
        at = kinds_of(runners)["make Pod web: done"]
        runners.begin(SELECTED, kill=Kill(GATE, at, "hold"))
        assert lab.holding.wait(20)
        (alive,) = made_by(lab)
        elsewhere = others.run("--gate=D2.dns")
        others.reports = runners.reports
        beside = others.run("--gate=D2.dns")
        lab.go.set()
        first = runners.end()
        for ended in (elsewhere, beside, first):
            assert ended.status == 0, ended.text
        assert f"is of run {alive}, which is running: it is left alone" in beside.text
        assert "is not in this log (another controller's?): it is left alone" in " ".join(
            elsewhere.text.split()
        )
        assert made_by(lab) == []
