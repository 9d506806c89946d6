"""E.2: what `cilium status` says, held against the inventory and the API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selftests.gates.deciding import Decided, decide
from selftests.gates.installed import OPS, STATUS, installed, status
from selftests.gates.world import Reply

FINE = {"Errors": None, "Warnings": None, "Disabled": False}
RELAY = {"hubble-relay": {"hubble-relay": FINE}}


def told(**changes: Any) -> Decided:
    world = installed()
    world.status(**changes)
    return decide(world, "E.2")


def agents(desired: int, ready: int, available: int) -> dict[str, Any]:
    counts = {"Type": "DaemonSet", "Desired": desired, "Ready": ready, "Available": available}
    return {"cilium": counts}


def ailing(component: str, pod: str, **found: Any) -> dict[str, Any]:
    return {component: {pod: {**FINE, **found}}}


@pytest.mark.parametrize(
    ("changes", "verdict", "said"),
    [
        ({"pod_state": agents(3, 3, 3)}, "FAIL", "Desired 3, Ready 3, Available 3 agents, but 6"),
        ({"pod_state": agents(6, 5, 6)}, "FAIL", "Ready 5 agents"),
        ({"pod_state": agents(6, 6, 5)}, "FAIL", "Available 5 agents"),
        ({"pod_state": agents(7, 7, 7)}, "FAIL", "Desired 7"),
        ({"pod_state": agents(0, 0, 0)}, "FAIL", "Desired 0"),
        ({"pod_state": {}}, "FAIL", "knows no DaemonSet cilium"),
        ({"pod_state": None}, "FAIL", "knows no DaemonSet cilium"),
        ({"errors": {**RELAY, **ailing("cilium", "cilium-1", Errors=[{}])}}, "FAIL",
         "`cilium cilium-1` has 1 errors and 0 warnings"),
        ({"errors": {**RELAY, **ailing("cilium", "cilium-1", Warnings=[{}, {}])}}, "FAIL",
         "0 errors and 2 warnings"),
        ({"errors": {**RELAY, **ailing("cilium-operator", "cilium-operator", Errors=["down"])}},
         "FAIL", "`cilium-operator` has 1 errors and 0 warnings (`down`)"),
        ({"errors": ailing("hubble-relay", "hubble-relay", Errors=[{}])}, "FAIL",
         "`hubble-relay` has 1 errors"),
        ({"errors": ailing("hubble-relay", "hubble-relay", Disabled=True)}, "FAIL",
         "hubble-relay is disabled"),
        ({"errors": {**RELAY, **ailing("cilium-envoy", "cilium-envoy", Disabled=True)}},
         "PASS", ""),
        ({"errors": {}}, "UNKNOWN", "says nothing of hubble-relay"),
        ({"errors": None}, "UNKNOWN", "says nothing of hubble-relay"),
        ({"collection_errors": [{}]}, "UNKNOWN", "could not collect 1 things"),
        ({"collection_errors": None}, "PASS", ""),
        ({"errors": ailing("hubble-relay", "hubble-relay", Errors={})}, "UNKNOWN", ""),
        ({"pod_state": {"cilium": {"Desired": "6", "Ready": 6, "Available": 6}}}, "UNKNOWN", ""),
        ({"pod_state": {"cilium": {"Desired": 6}}}, "UNKNOWN", ""),
    ],
)  # fmt: skip
def test_status(changes: dict[str, Any], verdict: str, said: str) -> None:
    decided = told(**changes)
    assert decided.verdict == verdict, decided.text
    assert said in decided.text


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply("    /¯¯\\\n /¯¯\\__/¯¯\\    Cilium:   OK\n"), "UNKNOWN"),
        (Reply(""), "UNKNOWN"),
        (Reply("", "Error: unable to create Kubernetes client: no such file\n", 1), "UNKNOWN"),
        (Reply(json.dumps(status()), "Error: status check failed: [EOF]\n", 1), "UNKNOWN"),
        (Reply(json.dumps(status()), "W1130 noise\n"), "PASS"),
        (Reply(stderr="bash: /home/ubuntu/bin/cilium: No such file or directory\n", rc=127),
         "UNKNOWN"),
        (Reply(silent="ops01: no answer within 300 s"), "UNKNOWN"),
        (Reply("{}"), "UNKNOWN"),
        (Reply("[]"), "UNKNOWN"),
        (Reply(json.dumps(status()), cut=1), "UNKNOWN"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_unknown(reply: Reply, verdict: str) -> None:
    world = installed()
    world.say(OPS, STATUS, reply)
    assert decide(world, "E.2").verdict == verdict


@pytest.mark.parametrize("part", ["pod_state", "errors", "cilium_status"])
def test_a_name_that_steers_a_terminal_is_shown_and_not_obeyed(part: str) -> None:
    hostile = {"\x1b[2J\x07" + "x" * 9000: "neither object nor null"}
    decided = told(**{part: hostile if part != "cilium_status" else {"x": hostile}})
    assert decided.text.isprintable()
    assert len(decided.text) < 2000


def test_what_the_agents_say_is_told_beside_the_counts() -> None:
    failing = {"consecutive-failure-count": 7, "last-failure-msg": "no route"}
    said = {
        "cilium": {"state": "Ok", "msg": "1.20.1"},
        "hubble": {"state": "Failure", "msg": "\x1b[31mdown"},
        "cluster": {"ciliumHealth": {"state": "Warning", "msg": "slow"}},
        "controllers": [{"name": "sync", "status": failing}, {"name": "x", "status": None}],
    }
    decided = told(
        errors={**RELAY, **ailing("cilium", "cilium-1", Errors=[{}, {}])},
        cilium_status={"cilium-1": said, "cilium-2": None},
    )
    assert decided.verdict == "FAIL"
    assert "hubble: \\x1b[31mdown" in decided.text
    assert "health: slow" in decided.text


def test_as_many_agents_as_the_inventorys_nodes_that_are_registered() -> None:
    world = installed()
    for name in ("rke-platform01", "rke-platform02", "rke-platform03"):
        del world.nodes[name]
    world.status(pod_state=agents(3, 3, 3))
    assert decide(world, "E.2").verdict == "PASS"
    world.status(pod_state=agents(6, 6, 6))
    assert decide(world, "E.2").verdict == "FAIL"


def test_a_node_that_the_inventory_has_not_is_named() -> None:
    world = installed()
    world.nodes["stranger"] = {**world.nodes["rke-platform01"], "metadata": {"name": "stranger"}}
    world.status(pod_state=agents(7, 7, 7))
    decided = decide(world, "E.2")
    assert decided.verdict == "FAIL"
    assert "the inventory has not `stranger`" in decided.text


def test_the_api_must_agree() -> None:
    world = installed()
    world.remove("cilium-5")
    decided = decide(world, "E.2")
    assert decided.verdict == "FAIL"
    assert "no pod on rke-platform03" in decided.text
    world.say(OPS, STATUS, Reply(silent="ops01: no answer within 300 s"))
    assert decide(world, "E.2").verdict == "FAIL"


def test_what_starts_is_waited_for() -> None:
    world = installed()
    starting, good = (Reply(json.dumps(status(pod_state=agents(6, n, n)))) for n in (4, 6))
    world.say(OPS, STATUS, starting)

    def happens(_world: object, now: float) -> None:
        if now >= 100:
            world.say(OPS, STATUS, good)

    world.happens = happens
    decided = decide(world, "E.2")
    assert decided.verdict == "PASS"
    assert 100 <= decided.waited < 120


def test_what_never_starts_fails_within_its_limit() -> None:
    world = installed()
    world.status(pod_state=agents(6, 4, 4))
    decided = decide(world, "E.2")
    assert decided.verdict == "FAIL"
    assert decided.waited == world.cluster.limits.cilium_status
