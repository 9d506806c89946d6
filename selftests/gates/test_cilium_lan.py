"""E.5: Hubble's port and the tunnel, between every two nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selftests.gates.deciding import decide
from selftests.gates.installed import Installed, agent, installed, knocking, view
from selftests.gates.joined import WORKERS
from selftests.gates.texts import CPS
from selftests.gates.world import Reply

BAD = {"lastProbed": "2026-11-30T11:58:23Z", "status": "Connection timed out"}
GOOD = {"lastProbed": "2026-11-30T11:58:23Z", "latency": 203847}
NEVER = {"lastProbed": "0001-01-01T00:00:00Z"}
REFUSED = "1 bash: connect: Connection refused bash: line 1: /dev/tcp/x/4244: Connection refused"


@pytest.mark.parametrize(
    ("text", "verdict", "said"),
    [
        (REFUSED, "FAIL", "rke-cp02, TCP 4244 (Hubble): refused from rke-cp01; next: nothing lis"),
        ("124", "FAIL", "timed out from rke-cp01; next: packets are dropped"),
        ("124 ", "FAIL", "timed out"),
        ("1 bash: connect: Connection timed out", "FAIL", "timed out"),
        ("1 bash: connect: No route to host", "FAIL", "no route"),
        ("1 bash: connect: Network is unreachable", "FAIL", "no route"),
        ("0", "PASS", ""),
        ("1", "UNKNOWN", "does not say how"),
        ("127 timeout: failed to run command", "UNKNOWN", "does not say how"),
        ("1 bash: /dev/tcp/x/4244: No such file or directory", "UNKNOWN", "does not say how"),
    ],
)
def test_one_port(text: str, verdict: str, said: str) -> None:
    world = installed()
    world.knocks("rke-cp01", rke_cp02=text)
    decided = decide(world, "E.5")
    assert decided.verdict == verdict, decided.text
    assert said in decided.text


@pytest.mark.parametrize(
    "reply",
    [
        Reply(""),
        Reply("10.72.0.22 0\n"),
        Reply("10.72.0.22 0\n" * 5),
        Reply("hello\n"),
        Reply(silent="rke-cp01: no answer"),
        Reply(stderr="bash: syntax error\n", rc=2),
    ],
)
def test_a_node_that_does_not_tell_is_unknown(reply: Reply) -> None:
    world = installed()
    world.say("rke-cp01", knocking("rke-cp01"), reply)
    decided = decide(world, "E.5")
    assert decided.verdict == "UNKNOWN"
    world.knocks("rke-cp02", rke_cp03=REFUSED)
    assert decide(world, "E.5").verdict == "FAIL"


@pytest.mark.parametrize(
    ("ways", "verdict", "said"),
    [
        ({"http": BAD, "icmp": BAD}, "FAIL", "rke-cp03's endpoint `10.64.2.118` is not reached"),
        ({"http": BAD}, "FAIL", "http: `Connection timed out`"),
        ({"icmp": BAD}, "FAIL", "icmp: `Connection timed out`"),
        ({"http": NEVER}, "UNKNOWN", "has not tried http"),
        ({"http": None, "icmp": None}, "UNKNOWN", "has not tried icmp and http"),
        ({"ip": ""}, "UNKNOWN", "knows no endpoint of rke-cp03"),
        ({"ip": "", "http": None, "icmp": None}, "UNKNOWN", "knows no endpoint of rke-cp03"),
        ({"http": {"latency": 1}}, "PASS", ""),
        ({"http": {**GOOD, "lastProbed": "yesterday"}}, "UNKNOWN", "lastProbed"),
        ({"http": {**GOOD, "status": 3}}, "UNKNOWN", "status"),
    ],
)
def test_one_endpoint(ways: dict[str, Any], verdict: str, said: str) -> None:
    world = installed()
    world.probe("rke-cp01", "rke-cp03", **ways)
    decided = decide(world, "E.5")
    assert decided.verdict == verdict, decided.text
    assert said in decided.text


def test_the_nodes_own_answer_proves_nothing_of_the_tunnel() -> None:
    world = installed()
    for health in world.views.values():
        for row in health["nodes"]:
            del row["health-endpoint"]
    decided = decide(world, "E.5")
    assert decided.verdict == "UNKNOWN"
    assert "endpoint health checking is off" in decided.text
    assert decided.waited == 0.0


def test_its_own_endpoint_says_nothing_of_others() -> None:
    world = installed()
    world.probe("rke-cp01", "rke-cp01", http=BAD, icmp=BAD)
    assert decide(world, "E.5").verdict == "PASS"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(stderr="Error: Cannot get status: … no such file or directory\n", rc=1), "rc 1"),
        (Reply("OK\n"), "cannot be read"),
        (Reply(silent="the stream ended without a status"), "without a status"),
        (Reply('{"kind": "Status", "message": "error dialing backend"}', rc=500), "dialing"),
        (Reply(json.dumps(view("rke-cp02"))), "takes itself for `rke-cp02`"),
        (Reply("x", cut=1), "read cap"),
    ],
)
def test_an_agent_that_does_not_tell_is_unknown(reply: Reply, said: str) -> None:
    world = installed()
    world.ends[agent("rke-cp01")] = reply
    decided = decide(world, "E.5")
    assert decided.verdict == "UNKNOWN"
    assert said in decided.text


def test_a_clusters_name_before_a_nodes_is_none_of_it() -> None:
    world = installed()
    for health in world.views.values():
        for each in (health["local"], *health["nodes"]):
            each["name"] = f"wetopi/{each['name']}"
    assert decide(world, "E.5").verdict == "PASS"


@pytest.mark.parametrize("count", [0, 2])
def test_a_node_without_just_one_agent_is_unknown(count: int) -> None:
    world = installed()
    if count:
        world.copy(agent("rke-cp02"), "cilium-x")
    else:
        world.remove(agent("rke-cp02"))
    decided = decide(world, "E.5")
    assert decided.verdict == "UNKNOWN"
    assert f"rke-cp02 has {count} running agents" in decided.text


def test_only_registered_nodes_take_part() -> None:
    world = control_planes_only()
    decided = decide(world, "E.5")
    assert decided.verdict == "PASS"
    assert decided.facts["node LAN"] == {"nodes": list(CPS), "TCP 4244": {"open": 6}}


def control_planes_only() -> Installed:
    world = installed()
    for name in WORKERS:
        del world.nodes[name]
    for name in CPS:
        others = [each for each in CPS if each != name]
        lines = "".join(f"10.72.0.2{CPS.index(each) + 1} 0\n" for each in others)
        world.say(name, knocking(name, CPS), Reply(lines))
    return world


@pytest.mark.parametrize("left", [(), CPS[:1]])
def test_nothing_is_proved_by_no_pair(left: tuple[str, ...]) -> None:
    world = control_planes_only()
    for name in set(CPS) - set(left):
        del world.nodes[name]
    decided = decide(world, "E.5")
    assert decided.verdict == "UNKNOWN"
    assert "there is no way to try" in decided.text


def test_a_control_plane_that_is_not_registered_is_unknown() -> None:
    world = installed()
    del world.nodes["rke-cp02"]
    others = tuple(name for name in (*CPS, *WORKERS) if name != "rke-cp02")
    for name in others:
        lines = world.replies[name, knocking(name)][0].stdout.splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith("10.72.0.22 "))
        world.say(name, knocking(name, others), Reply(text))
    decided = decide(world, "E.5")
    assert decided.verdict == "UNKNOWN"
    assert "rke-cp02 is not registered" in decided.text


@pytest.mark.parametrize("ways", [{"http": BAD, "icmp": BAD}, {"http": NEVER, "icmp": NEVER}])
def test_an_agents_next_probe_is_waited_for(ways: dict[str, Any]) -> None:
    world = installed()
    world.probe("rke-cp01", "rke-cp03", **ways)

    def happens(_world: object, now: float) -> None:
        if now >= 90:
            world.probe("rke-cp01", "rke-cp03", http=GOOD, icmp=GOOD)

    world.happens = happens
    decided = decide(world, "E.5")
    assert decided.verdict == "PASS"
    assert 90 <= decided.waited < 110
