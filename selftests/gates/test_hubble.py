"""D2.hubble and D2.flows: what speaks against Hubble, and what only is not known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.requests import HostCommand, Output, Silence
from fixtures.core.verdicts import Undecided
from fixtures.core.waits import eventually
from fixtures.judge.hubble import (
    as_the_api_has_it,
    connected_to_every_node,
    real_flows,
    sees_more,
    summed,
)
from fixtures.observe.hubble import Flow, Flows, Hubble, Peer, Status
from fixtures.observe.nodes import Registered, parse_nodes
from fixtures.observe.relay import NO_FORWARD
from selftests.gates.texts import items, node_object
from selftests.gates.world import ROOT
from selftests.observe.test_hubble import DENIED, WITH_NODES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fixtures.core.requests import Answer, Request

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
GOOD = Status(healthy=True, flows=9, max_flows=24570, seen=100, connected=6, version="relay")
REAL = Flow("FORWARDED", "", Peer(1, labels=("reserved:host",)), Peer(7, "a", "b"), "", "rke-cp01")


def registered(*names: str) -> Registered:
    names = names or tuple(node.name for node in CLUSTER.nodes)
    return parse_nodes(items([node_object(name) for name in names]))


class Answering:
    """Answers every command the same."""

    def __init__(self, rc: int = 0, stdout: str = "", stderr: str = "", reason: str = "") -> None:
        self._given = (rc, stdout.encode(), stderr.encode(), reason)

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        rc, stdout, stderr, reason = self._given
        now = datetime.now(UTC)
        answers: dict[Request, Answer] = {}
        for request in requests:
            assert isinstance(request, HostCommand)
            answers[request] = (
                Silence(request, reason, now, 1.0)
                if reason
                else Output(request, rc, stdout, stderr, now, 1.0)
            )
        return answers

    refresh = ask


def hubble(**answer: object) -> Hubble:
    return Hubble(CLUSTER, Answering(**answer))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status(healthy=False), "is not healthy"),
        (replace(GOOD, connected=5, unavailable=1, names=("rke-cp02",)), "`rke-cp02`"),
        (replace(GOOD, connected=4, unavailable=2), "2 unavailable: it does not name them"),
        (replace(GOOD, connected=6, unavailable=1, names=("x\x1b",)), "unavailable: `x\\x1b`"),
        (replace(GOOD, connected=3), "3 of 6 nodes and does not know the others"),
        (replace(GOOD, connected=0), "0 of 6"),
        (replace(GOOD, connected=7), "7 nodes, the inventory has 6"),
    ],
)
def test_a_relay_that_misses_nodes(status: Status, text: str) -> None:
    (finding,) = connected_to_every_node(status, CLUSTER)
    assert text in finding


def test_a_relay_that_is_connected_to_all() -> None:
    assert connected_to_every_node(GOOD, CLUSTER) == ()


def test_a_server_that_does_not_say_is_no_relay() -> None:
    with pytest.raises(Undecided, match="no hubble-relay"):
        connected_to_every_node(replace(GOOD, connected=None), CLUSTER)


def test_the_relay_of_another_cluster_is_told_by_the_api() -> None:
    two = registered("rke-cp01", "rke-cp02")
    assert as_the_api_has_it(GOOD, registered(), CLUSTER) == ()
    # That is told already.
    assert as_the_api_has_it(replace(GOOD, connected=5), two, CLUSTER) == ()
    (finding,) = as_the_api_has_it(GOOD, two, CLUSTER)
    assert "connected to 6 nodes, the API has 2" in finding


@pytest.mark.parametrize("node", ["rke-cp01", "default/rke-cp01", ""])
def test_flows_of_a_node_of_this_cluster(node: str) -> None:
    assert real_flows(Flows((replace(REAL, node=node),)), registered("rke-cp01")) == ()


@pytest.mark.parametrize("node", ["rke-cp0", "rke-cp01x", "other/elsewhere\x1b"])
def test_flows_of_another_cluster_s_nodes_decide_nothing(node: str) -> None:
    with pytest.raises(Undecided, match="which the API does not have"):
        real_flows(Flows((replace(REAL, node=node),)), registered("rke-cp01"))


class Time:
    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def grown(*seen: int | str) -> float:
    """Whether later counts are growth, and after how many seconds."""
    time, left = Time(), list(seen)

    def again() -> Status:
        count = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(count, str):
            raise Undecided(count)
        return replace(GOOD, seen=count)

    wait = partial(eventually, clock=lambda: time.now, sleep=time.sleep)
    assert not (found := sees_more(GOOD, again, wait, CLUSTER.limits)), found[0]
    return time.now


def test_growth_is_waited_for() -> None:
    assert grown(101) == 0
    assert grown(100, 100, 101) == 4
    assert grown(100, "the link was lost", 101) == 4


def test_an_agent_that_restarts_counts_anew() -> None:
    assert grown(40, 40, 41) == 4


def test_a_count_that_stands_still() -> None:
    with pytest.raises(AssertionError, match=r"no more than the 100 flows .* next: hubble observe"):
        grown(100)
    with pytest.raises(AssertionError):
        grown(90, 80, 70)


def test_a_count_that_is_not_told_beside_flows() -> None:
    with pytest.raises(Undecided, match="9 flows held and of none seen"):
        grown(0)


def test_a_count_that_cannot_be_had() -> None:
    with pytest.raises(Undecided, match="no way"):
        grown("no way")


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (Flows(), "shows no flow at all"),
        (Flows(lost=12), "12 events were lost"),
        (Flows(missing=("rke-cp02",)), "nothing came from `rke-cp02`"),
        (Flows((replace(REAL, source=Peer()),)), "of 1 flows none has a verdict and the identity"),
        (Flows((replace(REAL, verdict=""),)), "of 1 flows none has a verdict"),
    ],
)
def test_flows_that_prove_nothing(seen: Flows, text: str) -> None:
    (finding,) = real_flows(seen, registered())
    assert text in finding


def test_one_real_flow_is_enough() -> None:
    seen = Flows((replace(REAL, verdict=""), REAL), lost=3)
    assert real_flows(seen, registered()) == ()
    assert summed(seen)["verdicts"] == {"none": 1, "FORWARDED": 1}
    assert summed(seen)["examples"] == ["reserved:host (1) -> a/b (7) FORWARDED"]


@pytest.mark.parametrize(
    "answer",
    [
        {"rc": NO_FORWARD, "stderr": "\nError: Unable to port forward: no pods found\n"},
        {"rc": 1, "stderr": "failed to connect to '127.0.0.1:1': connection refused\n"},
        {"rc": 1, "stderr": "failed getting status: rpc error: code = Unavailable desc = x\n"},
        {"rc": 1, "stdout": WITH_NODES, "stderr": "not healthy, said somebody\n"},
        {"rc": 127, "stderr": "bash: line 1: /home/ubuntu/bin/hubble: No such file\n"},
        {"rc": 0, "stdout": "Healthcheck (via localhost:4245): Ok\n"},
        {"rc": 0},
        {"reason": "the link was lost"},
    ],
)
def test_what_is_no_answer_of_the_relay(answer: dict[str, object]) -> None:
    with pytest.raises(Undecided):
        hubble(**answer).status()


@pytest.mark.parametrize("word", ["not healthy", "Error: not healthy", "noise\nnot healthy"])
def test_a_relay_that_says_it_does_not_serve(word: str) -> None:
    assert hubble(rc=1, stderr=f"{word}\n").status() == Status(healthy=False)


def test_flows_without_a_forward_are_not_empty() -> None:
    with pytest.raises(Undecided, match="no way to hubble-relay"):
        hubble(rc=NO_FORWARD, stderr="refused").recent()
    assert hubble().recent() == Flows()


def test_flows_of_a_namespace() -> None:
    observer = hubble(stdout=DENIED)
    (flow,) = observer.within("n", 12.5).flows
    assert flow.dropped
    (request,) = Hubble.within.requests(CLUSTER, "n", 12.5)
    assert isinstance(request, HostCommand)
    assert "observe --since 12.5s --namespace n -o jsonpb --server" in request.command
