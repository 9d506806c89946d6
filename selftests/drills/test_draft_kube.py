"""The Kubernetes API on paper: credentials come first, and answers let a drill go on."""

from __future__ import annotations

from fixtures.core.requests import (
    ApiGet,
    Executed,
    HostCommand,
    KubeChange,
    KubeExec,
    KubeGet,
    Response,
    Silence,
)
from fixtures.drills.draft import Asked, PaperAsker
from fixtures.remote.kube import config
from selftests.gates.world import wetopi

CLUSTER = wetopi()
READING = config.reading(CLUSTER)
NODES = KubeGet("/api/v1/nodes", 5)
MADE = KubeChange("POST", "/api/v1/namespaces", 5, "{}")
GONE = KubeChange("DELETE", "/api/v1/namespaces/x", 5)
RUN = KubeExec("kube-system", "etcd-rke-cp01", "etcd", ("etcdctl",), 5)


def entries(asker: PaperAsker) -> list[Asked]:
    return [entry for entry in asker.taken() if isinstance(entry, Asked)]


def test_the_kubeconfig_is_read_once_and_before_what_needs_it() -> None:
    asker = PaperAsker(CLUSTER)
    asker.ask([HostCommand("rke-cp01", "true", 1)])
    asker.ask([NODES, RUN])
    asker.refresh([NODES])
    asker.ask([ApiGet("10.72.0.20", "/readyz", 1)])
    first, second, third, fourth = entries(asker)
    assert READING not in first.requests
    assert second.requests == (READING, NODES, RUN)
    assert third.requests == (NODES,)
    assert READING not in fourth.requests


def test_who_asks_for_the_kubeconfig_has_it_for_what_follows() -> None:
    assert READING is not None
    asker = PaperAsker(CLUSTER)
    asker.ask([NODES, READING])
    asker.ask([RUN])
    first, second = entries(asker)
    assert set(first.requests) == {NODES, READING}
    assert len(first.requests) == 2
    assert second.requests == (RUN,)


def test_changes_are_marked_and_answered_as_if_they_had_succeeded() -> None:
    asker = PaperAsker(CLUSTER)
    answers = asker.ask([NODES, MADE, GONE, RUN])
    assert isinstance(answers[NODES], Silence)
    statuses = [answers[each] for each in (MADE, GONE)]
    assert [each.status for each in statuses if isinstance(each, Response)] == [201, 200]
    assert isinstance(answers[RUN], Executed)
    assert entries(asker)[0].change == "change objects of the API"


def test_what_was_announced_is_the_changes_title() -> None:
    asker = PaperAsker(CLUSTER)
    asker.announce("make a namespace", "POST /api/v1/namespaces")
    asker.ask([MADE])
    assert entries(asker)[0].change == "make a namespace"
