"""Runners of 0.8, ended at any step: the next run removes its Secret, whatever that run asks."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from fixtures.core.ownership import RUN
from selftests.drills.killed import lab_and_runners
from selftests.drills.runners import Kill

if TYPE_CHECKING:
    from pathlib import Path

    from selftests.drills.outliving import Outliving

pytestmark = pytest.mark.thorough

GATE, SELECTED, LOOK = "0.8", "--gate=0.8", "--gate=B.4"


def secrets(lab: Outliving) -> dict[str, str]:
    """Every Secret in `default`, and the run that made it."""

    def look() -> dict[str, str]:
        items = lab.world.objects.select("Secret", "default")
        return {
            each["metadata"]["name"]: each["metadata"].get("labels", {}).get(RUN, "nobody")
            for each in items
        }

    return lab.inside(look)


def theirs(lab: Outliving) -> None:
    """A customer's Secret."""
    about = {"name": "rke2-acceptance-at-rest-of-a-customer", "namespace": "default", "uid": "u"}
    item = {"apiVersion": "v1", "kind": "Secret", "metadata": about, "data": {}}
    lab.inside(lambda: lab.world.objects.put(item))


def test_after_sigkill_the_next_run_removes_it_and_only_it(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        theirs(lab)
        there = set()
        for at in count(1):
            ended = runners.run(SELECTED, kill=Kill(GATE, at))
            struck = runners.struck
            if struck is None:
                break
            assert ended.status == -9, ended.text
            dead = runners.last_run
            left = {name for name, run in secrets(lab).items() if run == dead}
            there |= left
            looked = runners.run(LOOK)
            assert looked.status == 0, looked.text
            assert set(secrets(lab).values()) == {"nobody"}, struck
            gone = struck.startswith("remove") and struck.endswith("done")
            told = f"(run {dead}); it is gone" in " ".join(looked.text.split())
            assert told is not gone, struck
            assert "(run " not in runners.run(LOOK).text
            runners.verify()
        assert ended.status == 0, ended.text
        assert at >= 4
        assert there


def test_after_a_signal_it_is_removed_at_once(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        for at, means in enumerate(("SIGTERM", "SIGINT", "SIGHUP"), start=1):
            ended = runners.run(SELECTED, kill=Kill(GATE, at, means))
            assert ended.status == 2, ended.text
            assert "Traceback" not in ended.text
            assert secrets(lab) == {}, runners.struck


def test_a_run_that_is_alive_keeps_its_secret(tmp_path: Path) -> None:
    with lab_and_runners(tmp_path) as (lab, runners):
        runners.begin(SELECTED, kill=Kill(GATE, 2, "hold"))
        assert lab.holding.wait(20)
        (alive,) = secrets(lab).values()
        (tmp_path / "other").mkdir()
        with type(runners)(lab, tmp_path / "other") as others:
            others.reports = runners.reports
            beside = others.run(LOOK)
        assert beside.status == 0, beside.text
        assert f"(run {alive}) is of a run that may be alive" in " ".join(beside.text.split())
        assert list(secrets(lab).values()) == [alive]
        lab.go.set()
        ended = runners.end()
        assert ended.status == 0, ended.text
        assert secrets(lab) == {}
