"""One leader, and every member caught up with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.etcd_status import LAG, caught_up, voting
from fixtures.observe.answers import Misread, Unknown
from fixtures.observe.etcd_status import EtcdStatus, parse_statuses
from fixtures.observe.nodes import Nodes
from selftests.gates.drilling import drilled
from selftests.gates.texts import (
    ADDRESSES,
    CLUSTER_ID,
    CPS,
    GET_NODES,
    IDS,
    etcdctl,
    items,
    node_object,
)
from selftests.gates.world import Reply, World, wetopi
from selftests.observe.captured import like

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fixtures.judge.findings import Findings

LEADER = IDS["rke-cp01"]


def question(node: str) -> str:
    return etcdctl(node, "endpoint status --cluster")


def endpoint(node: str, **changes: Any) -> dict[str, Any]:
    status = {
        "header": {
            "cluster_id": changes.pop("cluster_id", CLUSTER_ID),
            "member_id": IDS[node],
            "revision": 1,
            "raft_term": 3,
        },
        "version": "3.6.14",
        "dbSize": 20480,
        "leader": LEADER,
        "raftIndex": 1000,
        "raftTerm": 3,
        "raftAppliedIndex": 1000,
    } | changes
    return {"Endpoint": f"https://{ADDRESSES[node]}:2379", "Status": status}


def statuses(rows: Iterable[dict[str, Any]]) -> str:
    return json.dumps(list(rows)) + "\n"


def failure(node: str) -> str:
    return (
        '{"level":"warn","msg":"retrying of unary invoker failed"}\n'
        f"Failed to get the status of endpoint https://{ADDRESSES[node]}:2379 "
        "(context deadline exceeded)\ncommand terminated with exit code 1\n"
    )


def standing(**changed: Reply) -> World:
    world = drilled()
    for node in CPS:
        world.say(node, question(node), Reply(statuses(map(endpoint, CPS))))
    for node, reply in changed.items():
        name = node.replace("_", "-")
        world.say(name, question(name), reply)
    return world


def judged(world: World, *names: str) -> Findings:
    cluster = wetopi()
    seen = EtcdStatus(cluster, world).everywhere()
    return caught_up(seen, cluster, [cluster.node(name) for name in names or CPS])


def test_a_healthy_cluster_has_caught_up() -> None:
    assert judged(standing()) == ()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([endpoint(node, leader=0) for node in CPS], "no member that answered is the leader (none"),
        (
            [
                endpoint("rke-cp01"),
                endpoint("rke-cp02", leader=IDS["rke-cp02"]),
                endpoint("rke-cp03"),
            ],
            "do not agree on a leader",
        ),
        (
            [endpoint("rke-cp01"), endpoint("rke-cp02", raftTerm=4), endpoint("rke-cp03")],
            "terms 3, 4",
        ),
        (
            [
                endpoint("rke-cp01"),
                endpoint("rke-cp02", raftAppliedIndex=989),
                endpoint("rke-cp03"),
            ],
            "rke-cp02: its member has applied 989 entries, the leader 1000",
        ),
        (
            [endpoint("rke-cp01"), endpoint("rke-cp02", isLearner=True), endpoint("rke-cp03")],
            "rke-cp02: its member is a learner",
        ),
        (
            [endpoint("rke-cp01"), endpoint("rke-cp02", errors=["NOSPACE"]), endpoint("rke-cp03")],
            "rke-cp02: its member complains of `NOSPACE`",
        ),
        (
            [endpoint("rke-cp01"), endpoint("rke-cp02", cluster_id=7), endpoint("rke-cp03")],
            "2 etcd clusters answer",
        ),
        ([endpoint("rke-cp01"), endpoint("rke-cp03")], "rke-cp02 has no started member"),
    ],
)
def test_what_speaks_against_it(rows: list[dict[str, Any]], says: str) -> None:
    found = judged(standing(rke_cp01=Reply(statuses(rows))))
    assert any(says in finding and "seen from rke-cp01" in finding for finding in found), found


@pytest.mark.parametrize("behind", [0, LAG, -50])
def test_members_are_asked_one_after_another_so_a_few_entries_are_no_lag(behind: int) -> None:
    rows = [endpoint("rke-cp01"), endpoint("rke-cp02", raftAppliedIndex=1000 - behind)]
    assert judged(standing(rke_cp01=Reply(statuses([*rows, endpoint("rke-cp03")])))) == ()


def test_a_member_that_does_not_answer_is_named() -> None:
    rows = statuses([endpoint("rke-cp01"), endpoint("rke-cp03")])
    found = judged(standing(rke_cp01=Reply(rows, failure("rke-cp02"), 1)))
    assert [finding.partition(";")[0] for finding in found] == [
        "`https://10.72.0.22:2379` gives no status, seen from rke-cp01: `context deadline exceeded`"
    ]


def test_a_stopped_member_is_expected_when_only_the_others_are_asked_for() -> None:
    rows = statuses([endpoint("rke-cp01"), endpoint("rke-cp03")])
    world = standing(
        rke_cp01=Reply(rows, failure("rke-cp02"), 1),
        rke_cp02=Reply(stderr="Error from server (NotFound): pods not found\n", rc=1),
        rke_cp03=Reply(rows, failure("rke-cp02"), 1),
    )
    assert judged(world, "rke-cp01", "rke-cp03") == ()
    assert judged(world)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(silent="rke-cp01: no answer"),
        Reply(stderr="error dialing backend: x\n", rc=1),
        Reply(statuses(map(endpoint, CPS)), rc=1),
        Reply(statuses(map(endpoint, CPS)), failure("rke-cp02"), 0),
        Reply("[]\n"),
        Reply("null\n"),
        Reply("no JSON"),
    ],
)
def test_what_cannot_be_read_is_undecided(reply: Reply) -> None:
    with pytest.raises(Undecided, match="rke-cp01"):
        judged(standing(rke_cp01=reply))


def test_nobody_answers() -> None:
    stderr = "".join(failure(node) for node in CPS)
    found = judged(standing(rke_cp01=Reply("null\n", stderr, 1)))
    assert len(found) == 3


def test_a_node_that_was_not_asked_is_undecided() -> None:
    with pytest.raises(Undecided, match="rke-cp02: etcd was not asked"):
        caught_up((), wetopi(), [wetopi().node("rke-cp02")])


@pytest.mark.parametrize("file", ["etcd.out", "etcd-3.6.14.out"])
def test_the_captures_are_understood(file: str) -> None:
    captures = like(file, r"endpoint status --cluster -w json$")
    whole = [capture for capture in captures if capture.stdout.endswith("]\n")]
    assert whole
    for capture in whole:
        seen = parse_statuses(capture.stdout)
        assert sum(each.leads for each in seen) == 1
        assert all(each.db_size > 0 and not each.errors for each in seen)


def test_a_member_without_a_leader_says_so() -> None:
    (capture,) = like("etcd-3.6.14.out", r"endpoint status -w json$")[:1]
    (status,) = parse_statuses(capture.stdout)
    assert (status.leader, status.leads, status.errors) == (0, False, ("etcdserver: no leader",))


@pytest.mark.parametrize(
    "row",
    [
        endpoint("rke-cp01", raftAppliedIndex=-1),
        endpoint("rke-cp01", raftAppliedIndex="1"),
        endpoint("rke-cp01", cluster_id=0),
        {"Endpoint": "x"},
    ],
)
def test_impossible_numbers_are_refused(row: dict[str, Any]) -> None:
    with pytest.raises(Misread):
        parse_statuses(statuses([row]))


def test_one_member_twice_is_refused() -> None:
    with pytest.raises(Misread, match="twice"):
        parse_statuses(statuses([endpoint("rke-cp01"), endpoint("rke-cp01")]))


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (("True", "MemberNotLearner"), ""),
        (("False", "MemberIsLearner"), "EtcdIsVoter is False (`MemberIsLearner`)"),
        (("False", "NotAMember"), "`NotAMember`"),
        (("Unknown", "x"), "EtcdIsVoter is Unknown"),
        (None, "no condition EtcdIsVoter"),
    ],
)
def test_the_condition_of_a_voter(condition: tuple[str, str] | None, says: str) -> None:
    item = node_object("rke-cp02")
    if condition:
        status, reason = condition
        item["status"]["conditions"].append(
            {"type": "EtcdIsVoter", "status": status, "reason": reason}
        )
    world = drilled()
    world.say("rke-cp01", GET_NODES, Reply(items([item])))
    cluster = wetopi()
    registered = Nodes(cluster, world).registered()
    found = voting(registered, [cluster.node("rke-cp02")])
    assert bool(found) is bool(says)
    assert says in "".join(found)


def test_a_node_that_is_not_registered_does_not_vote() -> None:
    world = drilled()
    world.say("rke-cp01", GET_NODES, Reply(items([])))
    found = voting(Nodes(wetopi(), world).registered(), wetopi().control_planes)
    assert [finding.partition(",")[0] for finding in found] == [
        f"{name}: it is not registered" for name in CPS
    ]


def test_an_unknown_view_stands_beside_what_was_found() -> None:
    world = standing(
        rke_cp01=Reply(silent="gone"), rke_cp02=Reply(statuses([endpoint("rke-cp01")]))
    )
    assert isinstance(EtcdStatus(wetopi(), world).everywhere()[0].progress, Unknown)
    assert judged(world)
