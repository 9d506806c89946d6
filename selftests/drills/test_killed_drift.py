"""Runners of the drift drill, ended at any step: the object is as it was, or soon will be."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from lab import gitops
from lab.phase import Phase
from selftests.drills.killed import drill, kinds, lab_and_runners
from selftests.drills.outliving import LATCH
from selftests.drills.runners import Kill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from selftests.drills.outliving import Outliving
    from selftests.drills.runners import Runners

pytestmark = pytest.mark.thorough

GATE, LOOK = "G.9", "--gate=B.4"
DATA = {"region": "gra", "tier": "platform"}


def drifting(folder: Path, **limits: float) -> AbstractContextManager[tuple[Outliving, Runners]]:
    return lab_and_runners(folder, phase=Phase.G, nodes=6, **limits)


def manage(lab: Outliving, *, heals: bool) -> None:
    """Git manages one ConfigMap, as it was at first; what becomes of drift."""

    def put() -> None:
        world = lab.world
        world.gitops.heals = heals
        gitops.track(world)
        status = {"sync": {"status": "Synced"}}
        world.objects.merge("Application", gitops.NAMESPACE, gitops.ROOT, {"status": status})

    lab.inside(put)


def data(lab: Outliving) -> dict[str, str]:
    item = lab.inside(lambda: lab.world.objects.peek("ConfigMap", gitops.TARGET, "settings"))
    assert item is not None
    found: dict[str, str] = item["data"]
    return found


def write(lab: Outliving, value: str) -> None:
    """Somebody changes the value that the drill has edited."""
    patch = {"data": {"region": value}}
    lab.inside(lambda: lab.world.objects.merge("ConfigMap", gitops.TARGET, "settings", patch))


def edited(lab: Outliving) -> bool:
    return data(lab) == DATA | {"region": "gra\n"}


def steps(lab: Outliving, runners: Runners) -> Iterator[tuple[str, int]]:
    manage(lab, heals=True)
    yield from kinds(runners, GATE).items()


def test_after_sigkill_the_next_run_takes_the_edit_back_where_nobody_heals_it(
    tmp_path: Path,
) -> None:
    with drifting(tmp_path) as (lab, runners):
        left = 0
        for at in count(1):
            manage(lab, heals=False)
            ended = drill(runners, Kill(GATE, at))
            if runners.struck is None:
                break
            struck, dead = runners.struck, runners.last_run
            assert ended.status == -9, ended.text
            was = edited(lab)
            left += was
            looked = runners.run(LOOK)
            assert looked.status == 0, looked.text
            assert data(lab) == DATA, struck
            assert (
                f"G.9 of run {dead}: ConfigMap platform/settings is as it was again"
                in " ".join(looked.text.split())
            ) is was
            runners.verify()
            lab.release()
        # Nobody heals it: the drill does, and has failed.
        assert ended.status == 1, ended.text
        assert data(lab) == DATA
        assert left >= 2
        assert at > 5


def test_what_somebody_made_of_it_since_is_left_alone(tmp_path: Path) -> None:
    with drifting(tmp_path) as (lab, runners):
        at = dict(steps(lab, runners))["edit what Git manages: done"]
        manage(lab, heals=False)
        drill(runners, Kill(GATE, at))
        assert edited(lab)
        write(lab, "sbg")
        looked = runners.run(LOOK)
        assert "was changed by somebody since" in " ".join(looked.text.split())
        assert data(lab)["region"] == "sbg"


def test_after_a_signal_the_edit_is_taken_back_at_once(tmp_path: Path) -> None:
    with drifting(tmp_path) as (lab, runners):
        for number, (kind, at) in enumerate(steps(lab, runners)):
            means = ("SIGTERM", "SIGINT", "SIGHUP")[number % 3]
            manage(lab, heals=False)
            ended = drill(runners, Kill(GATE, at, means))
            assert ended.status in {1, 2}, (kind, ended.text)
            assert "Traceback" not in ended.text
            assert data(lab) == DATA, kind
            assert not lab.inside(lab.locked), kind
            runners.verify()


def test_an_undo_that_cannot_be_sent_forbids_further_drills_and_is_done_by_the_next_run(
    tmp_path: Path,
) -> None:
    with drifting(tmp_path, argocd_sync=1.0, argocd_self_heal=1.0) as (lab, runners):
        at = dict(steps(lab, runners))["edit what Git manages: done"]
        manage(lab, heals=False)
        ended = drill(runners, Kill(GATE, at, "cut"))
        assert ended.status == 1, ended.text
        undo = next(runners.last_lines("gate", gate="G.9.undo"))
        assert undo["verdict"] == "UNKNOWN"
        assert "take the newline from the end of data.region" in undo["summary"]
        assert edited(lab)
        lab.inside(lab.relay.mend)
        looked = runners.run(LOOK)
        assert data(lab) == DATA, looked.text
        assert not lab.inside(lambda: lab.world.bastion.files.has(LATCH))
