"""What real tools printed is read as it was meant."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from fixtures.observe.answers import Misread
from fixtures.observe.api import parse_readyz
from fixtures.observe.etcd import parse_health, parse_listing
from fixtures.observe.network import parse_ping
from fixtures.observe.pods import parse_pods
from fixtures.observe.vip import parse_addresses
from selftests.gates.deciding import decide
from selftests.gates.texts import BASTION, GET_NODES, PING
from selftests.gates.world import Reply, healthy
from selftests.observe.captured import Captured, captured, like

ETCD = ("etcd.out", "etcd-3.6.14.out", "kube-1.36.3.out")


@pytest.mark.parametrize("file", [*ETCD, "net.out"])
def test_the_captures_are_read_whole(file: str) -> None:
    assert len(captured(file)) >= 15


@pytest.mark.parametrize("file", ETCD)
def test_member_lists_keep_ids_beyond_2_to_the_53(file: str) -> None:
    for capture in like(file, r"member list -w json$"):
        listing = parse_listing(capture.stdout)
        assert all(member.started and not member.learner for member in listing.members)
        assert max(member.id for member in listing.members) > 2**53


def test_three_members_of_3_6() -> None:
    (capture,) = like("etcd-3.6.14.out", r"member list -w json$")
    listing = parse_listing(capture.stdout)
    assert listing.cluster_id == 17495100640981928781
    assert {f"{member.id:x}": member.name for member in listing.members} == {
        "61f97220ab052a12": "n3",
        "69b38ac7138de88d": "n1",
        "9e737febb6b99eee": "n2",
    }


def test_hexadecimal_ids_are_refused_because_they_come_without_learners() -> None:
    (capture,) = like("kube-1.36.3.out", r"--hex -w json member list$")
    with pytest.raises(Misread, match="not an int"):
        parse_listing(capture.stdout)


@pytest.mark.parametrize("file", ETCD)
def test_text_forms_are_refused(file: str) -> None:
    for capture in like(file, r"member list$"):
        with pytest.raises(Misread):
            parse_listing(capture.stdout)


@pytest.mark.parametrize(
    ("file", "number", "dead"),
    [
        ("etcd.out", 0, []),
        ("etcd.out", 1, ["http://127.0.0.1:32379"]),
        ("etcd-3.6.14.out", 0, []),
        ("etcd-3.6.14.out", 1, ["http://127.0.0.1:23379"]),
        ("kube-1.36.3.out", 0, []),
        ("kube-1.36.3.out", 1, ["https://127.0.0.1:12379"]),
    ],
)
def test_health(file: str, number: int, dead: list[str]) -> None:
    health = parse_health(like(file, r"endpoint health.* -w json$")[number].stdout)
    assert [each.endpoint for each in health if not each.healthy] == dead
    assert all(each.error == "context deadline exceeded" for each in health if not each.healthy)


def replayed(capture: Captured) -> Reply:
    return Reply(capture.stdout, capture.stderr, capture.rc)


def test_readyz_answers_as_a_real_api_gives_them() -> None:
    (ok,) = like("kube-1.36.3.out", r"^curl -s --cacert .* --cert .*/readyz$")
    assert parse_readyz(f"{ok.stdout.strip()}\n200").ready
    anonymous = like("kube-1.36.3.out", r"^curl -sk https")[0]
    assert anonymous.rc == 0
    assert parse_readyz(f"{anonymous.stdout}\n401").unauthorized
    failing = like("kube-1.36.3.out", r"^curl -s -m 15 .*verbose'$")[0]
    readyz = parse_readyz(f"{failing.stdout}\n500")
    assert not readyz.ready
    assert readyz.failing == ("etcd", "etcd-readiness")
    verbose = like("kube-1.36.3.out", r"--raw '/readyz\?verbose'$")[0]
    assert not parse_readyz(f"{verbose.stdout}\n200").ready


def test_addresses() -> None:
    answers = [parse_addresses(each.stdout) for each in like("net.out", r"ip -j -4 addr show eth0")]
    vip = IPv4Address("10.72.0.20")
    assert [[(a.interface, a.prefix) for a in each if a.address == vip] for each in answers] == [
        [("eth0", 23)],
        [("eth0", 32)],
    ]
    for text in like("net.out", r"^ip -4 (?:-o )?addr show eth0"):
        with pytest.raises(Misread):
            parse_addresses(text.stdout)


def test_pings() -> None:
    healthy_ping, *lost = like("net.out", r"^ping -c 3 -i 0\.2(?: -W 1)? [\d.]+$")
    match = parse_ping(healthy_ping.stdout)
    assert (match["sent"], match["received"], match["loss"]) == ("3", "3", "0")
    assert [parse_ping(each.stdout)["loss"] for each in lost] == ["100"]
    (too_long,) = like("net.out", r"-s 1473")
    assert parse_ping(too_long.stdout)["errors"] == "3"


@pytest.mark.parametrize("capture", like("net.out", r"^ping"), ids=lambda each: each.command)
def test_pings_are_judged(capture: Captured) -> None:
    world = healthy()
    world.say(BASTION, PING, replayed(capture))
    good = capture.rc == 0 and "3 packets transmitted, 3 received" in capture.stdout
    assert decide(world, "B.4").verdict == ("PASS" if good else "FAIL")


@pytest.mark.parametrize(
    "capture",
    [
        each
        for each in like("kube-1.36.3.out", r"kubectl")
        if each.rc or "get nodes" in each.command
    ],
    ids=lambda each: each.command,
)
def test_no_other_answer_of_kubectl_passes_for_nodes(capture: Captured) -> None:
    world = healthy()
    world.say("rke-cp01", GET_NODES, replayed(capture))
    assert decide(world, "C.4").verdict == "UNKNOWN"


def test_an_empty_list_of_pods_is_not_understood() -> None:
    (capture,) = like("kube-1.36.3.out", r"k8s-app=cilium -o json$")
    with pytest.raises(Misread, match="not one pod"):
        parse_pods(capture.stdout)
