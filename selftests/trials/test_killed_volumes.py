"""Runners of phase F2's gates, ended at any step: nothing of their volume stays, and only that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.trials.claimed import CLAIMED
from lab import kinds
from lab.phase import Phase
from selftests.drills.killed import lab_and_runners
from selftests.drills.runners import Kill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from selftests.drills.outliving import Outliving
    from selftests.drills.runners import Runners

pytestmark = pytest.mark.thorough

GATES = ("F2.bound", "F2.b", "F2.c", "F2.d", "F2.e")
SELECTED = f"--gate={','.join(GATES)}"
OURS, THEIRS = "rke2-acceptance", "customers"
KINDS = ("Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod")
SPOKEN_FOR = {"PersistentVolume", "PersistentVolumeClaim", "Namespace"}


def volumes(folder: Path, **limits: float) -> AbstractContextManager[tuple[Outliving, Runners]]:
    return lab_and_runners(folder, phase=Phase.F, nodes=6, **limits)


def populate(lab: Outliving) -> None:
    """A claim of somebody else, with its volume and image."""

    def put() -> None:
        world = lab.world
        world.objects.put(kinds.namespace(world.seed, THEIRS, world.now()))
        about = {"name": "data", "namespace": THEIRS, "uid": world.seed.uuid("theirs")}
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "ceph-rbd"}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": about}
        world.objects.put({**claim, "spec": spec, "status": {"phase": "Pending"}})

    lab.inside(put)
    assert lab.eventually(lambda: sorted(SPOKEN_FOR - of(lab, THEIRS))) == []


def objects(lab: Outliving) -> Iterator[dict[str, Any]]:
    for kind in KINDS:
        yield from lab.world.objects.each(kind)


def of(lab: Outliving, space: str) -> set[str]:
    """The kinds of objects that there are of a namespace, itself included; call it inside."""
    return {each["kind"] for each in objects(lab) if space in json.dumps(each)}


def seen(lab: Outliving, space: str) -> set[str]:
    return lab.inside(lambda: of(lab, space))


def images(lab: Outliving) -> int:
    """How many there are, also in the trash."""
    storage = lab.world.storage
    return lab.inside(lambda: len(storage.images) + len(storage.trash))


def clean(lab: Outliving, before: int) -> None:
    """Nothing of ours is there, and all of theirs."""
    assert seen(lab, OURS) == set()
    assert seen(lab, THEIRS) == SPOKEN_FOR
    assert images(lab) == before


def places(runners: Runners) -> list[tuple[str, int, str]]:
    """Gate, number and title of each step of a healthy run."""
    ended = runners.run(SELECTED)
    assert ended.status == 0, ended.text
    run = f"-{runners.last_run.lower()}"
    return [
        (gate, number, title.replace(run, ""))
        for gate in GATES
        for number, title in enumerate(runners.titles(gate), start=1)
    ]


def test_after_sigkill_the_next_run_removes_what_is_left_and_only_that(tmp_path: Path) -> None:
    with volumes(tmp_path) as (lab, runners):
        populate(lab)
        before = images(lab)
        steps = places(runners)
        assert len(steps) > 17
        told = 0
        for gate, at, title in steps:
            ended = runners.run(SELECTED, kill=Kill(gate, at))
            assert ended.status == -9, ended.text
            dead = runners.last_run
            assert seen(lab, THEIRS) == SPOKEN_FOR
            left = seen(lab, dead.lower())
            runners.verify()
            # The first phase from E on begins with it, whatever is asked there.
            following = runners.run("--gate=E.3")
            assert following.status == 0, following.text
            assert ("Namespace" in left) == (f"(run {dead}); it is removed" in following.text)
            told += "Namespace" in left
            clean(lab, before)
            assert "left could not" not in following.text, title
        assert told > 10
        assert "dead run" not in runners.run("--gate=E.3").text


def test_after_a_signal_all_is_removed_at_once_and_told(tmp_path: Path) -> None:
    with volumes(tmp_path) as (lab, runners):
        populate(lab)
        before = images(lab)
        for number, (gate, at, title) in enumerate(places(runners)):
            means = ("SIGTERM", "SIGINT", "SIGHUP")[number % 3]
            ended = runners.run(SELECTED, kill=Kill(gate, at, means))
            assert ended.status == 2, (title, ended.text)
            assert f"interrupted by {means}" in ended.text
            assert "Traceback" not in ended.text
            clean(lab, before)
            run = runners.last_run.lower()
            space = f"Namespace {OURS}-volume-{run} is removed, and gone"
            assert f"interrupted by {means}; undone: {space}" in " ".join(ended.text.split()), title
            if gate == "F2.c" and "make Pod" in title:
                assert f"PersistentVolumeClaim ceph-rbd-test-{run}" in ended.text
            runners.verify()


def test_a_volume_that_is_retained_is_told_by_every_run_until_it_is_gone(tmp_path: Path) -> None:
    with volumes(tmp_path) as (lab, runners):

        def retain() -> None:
            made = lab.world.objects.get("StorageClass", "", "ceph-rbd")
            assert made is not None
            lab.world.objects.put({**made, "reclaimPolicy": "Retain"})

        lab.inside(retain)
        ended = runners.run(SELECTED, kill=Kill("F2.c", 1))
        assert ended.status == -9, ended.text
        dead = runners.last_run
        for _ in range(2):
            text = " ".join(runners.run("--gate=E.3").text.split())
            assert f"note: dead run {dead}: PersistentVolume `pvc-" in text
            assert "its reclaim policy is Retain; remove it by hand: kubectl delete pv pvc-" in text
        assert seen(lab, OURS) == {"PersistentVolume"}

        def delete() -> None:
            for each in [*lab.world.objects.each("PersistentVolume")]:
                lab.world.objects.delete("PersistentVolume", "", each["metadata"]["name"])

        lab.inside(delete)
        for _ in range(2):
            assert "dead run" not in runners.run("--gate=E.3").text
        steps = [line for line in runners.lines if line.get("step") == CLAIMED]
        assert [line["state"] for line in steps] == ["sending", "failed", "failed", "done"]
        interrupted = runners.run(SELECTED, kill=Kill("F2.c", 1, "SIGTERM"))
        text = " ".join(interrupted.text.split())
        assert interrupted.status == 2, text
        assert "its reclaim policy is Retain" in text
