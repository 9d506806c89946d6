"""What real tools printed on the way to Ceph, each in a state that was really brought about."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.requests import HostCommand
from fixtures.core.verdicts import Undecided
from fixtures.observe.answers import Misread
from fixtures.observe.claims import Claimants, parse_replies
from fixtures.observe.door import Door
from fixtures.observe.hop_lines import parse_tracepath, parse_traceroute
from fixtures.observe.hops import Hops
from fixtures.observe.knocks import met_by_bash, met_by_nc
from fixtures.observe.network import pinged
from fixtures.observe.routes import NoRoute, Route, way
from selftests.gates.world import ROOT
from selftests.observe.answering import Answering, output
from selftests.observe.captured import Captured, captured, like

FILE = "ceph-way.out"
CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
MONITOR = "192.168.96.10"
GATEWAY = "10.72.0.2"


def noted(command: str, note: str) -> Captured:
    """The one capture of that command in that state."""
    (found,) = like(FILE, rf"^{command} .*# {note}$")
    return found


def test_the_captures_are_read_whole() -> None:
    assert len(captured(FILE)) == 65


@pytest.mark.parametrize(
    ("note", "by_traceroute", "by_tracepath"),
    [
        ("all is well", [[GATEWAY], [MONITOR]], [[GATEWAY], [MONITOR]]),
        ("the gateway drops", [[GATEWAY], [], [], []], [[GATEWAY], [], [], []]),
        ("the gateway rejects: port-unreachable", [[GATEWAY]] * 2, [[GATEWAY]] * 2),
        ("the gateway rejects: admin-prohibited", [[GATEWAY]] * 2, [[GATEWAY]] * 2),
        (
            "nobody answers the gateway's ARP",
            [[GATEWAY], [], [GATEWAY]],
            [[GATEWAY], [GATEWAY]],
        ),
    ],
)
def test_hops(note: str, by_traceroute: list[list[str]], by_tracepath: list[list[str]]) -> None:
    # tracepath says `reached` of the gateway that refuses in the monitor's name.
    for capture, parse, expected in (
        (noted("traceroute -n -N", note), parse_traceroute, by_traceroute),
        (noted("tracepath", note), parse_tracepath, by_tracepath),
    ):
        assert [list(hop.addresses) for hop in parse(capture.stdout)] == expected


def test_marks() -> None:
    prohibited = "the gateway rejects: admin-prohibited"
    assert parse_traceroute(noted("traceroute", prohibited).stdout)[1].marks == ("!X",)
    assert parse_tracepath(noted("tracepath", prohibited).stdout)[1].marks == ("!H",)
    assert parse_tracepath(noted("tracepath", "the gateway's leg takes 1400 bytes").stdout)


def test_a_trace_with_many_probes_silences_the_next() -> None:
    again = noted("traceroute -n -w", "asked again at once, 16 probes at a time")
    assert [hop.addresses for hop in parse_traceroute(again.stdout)][1:] == [(), (), ()]
    (ask, *_) = Hops(CLUSTER, Answering({})).traced.observation.requests(CLUSTER)
    assert isinstance(ask, HostCommand)
    assert ask.command == "traceroute -n -N 3 -w 2 -q 3 -m 4 192.168.96.10"


@pytest.mark.parametrize("note", ["no route", "unreachable", "black hole"])
def test_no_way_is_an_answer(note: str) -> None:
    request = HostCommand("rke-cp01", "ping", 1.0)
    ping = noted("ping -n -c 3 -W 2", note)
    assert pinged({request: output(request, ping)}, request, MONITOR).no_route
    nc, bash = noted("nc", note), noted("timeout", note)
    assert met_by_nc(nc.rc, nc.stderr) is Door.NO_ROUTE
    assert met_by_bash(bash.rc, bash.stdout, bash.stderr) is Door.NO_ROUTE
    refused = noted("ip -j route get", note)
    assert isinstance(way({request: output(request, refused)}, request), NoRoute)
    with pytest.raises(Misread):
        parse_tracepath(noted("tracepath", note).stdout)


@pytest.mark.parametrize(
    ("note", "door"),
    [
        ("the gateway rejects: admin-prohibited", Door.NO_ROUTE),
        ("the gateway rejects: port-unreachable", Door.REFUSED),
        ("the gateway drops", Door.TIMED_OUT),
    ],
)
def test_closed_doors(note: str, door: Door) -> None:
    nc, bash = noted("nc", note), noted("timeout", note)
    assert met_by_nc(nc.rc, nc.stderr) is door
    assert met_by_bash(bash.rc, bash.stdout, bash.stderr) is door


@pytest.mark.parametrize(
    ("note", "door"),
    [
        ("open", Door.OPEN),
        ("closed", Door.REFUSED),
        ("dropped", Door.TIMED_OUT),
        ("no route", Door.NO_ROUTE),
        ("black hole", Door.NO_ROUTE),
    ],
)
def test_ncat(note: str, door: Door) -> None:
    capture = noted("ncat", note)
    assert met_by_nc(capture.rc, capture.stderr) is door


def test_a_learnt_mtu_outlives_its_reason() -> None:
    request = HostCommand("rke-cp01", "ping", 1.0)
    for note in ("the gateway's leg takes 1400 bytes", "mended, and the node has learnt 1400"):
        ping = pinged({request: output(request, noted("ping", note))}, request, MONITOR)
        assert (ping.received, ping.errors) == (0, 3)
        assert "mtu=1400" in ping.remarks
    learnt = noted("ip -j route get", "the node has learnt 1400")
    assert isinstance(way({request: output(request, learnt)}, request), Route)


@pytest.mark.parametrize("arping", ["arping", "busybox arping"])
def test_claims(arping: str) -> None:
    assert parse_replies(noted(arping, "nobody else has it").stdout) == ((), 0)
    machines, count = parse_replies(noted(arping, "somebody has it").stdout)
    assert (len(machines), len(machines[0]), count) == (1, 17, 1)


@pytest.mark.parametrize("note", ["nobody has it", "somebody has it"])
def test_the_other_arping_is_not_taken_for_this_one(note: str) -> None:
    other = noted("arping", f"the other arping, {note}")
    asker = Answering(
        {
            "sudo -n arping": other,
            "sudo -n busybox arping": noted("busybox arping", "nobody else has it"),
        }
    )
    claims = Claimants(CLUSTER, asker).of_address(IPv4Address("192.168.96.31"))
    assert claims.machines == ()
    assert len(asker.asked) == 2


@pytest.mark.parametrize(
    "words",
    ["sudo: arping: command not found", "sudo: busybox: command not found"],
)
def test_without_any_arping_nothing_is_known(words: str) -> None:
    missing = Captured("", "", f"{words}\n", 1)
    asker = Answering({"sudo -n": missing})
    with pytest.raises(Undecided, match="install iputils-arping"):
        Claimants(CLUSTER, asker).of_address(IPv4Address("192.168.96.31"))


def test_a_leg_that_is_down_is_not_a_missing_tool() -> None:
    asker = Answering({"sudo -n arping": noted("arping", "the leg is down")})
    with pytest.raises(Undecided, match="is the leg up"):
        Claimants(CLUSTER, asker).of_address(IPv4Address("192.168.96.31"))


@pytest.mark.parametrize(
    "unable",
    [
        *like(FILE, r"^(?:inetutils-|busybox )traceroute"),
        Captured("", "", "bash: line 1: traceroute: command not found\n", 127),
    ],
    ids=lambda each: each.command or "none",
)
def test_a_traceroute_that_cannot_tell_is_replaced(unable: Captured) -> None:
    asker = Answering({"traceroute": unable, "tracepath": noted("tracepath", "all is well")})
    traces = Hops(CLUSTER, asker).traced()
    assert {trace.tool for trace in traces} == {"tracepath"}
    assert all(isinstance(trace.hops, tuple) and len(trace.hops) == 2 for trace in traces)


def test_a_traceroute_that_says_no_is_not_replaced() -> None:
    asker = Answering({"traceroute": noted("traceroute", "no route")})
    assert {trace.tool for trace in Hops(CLUSTER, asker).traced()} == {"traceroute"}
