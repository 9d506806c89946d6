"""Logs of pods: which there are, and that none of them is passed over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.requests import Response
from fixtures.core.verdicts import Undecided
from fixtures.observe.pod import pod_of
from fixtures.observe.pod_logs import PodLog, PodLogs, Source, sources
from selftests.gates.world import AT, wetopi
from selftests.observe.test_storage import LOG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fixtures.core.requests import Answer, Request


def pod(**status: Any) -> dict[str, Any]:
    about = {"name": "csi-0", "namespace": "kube-system", "uid": "u"}
    return {"metadata": about, "spec": {}, "status": {"phase": "Running", **status}}


def container(name: str, restarts: int = 0) -> dict[str, Any]:
    return {"name": name, "ready": True, "restartCount": restarts, "state": {"running": {}}}


def test_every_container_of_a_pod_logs_whatever_it_is_for() -> None:
    item = pod(
        initContainerStatuses=[container("init"), container("sidecar", 1)],
        containerStatuses=[container("csi-rbdplugin", 2)],
        ephemeralContainerStatuses=[container("debugger")],
    )
    found = pod_of(item)
    assert [(each.container, each.restarted) for each in sources([found])] == [
        ("init", False),
        ("sidecar", True),
        ("csi-rbdplugin", True),
        ("debugger", False),
    ]
    assert found.restarts == 3
    assert [each.name for each in found.containers] == ["csi-rbdplugin"]


class Kubelet:
    """Answers requests for logs by what is in their path."""

    def __init__(self, answers: Mapping[str, tuple[int, str]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return self.refresh(requests)

    def refresh(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return {each: self._answer(each) for each in requests}

    def _answer(self, request: Any) -> Answer:
        self.asked.append(request.path)
        former = "previous" if "previous=true" in request.path else "now"
        status, body = self.answers[former]
        return Response(request, status, body.encode(), AT, 0.1)


NO_FORMER = json.dumps({"message": 'previous terminated container "x" in pod "p" not found'})
EARLY = "2026-08-30T02:59:00Z E0830 02:59:00.000000       1 utils.go:1] failed pvc\n"


def logs_of(kubelet: Kubelet, *, restarted: bool) -> tuple[PodLog, ...]:
    of = [Source("kube-system", "csi 0&x=1", "csi-rbdplugin", restarted)]
    return PodLogs(wetopi(), kubelet).since.again(of, "2026-08-30T02:50:00Z")


def test_the_log_from_before_a_restart_is_read_too_and_comes_first() -> None:
    kubelet = Kubelet({"now": (200, LOG), "previous": (200, EARLY)})
    (log,) = logs_of(kubelet, restarted=True)
    # Of another zone: it is an hour and more earlier than the rest.
    assert [each.line.text for each in log.entries][1:] == ["failed pvc", "GRPC response: {} pvc"]
    assert all("csi%200%26x%3D1/log?container=csi-rbdplugin" in path for path in kubelet.asked)
    assert len(logs_of(Kubelet({"now": (200, LOG)}), restarted=False)[0].entries) == 2


def test_a_container_that_was_not_restarted_has_no_earlier_log() -> None:
    (log,) = logs_of(Kubelet({"now": (200, LOG), "previous": (400, NO_FORMER)}), restarted=True)
    assert len(log.entries) == 2


def test_a_container_that_was_restarted_meanwhile_has_one() -> None:
    before = pod_of(pod(containerStatuses=[container("csi-rbdplugin", 2), container("driver", 1)]))
    now = pod_of(pod(containerStatuses=[container("csi-rbdplugin", 2), container("driver", 2)]))
    old, lately = sources([now], [before])
    assert (old.lately, lately.lately) == (False, True)
    # A pod that came meanwhile began at nought.
    assert [each.lately for each in sources([now])] == [True, True]
    kubelet = Kubelet({"now": (200, LOG), "previous": (400, NO_FORMER)})
    (log,) = PodLogs(wetopi(), kubelet).since.again([old], "2026-08-30T02:50:00Z")
    assert len(log.entries) == 2
    with pytest.raises(Undecided, match="container driver was restarted meanwhile"):
        PodLogs(wetopi(), kubelet).since.again([old, lately], "2026-08-30T02:50:00Z")


@pytest.mark.parametrize(
    "answers",
    [
        {"now": (400, NO_FORMER), "previous": (200, "")},
        {"now": (404, '{"message":"pods not found"}'), "previous": (200, "")},
        {"now": (200, LOG), "previous": (500, "{}")},
        {"now": (200, "unable to retrieve container logs for containerd://x"),
         "previous": (200, "")},
    ],
)  # fmt: skip
def test_a_log_that_cannot_be_read_is_no_empty_one(answers: Mapping[str, tuple[int, str]]) -> None:
    with pytest.raises(Undecided):
        logs_of(Kubelet(answers), restarted=True)
