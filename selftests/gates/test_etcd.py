"""B.5 and C.1: one cluster of living voters, asked of every control plane's own member."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import CPS, IDS, endpoint_health, health, listing, member, member_list
from selftests.gates.world import Reply, World, healthy

NOISE = (
    '{"level":"warn","ts":"2026-11-30T12:24:35.339Z","msg":"retrying of unary invoker failed",'
    '"error":"rpc error: code = DeadlineExceeded"}\n'
)
NOT_EXECUTED = [
    'error: unable to upgrade connection: container not found ("etcd")\n',
    "Error from server: error dialing backend: dial tcp 10.72.0.22:10250: connection refused\n",
    'Error from server (NotFound): pods "etcd-rke-cp02" not found\n',
    'OCI runtime exec failed: exec failed: exec: "env": executable file not found in $PATH\n',
    "The connection to the server 127.0.0.1:6443 was refused - did you specify the right host?\n",
    "error: You must be logged in to the server (Unauthorized)\n",
    f"{NOISE}Error: context deadline exceeded\ncommand terminated with exit code 1\n",
]


def everywhere(world: World, text: str, health_text: str = "") -> World:
    for node in CPS:
        world.say(node, member_list(node), Reply(text))
        if health_text:
            world.say(node, endpoint_health(node), Reply(health_text))
    return world


def test_noise_on_stderr_changes_nothing() -> None:
    world = healthy()
    for node in CPS:
        for command in (member_list(node), endpoint_health(node)):
            (reply,) = world.replies[node, command]
            world.say(node, command, Reply(reply.stdout, NOISE))
    assert decide(world, "C.1").verdict == "PASS"
    assert decide(world, "B.5").verdict == "PASS"


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ([member("rke-cp01"), member("rke-cp02")], "none of them on rke-cp03"),
        ([member("rke-cp01")], "1 started voters, none of them on rke-cp02, rke-cp03"),
        (
            [member("rke-cp01"), member("rke-cp02"), member("rke-cp03", isLearner=True)],
            "is a learner",
        ),
        (
            [
                member("rke-cp01"),
                member("rke-cp02"),
                member("rke-cp03", name=None, clientURLs=None),
            ],
            "has not started",
        ),
        (
            [member("rke-cp01"), member("rke-cp02"), member("rke-cp03", name="")],
            "has not started",
        ),
        (
            [*(member(node) for node in CPS), member("rke-cp02", ID=7)],
            "rke-cp02 has 2 members",
        ),
        (
            [member("rke-cp01"), member("rke-cp02"), member("rke-cp02", ID=7)],
            "none of them on rke-cp03",
        ),
        (
            [
                *(member(node) for node in CPS),
                member("rke-cp01", ID=9, name="x-00000000", peerURLs=["https://10.72.0.99:2380"]),
            ],
            "belongs to no control plane",
        ),
        (
            [
                member("rke-cp01"),
                member("rke-cp02"),
                member("rke-cp03", peerURLs=["https://10.72.0.22:2380"]),
            ],
            "belongs to rke-cp02 and rke-cp03",
        ),
    ],
)
def test_a_wrong_list_fails(members: list[dict[str, object]], says: str) -> None:
    decided = decide(everywhere(healthy(), listing(members)), "C.1")
    assert decided.verdict == "FAIL"
    assert says in decided.text
    assert decide(everywhere(healthy(), listing(members)), "B.5").verdict == "FAIL"


def test_a_member_is_found_by_its_address_when_its_name_says_nothing() -> None:
    members = [member("rke-cp01", name="default"), member("rke-cp02"), member("rke-cp03")]
    assert decide(everywhere(healthy(), listing(members)), "C.1").verdict == "PASS"


def test_a_name_that_only_begins_like_a_node_is_not_that_node() -> None:
    """`rke-cp01` must not own `rke-cp01-old-1a2b3c4d`."""
    odd = member("rke-cp01", name="rke-cp01-old-1a2b3c4d", peerURLs=["https://10.72.0.9:2380"])
    decided = decide(
        everywhere(healthy(), listing([odd, member("rke-cp02"), member("rke-cp03")])), "C.1"
    )
    assert decided.verdict == "FAIL"


@pytest.mark.parametrize("gate", ["B.5", "C.1"])
def test_a_dead_member_still_prints_started(gate: str) -> None:
    world = healthy()
    dead = health(CPS, dead=["rke-cp03"])
    stderr = f"{NOISE}Error: unhealthy cluster\ncommand terminated with exit code 1\n"
    for node in CPS[:2]:
        world.say(node, endpoint_health(node), Reply(dead, stderr, rc=1))
    for command in (member_list("rke-cp03"), endpoint_health("rke-cp03")):
        world.say("rke-cp03", command, Reply(stderr=NOT_EXECUTED[1], rc=1))
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert "`https://10.72.0.23:2379` is unhealthy, asked from rke-cp01" in decided.text


@pytest.mark.parametrize("gate", ["B.5", "C.1"])
def test_two_clusters_fail(gate: str) -> None:
    world = healthy()
    world.say(
        "rke-cp03",
        member_list("rke-cp03"),
        Reply(listing((member(node) for node in CPS), cluster_id=222)),
    )
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert "there are 2 etcd clusters" in decided.text


@pytest.mark.parametrize("gate", ["B.5", "C.1"])
def test_two_clusters_fail_though_the_third_is_silent(gate: str) -> None:
    world = healthy()
    world.say(
        "rke-cp02",
        member_list("rke-cp02"),
        Reply(listing((member(node) for node in CPS), cluster_id=222)),
    )
    world.silence("rke-cp03")
    assert decide(world, gate).verdict == "FAIL"


def test_lists_that_differ_fail() -> None:
    world = healthy()
    lagging = listing([member("rke-cp01"), member("rke-cp02"), member("rke-cp03", ID=5)])
    world.say("rke-cp02", member_list("rke-cp02"), Reply(lagging))
    decided = decide(world, "C.1")
    assert decided.verdict == "FAIL"
    assert "the member lists differ" in decided.text


def test_the_order_of_members_says_nothing() -> None:
    world = healthy()
    world.say("rke-cp02", member_list("rke-cp02"), Reply(listing(member(n) for n in CPS[::-1])))
    assert decide(world, "C.1").verdict == "PASS"


@pytest.mark.parametrize("stderr", NOT_EXECUTED)
@pytest.mark.parametrize("question", [member_list, endpoint_health])
@pytest.mark.parametrize("gate", ["B.5", "C.1"])
def test_what_was_not_executed_is_unknown_not_absent(
    gate: str, question: object, stderr: str
) -> None:
    assert callable(question)
    world = healthy()
    world.say("rke-cp02", question("rke-cp02"), Reply(stderr=stderr, rc=1))
    decided = decide(world, gate)
    assert decided.verdict == "UNKNOWN"
    assert "rke-cp02" in decided.text
    assert '"level"' not in decided.text


@pytest.mark.parametrize("gate", ["B.5", "C.1"])
def test_one_silent_control_plane_is_unknown(gate: str) -> None:
    world = healthy()
    world.silence("rke-cp02", reason="rke-cp02: no answer within 10 s")
    decided = decide(world, gate)
    assert decided.verdict == "UNKNOWN"
    assert decided.text == "rke-cp02: no answer within 10 s"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"header":{},"members":[]}',
        listing([]),
        listing([member("rke-cp01", ID="ddd67b312462fd7b")], cluster_id="a7ef944b95711739"),
        listing([member("rke-cp01"), member("rke-cp01")]),
        listing([member("rke-cp01", isLearner="false")]),
        listing([member("rke-cp01", ID=True)]),
        listing([member("rke-cp01", ID=2**64)]),
        "{'header': {'cluster_id': 1}, 'members': []}",
        "628170c800dbcee, started, n3, http://127.0.0.1:32380, http://127.0.0.1:32379, false\n",
        f"{NOISE}{listing(member(node) for node in CPS)}",
    ],
)
def test_a_list_that_cannot_be_read_is_unknown(text: str) -> None:
    world = healthy()
    world.say("rke-cp01", member_list("rke-cp01"), Reply(text))
    assert decide(world, "C.1").verdict == "UNKNOWN"


def test_health_that_leaves_a_member_out_is_unknown() -> None:
    world = healthy()
    world.say("rke-cp01", endpoint_health("rke-cp01"), Reply(health(CPS[:2])))
    decided = decide(world, "C.1")
    assert decided.verdict == "UNKNOWN"
    assert "says nothing of member" in decided.text
    assert f"{IDS['rke-cp03']:x}" in decided.text


@pytest.mark.parametrize("rc", [0, 1])
def test_health_that_contradicts_its_rc(rc: int) -> None:
    world = healthy()
    text = health(CPS) if rc else health(CPS, dead=["rke-cp02"])
    world.say("rke-cp01", endpoint_health("rke-cp01"), Reply(text, rc=rc))
    assert decide(world, "C.1").verdict == "UNKNOWN"


def test_an_alarm_is_unhealthy() -> None:
    text = (
        '[{"endpoint":"https://10.72.0.21:2379","health":false,"took":"1ms",'
        '"error":"Active Alarm(s): NOSPACE "}]'
    )
    world = healthy()
    world.say("rke-cp01", endpoint_health("rke-cp01"), Reply(text, "Error: unhealthy cluster", 1))
    decided = decide(world, "C.1")
    assert decided.verdict == "FAIL"
    assert "NOSPACE" in decided.text
