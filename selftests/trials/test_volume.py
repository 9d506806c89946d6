"""The life of a volume, step by step: what the cluster and the pool may make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.requests import KubeGet, Response
from fixtures.core.verdicts import Undecided
from fixtures.judge.findings import said
from fixtures.trials.claimed import CLAIMED
from fixtures.trials.volume import VolumeLife
from selftests.gates.world import AT
from selftests.trials.ceph import CephApi, driver
from selftests.trials.cluster import RUN, running

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.requests import Answer, Request

NAME = f"ceph-rbd-test-{RUN.lower()}"
STEPS = ("bound", "b", "c", "d")


def lived(api: CephApi, change: dict[str, Callable[[], Any]] | None = None) -> tuple[str, str, str]:
    """At which step it ended, with which verdict, and what was said; all of it is removed."""
    life = VolumeLife(api.trial("F2.volume"))
    steps: dict[str, Callable[[], Any]] = {
        "bound": lambda: life.begin()[0],
        "b": life.write,
        "c": life.recreate,
        "d": life.end,
    }
    at, verdict, text = "d", "PASS", ""
    for at in STEPS:
        (change or {}).get(at, lambda: None)()
        try:
            if findings := steps[at]():
                verdict, text = "FAIL", said(findings)
                break
        except Undecided as undecided:
            verdict, text = "UNKNOWN", str(undecided)
            break
    try:
        life.close()
    except Undecided as undecided:
        text += f" THEN {undecided}"
    return at, verdict, text


def left(api: CephApi) -> set[str]:
    return {each["kind"] for each in api.objects.values()}


def test_a_whole_life() -> None:
    api = CephApi()
    assert lived(api) == ("d", "PASS", "")
    assert left(api) == set()
    assert api.images == ["csi-vol-theirs"]
    assert api.states(CLAIMED) == ["sending", "done"]


def unready(pod: dict[str, Any]) -> dict[str, Any]:
    return pod | {"status": {"phase": "Pending"}}


MAP_FAILED = "MountVolume.MountDevice failed: rbd: map failed (exit status 110)"
CHOSEN = {"pv.kubernetes.io/bound-by-controller": "yes"}
OF_ANOTHER = {"claimRef": {"name": "x", "namespace": "x", "uid": "another"}}


@pytest.mark.parametrize(
    ("api", "at", "verdict", "says"),
    [
        (CephApi(provisions=False), "bound", "FAIL", "is Pending after 60 s, expected Bound"),
        (CephApi(of=OF_ANOTHER), "bound", "UNKNOWN", "not the RBD image of claim"),
        (CephApi(of={"csi": {"driver": "nfs.csi.k8s.io"}}), "bound", "UNKNOWN", "not the RBD"),
        (CephApi(notes=CHOSEN), "bound", "UNKNOWN", "a volume that was there before it"),
        (CephApi(refuses={"POST /api/v1/namespaces/rke2": 403}), "bound", "UNKNOWN", "HTTP 403"),
        (CephApi(mounts="overlay / overlay rw 0 0\n"), "b", "FAIL", "has nothing mounted"),
        (CephApi(mounts="tmpfs /mnt/data tmpfs rw 0 0\n"), "b", "FAIL", "has `tmpfs` mounted"),
        (CephApi(mounts=""), "b", "UNKNOWN", "does not tell its mounts"),
        (CephApi(forgets=True), "c", "FAIL", "reads nothing"),
        (CephApi(sticks=("/pods/",)), "c", "UNKNOWN", "was deleted and is still there"),
        (CephApi(rbd=1), "d", "UNKNOWN", "couldn't connect"),
        (CephApi(sticks=("/persistentvolumeclaims/",)), "d", "UNKNOWN", "is still there"),
        (CephApi(trashes=True), "d", "FAIL", "waits in the trash of kubernetes"),
        # In neither list, while it is moved from one to the other.
        (CephApi(trashes=True, between=True), "d", "FAIL", "waits in the trash of kubernetes"),
        (CephApi(keeps=True), "d", "FAIL", "is still in pool kubernetes"),
        (CephApi(reclaim="Retain"), "d", "FAIL", "is still in pool kubernetes (reclaim policy"),
        (CephApi(keeps_volume=True), "d", "UNKNOWN", "its driver has not deleted it"),
    ],
)
def test_what_becomes_of_it(api: CephApi, at: str, verdict: str, says: str) -> None:
    ended = lived(api)
    assert ended[:2] == (at, verdict), ended
    assert says in ended[2]
    # Whatever is left is told by its name, or was found.
    assert left(api) <= {"PersistentVolume"}
    told = verdict == "FAIL" or "PersistentVolume `pvc-" in ended[2]
    assert told or left(api) == set()


@pytest.mark.parametrize(
    ("warnings", "verdict"),
    [
        (("FailedMount", MAP_FAILED), "FAIL"),
        (("FailedAttachVolume", "timed out"), "FAIL"),
        (("FailedScheduling", "0/6 nodes"), "UNKNOWN"),
        # It was mounted in the end: what a kubelet fails at then is something else.
        (("FailedMount", MAP_FAILED, "Failed", "Failed to pull image"), "UNKNOWN"),
        (("FailedMount", MAP_FAILED, "BackOff", "Back-off pulling image"), "UNKNOWN"),
    ],
)
def test_a_pod_that_does_not_run(warnings: tuple[str, ...], verdict: str) -> None:
    api = CephApi(becomes=unready)
    pairs = zip(warnings[::2], warnings[1::2], strict=True)
    api.events = [(reason, message) for reason, message in pairs]
    at, seen, text = lived(api)
    assert (at, seen) == ("b", verdict), text
    assert left(api) == set()


def test_an_image_that_was_never_listed_proves_nothing() -> None:
    api = CephApi()
    _, verdict, text = lived(api, {"d": api.images.clear})
    assert verdict == "UNKNOWN"
    assert "asks another pool, namespace or cluster" in text


def test_a_volume_that_is_retained_is_told_when_the_life_is_cut_short() -> None:
    api = CephApi(reclaim="Retain", forgets=True)
    at, verdict, text = lived(api)
    assert (at, verdict) == ("c", "FAIL")
    assert "THEN PersistentVolume `pvc-" in text
    assert "its reclaim policy is Retain; remove it by hand: kubectl delete pv pvc-" in text
    assert "rbd rm kubernetes/csi-vol-" in text
    assert api.states(CLAIMED) == ["sending", "failed"]
    # Nobody waits for what nobody does.
    assert api.now < api.cluster.limits.trial_removal


def test_volumes_of_others_are_none_of_its_own() -> None:
    api = CephApi(forgets=True)
    other = CephApi(reclaim="Retain")
    lived(other)
    theirs = {path: item for path, item in other.objects.items() if "persistentvolumes" in path}
    for item in theirs.values():
        item["spec"]["claimRef"] |= {"namespace": "customers", "uid": "theirs"}
        item["spec"]["persistentVolumeReclaimPolicy"] = "Delete"
    api.objects |= theirs
    api.keeps = True
    assert lived(api)[1] == "FAIL"
    assert api.objects.keys() >= theirs.keys()


@pytest.mark.parametrize(
    ("then", "says"),
    [
        ([], "were replaced meanwhile"),
        ([driver("provisioner-0", uid="another")], "were replaced meanwhile"),
        ([driver("provisioner-0", restarts=2)], "was started 2 times"),
    ],
)
def test_logs_that_are_lost_decide_nothing(then: list[dict[str, Any]], says: str) -> None:
    api = CephApi(becomes=running)
    life = VolumeLife(api.trial("F2.volume"))
    for step in (life.begin, life.write, life.recreate, life.end):
        step()
    api.drivers = then
    with pytest.raises(Undecided, match=says):
        life.logged()


def test_logs_are_read_for_as_long_as_any_clock_may_lag() -> None:
    api = CephApi()
    life = VolumeLife(api.trial("F2.volume"))
    for step in (life.begin, life.write, life.recreate, life.end):
        step()
    api.drivers = [driver("provisioner-0", restarts=1)]
    with pytest.raises(Undecided, match="could not be read"):
        life.logged()
    asked = [line for line in api.lines if "/log?" in line]
    assert len(asked) == 2
    assert all("container=csi-rbdplugin&" in line for line in asked)
    assert all("sinceTime=2026-11-30T11:50:00Z" in line for line in asked)
    assert sum("previous=true" in line for line in asked) == 1


class Ending(CephApi):
    """Its driver ends and is started anew whenever its log is read."""

    def _answer(self, request: Request) -> Answer:
        if not isinstance(request, KubeGet) or "/log?" not in request.path:
            return super()._answer(request)
        self.drivers = [driver("provisioner-0", restarts=1)]
        return Response(request, 200, b"", AT, 0.1)


def test_what_was_logged_before_a_restart_while_logs_are_read_is_missed() -> None:
    life = VolumeLife(Ending().trial("F2.volume"))
    for step in (life.begin, life.write, life.recreate, life.end):
        step()
    with pytest.raises(Undecided, match="started anew while their logs were read"):
        life.logged()


def test_the_gates_are_selected_together() -> None:
    life = VolumeLife(CephApi().trial("F2.volume"))
    for step in (life.write, life.recreate, life.end, life.logged):
        with pytest.raises(Undecided, match=r"F2\.bound"):
            step()
    life.close()
