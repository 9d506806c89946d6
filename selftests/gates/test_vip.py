"""B.3 and C.3: who holds the VIP."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import (
    ADDRS,
    CPS,
    CURL,
    FIND_CONFIG,
    SHOW_SERVER,
    VIP,
    unit,
)
from selftests.gates.world import Reply, World, healthy, held, holder

REFUSED = Reply("\n000", rc=7)


def both(world: World) -> tuple[str, str]:
    """B.3 and C.3 of a node whose own keepalived is fine say the same."""
    verdicts = decide(world, "B.3"), decide(world, "C.3", "rke-cp03")
    assert verdicts[0].verdict == verdicts[1].verdict
    return verdicts[0].verdict, verdicts[0].text


@pytest.mark.parametrize(
    ("holders", "verdict", "says"),
    [
        (["rke-cp01"], "PASS", ""),
        ([], "FAIL", "no control plane holds the VIP"),
        (["rke-cp01", "rke-cp02"], "FAIL", "2 control planes hold the VIP"),
        (list(CPS), "FAIL", "3 control planes hold the VIP"),
        (["rke-cp02"], "FAIL", "though rke-cp01 (priority 150) has a ready API"),
        (["rke-cp03"], "FAIL", "rke-cp03 (priority 50) holds the VIP"),
    ],
)
def test_holders(holders: list[str], verdict: str, says: str) -> None:
    world = healthy()
    holder(world, *holders)
    seen, text = both(world)
    assert seen == verdict
    assert says in text


def test_the_decoy_address_is_not_the_vip() -> None:
    world = healthy()
    world.say("rke-cp01", ADDRS, held("rke-cp01", "10.72.0.200/32", "10.72.0.201/32"))
    assert both(world)[0] == "FAIL"


@pytest.mark.parametrize("where", ["eth1", "lo0", "keepalived.51"])
def test_the_vip_counts_on_any_interface(where: str) -> None:
    world = healthy()
    world.say("rke-cp02", ADDRS, held("rke-cp02", VIP, interface=where))
    seen, text = both(world)
    assert seen == "FAIL"
    assert f"rke-cp02: 10.72.0.20/23 on {where}" in text


def test_a_wrong_prefix_is_held_and_recorded() -> None:
    world = healthy()
    world.say("rke-cp01", ADDRS, held("rke-cp01", "10.72.0.20/32"))
    decided = decide(world, "B.3")
    assert decided.verdict == "PASS"
    assert decided.facts == {"vip": ["rke-cp01: 10.72.0.20/32 on eth0"]}


def test_the_first_that_lost_its_api_must_have_given_the_vip_up() -> None:
    world = healthy()
    world.say("rke-cp01", CURL, REFUSED)
    seen, text = both(world)
    assert seen == "FAIL"
    assert "while its own API is not ready (refused)" in text
    holder(world, "rke-cp02")
    assert both(world)[0] == "PASS"
    holder(world, "rke-cp03")
    assert both(world)[0] == "FAIL"


@pytest.mark.parametrize(
    ("reply", "ready"),
    [
        (Reply("[-]etcd failed: reason withheld\nreadyz check failed\n\n500"), False),
        (Reply("Not Found\n404"), False),
        (Reply("\n000", rc=7), False),
        (Reply("\n000", rc=35), False),
        (Reply("\n000", rc=52), False),
        (Reply("\n000", rc=56), False),
        (Reply("\n000", rc=28), None),
        (Reply("\n000", rc=58), None),
        (Reply("\n000", rc=60), None),
        (Reply("\n000", rc=77), None),
        (Reply("Unauthorized\n401"), None),
        (Reply("ok\n403"), None),
        (Reply("fine\n200"), None),
        (Reply("ok\n\n200"), None),
        (Reply("ok"), None),
        (Reply("\n000"), None),
        (Reply(""), None),
        (Reply(stderr="sudo: curl: command not found\n", rc=1), None),
        (Reply(stderr="bash: line 1: sudo: command not found\n", rc=127), None),
        (Reply(stderr="sudo: a password is required\n", rc=1), None),
        (Reply(silent="rke-cp01: no answer within 15 s"), None),
        (Reply("ok\n200", cut=7), None),
    ],
)
def test_readiness_of_the_better_control_plane(reply: Reply, ready: bool | None) -> None:
    """The second holds the VIP: right if the first is not ready, else undecided."""
    world = healthy()
    holder(world, "rke-cp02")
    world.say("rke-cp01", CURL, reply)
    assert both(world)[0] == ("UNKNOWN" if ready is None else "PASS")


def test_a_worse_control_plane_whose_api_is_unknown_changes_nothing() -> None:
    world = healthy()
    world.silence("rke-cp03", CURL)
    assert both(world)[0] == "PASS"


def test_one_silent_control_plane_is_unknown_and_named() -> None:
    world = healthy()
    world.silence("rke-cp03")
    decided = decide(world, "B.3")
    assert decided.verdict == "UNKNOWN"
    assert "rke-cp03" in decided.text


def test_two_known_holders_fail_though_the_third_is_silent() -> None:
    world = healthy()
    holder(world, "rke-cp01", "rke-cp02")
    world.silence("rke-cp03")
    for decided in (decide(world, "B.3"), decide(world, "C.3", "rke-cp03")):
        assert decided.verdict == "FAIL"
        assert "2 control planes hold the VIP" in decided.text


def test_no_known_holder_and_one_silent_is_unknown() -> None:
    world = healthy()
    holder(world)
    world.silence("rke-cp02")
    assert decide(world, "B.3").verdict == "UNKNOWN"


@pytest.mark.parametrize(
    "reply",
    [
        Reply("[]"),
        Reply("[{}]"),
        Reply('[{"ifname": "eth0"}]'),
        Reply("{}"),
        Reply(""),
        Reply(stderr='Device "eth0" does not exist.\n', rc=1),
        Reply("bash: ip: command not found", rc=127),
        Reply(raw=b"\xff\xfe"),
        Reply('[{"ifname":"eth0","addr_info":[{"family":"inet","local":"10.72.0.20"}]}]'),
        Reply('[{"ifname":"e","addr_info":[{"family":"inet6","local":"fe80::1","prefixlen":64}]}]'),
    ],
)
def test_an_answer_without_addresses_is_unknown_never_zero_holders(reply: Reply) -> None:
    world = healthy()
    world.say("rke-cp01", ADDRS, reply)
    assert both(world)[0] == "UNKNOWN"


def test_no_api_and_no_holder_anywhere_fails() -> None:
    world = healthy()
    holder(world)
    for node in CPS:
        world.say(node, CURL, REFUSED)
    assert both(world)[0] == "FAIL"


def test_where_rke2_is_not_applied_no_api_is_ready() -> None:
    world = healthy(["rke-cp02"])
    assert decide(world, "B.3").verdict == "PASS"
    holder(world, "rke-cp01")
    decided = decide(world, "B.3")
    assert decided.verdict == "FAIL"
    assert "RKE2 is not applied there" in decided.text


@pytest.mark.parametrize("applied_by", ["unit", "file"])
def test_an_applied_control_plane_that_cannot_be_asked_is_unknown(applied_by: str) -> None:
    world = healthy(["rke-cp02"])
    if applied_by == "unit":
        world.say("rke-cp01", SHOW_SERVER, Reply(unit("rke2-server.service")))
    else:
        world.say("rke-cp01", FIND_CONFIG, Reply("/etc/rancher/rke2/config.yaml\n"))
    assert decide(world, "B.3").verdict == "UNKNOWN"


def test_the_vip_may_be_moving_for_the_runbooks_ten_seconds() -> None:
    world = healthy()
    away, back = held("rke-cp01"), held("rke-cp01", VIP)
    world.say("rke-cp01", ADDRS, away, away, away, back)
    decided = decide(world, "B.3")
    assert decided.verdict == "PASS"
    assert 0 < decided.waited <= world.cluster.limits.vip_settle
    world = healthy()
    world.say("rke-cp01", ADDRS, *[away] * 40, back)
    decided = decide(world, "B.3")
    assert decided.verdict == "FAIL"
    assert decided.waited == world.cluster.limits.vip_settle


def test_a_wait_that_ends_in_silence_is_unknown() -> None:
    world = healthy()
    world.say("rke-cp01", ADDRS, held("rke-cp01"), Reply(silent="rke-cp01: the link is gone"))
    decided = decide(world, "B.3")
    assert decided.verdict == "UNKNOWN"
    assert "the link is gone" in decided.text
