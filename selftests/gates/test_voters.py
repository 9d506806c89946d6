"""B.5: one voter where RKE2 is applied, which never shrinks."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import (
    CPS,
    FIND_CONFIG,
    SHOW_SERVER,
    listing,
    member,
    member_list,
    unit,
)
from selftests.gates.world import Reply, healthy


@pytest.mark.parametrize("count", [1, 2, 3])
def test_b5_counts_what_is_applied_and_records_it(count: int) -> None:
    decided = decide(healthy(CPS[:count]), "B.5")
    assert decided.verdict == "PASS", decided.text
    assert decided.facts == {"applied": list(CPS[:count])}


def test_b5_fails_where_an_applied_control_plane_has_no_voter() -> None:
    world = healthy(CPS[:1])
    world.say("rke-cp02", FIND_CONFIG, Reply("/etc/rancher/rke2/config.yaml\n"))
    decided = decide(world, "B.5")
    assert decided.verdict == "FAIL"
    assert "none of them on rke-cp02" in decided.text


def test_b5_fails_where_a_member_is_on_a_control_plane_that_is_not_applied() -> None:
    world = healthy(CPS[:1])
    two = listing([member("rke-cp01"), member("rke-cp02")])
    world.say("rke-cp01", member_list("rke-cp01"), Reply(two))
    decided = decide(world, "B.5")
    assert decided.verdict == "FAIL"
    assert "rke-cp02 has a member though RKE2 is not applied there" in decided.text


def test_b5_never_forgets_what_was_applied() -> None:
    decided = decide(healthy(CPS[:2]), "B.5", before=frozenset(CPS))
    assert decided.verdict == "FAIL"
    assert "rke-cp03 was recorded as applied earlier" in decided.text


def test_b5_fails_where_nothing_is_applied() -> None:
    world = healthy()
    empty = healthy(["rke-cp02"])
    for (host, command), replies in empty.replies.items():
        if host == "rke-cp01":
            world.say(host, command, *replies)
    decided = decide(world, "B.5")
    assert decided.verdict == "FAIL"
    assert "rke-cp01: RKE2 is not applied" in decided.text


@pytest.mark.parametrize("count", [1, 2])
def test_b5_is_unknown_while_it_is_not_known_where_rke2_is_applied(count: int) -> None:
    world = healthy(CPS[:count])
    world.silence("rke-cp03")
    decided = decide(world, "B.5")
    assert decided.verdict == "UNKNOWN"
    assert "rke-cp03" in decided.text


def test_b5_knows_a_disabled_unit_with_its_configuration_as_applied() -> None:
    world = healthy()
    world.say("rke-cp03", SHOW_SERVER, Reply(unit("rke2-server.service", UnitFileState="disabled")))
    assert decide(world, "B.5").facts == {"applied": list(CPS)}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(stderr="find: '/etc/rancher/rke2': Permission denied\n", rc=1),
        Reply("/etc/rancher/rke2/other.yaml\n"),
        Reply(stderr="sudo: a password is required\n", rc=1),
        Reply(stderr="sudo: find: command not found\n", rc=1),
        Reply(stderr="Sorry, user ubuntu may not run sudo on rke-cp03.\n", rc=1),
    ],
)
def test_b5_is_unknown_where_the_configuration_cannot_be_looked_for(reply: Reply) -> None:
    world = healthy(CPS[:2])
    world.say("rke-cp03", FIND_CONFIG, reply)
    assert decide(world, "B.5").verdict == "UNKNOWN"


def test_sudo_that_only_grumbles_is_no_refusal() -> None:
    grumble = "sudo: unable to resolve host rke-cp03: Name or service not known\n"
    world = healthy(CPS[:2])
    world.say(
        "rke-cp03",
        FIND_CONFIG,
        Reply(
            stderr=f"{grumble}find: \u2018/etc/rancher/rke2\u2019: No such file or directory\n",
            rc=1,
        ),
    )
    assert decide(world, "B.5").verdict == "PASS"
