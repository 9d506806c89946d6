"""D.1 to D.4, D.6 and D2.labels: how workers have joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from selftests.gates.deciding import decide
from selftests.gates.joined import (
    CP_TAINT,
    LIST_NODES,
    STAT_KUBECONFIG,
    WORKERS,
    Joined,
    joined,
    show,
)
from selftests.gates.world import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

WORKER = "rke-platform02"
LABEL = "wetopi.io/role"
PER_WORKER = ("D.1", "D.4", "D.6")
OF_THE_CLUSTER = ("D.2", "D.3", "D2.labels")


@pytest.mark.parametrize("gate", [*PER_WORKER, *OF_THE_CLUSTER])
def test_a_healthy_cluster_passes_at_once(gate: str) -> None:
    decided = decide(joined(), gate, WORKER if gate in PER_WORKER else "")
    assert (decided.verdict, decided.waited) == ("PASS", 0.0), decided.text


@pytest.mark.parametrize("gate", ["D.1", "D.6", *OF_THE_CLUSTER])
@pytest.mark.parametrize(
    "body",
    [
        Reply(silent="no answer within 20 s"),
        Reply('{"kind":"Status","reason":"Forbidden","message":"no"}', rc=403),
        Reply('{"kind":"Status","message":"page not found"}', rc=404),
        Reply('{"kind":"PodList","items":[{}]}'),
        Reply(raw=b"\xff"),
    ],
)
def test_an_api_that_does_not_answer_is_unknown(gate: str, body: Reply) -> None:
    world = joined()
    world.bodies = {LIST_NODES: body, f"{LIST_NODES}/{WORKER}": body}
    decided = decide(world, gate, WORKER if gate in PER_WORKER else "")
    assert (decided.verdict, decided.waited) == ("UNKNOWN", 0.0)


@pytest.mark.parametrize(
    ("addresses", "verdict", "waited"),
    [
        (["10.72.0.42"], "PASS", 0),
        (["10.72.0.42", "fd00::42"], "PASS", 0),
        (["10.72.0.4"], "FAIL", 0),
        (["10.72.0.142"], "FAIL", 0),
        (["10.72.0.42", "192.168.1.1"], "FAIL", 0),
        ([], "FAIL", 600),
        (["fd00::42"], "FAIL", 600),
        (["here"], "UNKNOWN", 0),
    ],
)
def test_the_address_is_the_inventorys(addresses: list[str], verdict: str, waited: float) -> None:
    world = joined()
    world.nodes[WORKER]["status"]["addresses"] = [
        {"type": "InternalIP", "address": each} for each in addresses
    ] + [{"type": "ExternalIP", "address": "192.0.2.1"}]
    decided = decide(world, "D.1", WORKER)
    assert (decided.verdict, decided.waited) == (verdict, waited), decided.text


def test_a_worker_that_is_late_is_waited_for() -> None:
    world = joined()
    late = world.nodes.pop(WORKER)
    world.unit(WORKER, ActiveState="activating", SubState="start")

    def arrive(world: Joined, now: float) -> None:
        if now >= 580:
            world.nodes[WORKER] = late
            world.unit(WORKER)

    world.happens = arrive
    decided = decide(world, "D.1", WORKER)
    assert (decided.verdict, decided.waited) == ("PASS", 580), decided.text


@pytest.mark.parametrize("name", ["rke-platform2", "RKE-PLATFORM02", "rke-platform02.local"])
def test_a_worker_under_another_name_is_not_registered(name: str) -> None:
    world = joined()
    world.nodes[name] = world.nodes.pop(WORKER)
    decided = decide(world, "D.1", WORKER)
    assert (decided.verdict, decided.waited) == ("FAIL", 600)
    assert "rke-platform02 is not registered under that name" in decided.text[:400]
    assert "for 10.72.0.42 under another name" in decided.text[:400]


@pytest.mark.parametrize(
    ("reply", "verdict", "waited"),
    [
        ({"LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead"}, "FAIL", 0),
        ({"ActiveState": "failed", "SubState": "failed"}, "FAIL", 600),
        ({"ActiveState": "activating", "SubState": "auto-restart"}, "FAIL", 600),
        ({"ActiveState": "inactive", "SubState": "dead"}, "FAIL", 600),
    ],
)
def test_the_agent_must_be_active(reply: dict[str, str], verdict: str, waited: float) -> None:
    world = joined()
    world.unit(WORKER, **reply)
    decided = decide(world, "D.1", WORKER)
    assert (decided.verdict, decided.waited) == (verdict, waited), decided.text
    assert "rke2-agent.service" in decided.text[:400]


def test_an_agent_that_cannot_be_asked_is_unknown() -> None:
    world = joined()
    world.say(WORKER, show(WORKER), Reply(silent=f"{WORKER}: no answer within 15 s"))
    assert decide(world, "D.1", WORKER).verdict == "UNKNOWN"


@pytest.mark.parametrize("gate", ["D.2", "D2.labels"])
@pytest.mark.parametrize(
    ("name", "labels", "verdict"),
    [
        (WORKER, {LABEL: "platform", "other": "platform"}, "PASS"),
        (WORKER, {LABEL: "platform2"}, "FAIL"),
        (WORKER, {LABEL: "Platform"}, "FAIL"),
        (WORKER, {LABEL: ""}, "FAIL"),
        (WORKER, {"wetopi.io/roles": "platform"}, "FAIL"),
        (WORKER, {}, "FAIL"),
        ("rke-cp02", {LABEL: "platform"}, "FAIL"),
        ("rke-cp02", {LABEL: "control"}, "PASS"),
        ("foreign", {LABEL: "platform"}, "FAIL"),
        ("foreign", {}, "PASS"),
        (WORKER, {LABEL: 1}, "UNKNOWN"),
    ],
)
def test_the_label_is_exact_and_on_exactly_the_workers(
    gate: str, name: str, labels: dict[str, Any], verdict: str
) -> None:
    world = joined()
    if name == "foreign":
        world.nodes[name] = {"metadata": {"name": name}}
    world.nodes[name]["metadata"]["labels"] = labels
    decided = decide(world, gate)
    assert decided.verdict == verdict, decided.text
    if verdict == "FAIL":
        assert name in decided.text


@pytest.mark.parametrize("gate", ["D.2", "D2.labels"])
def test_a_worker_that_is_missing_has_no_label(gate: str) -> None:
    world = joined()
    del world.nodes[WORKER]
    assert decide(world, gate).verdict == "FAIL"
    world.nodes.clear()
    assert decide(world, gate).verdict == "FAIL"


OTHER = {"key": "CriticalAddonsOnly", "value": "true", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("taints", "verdict"),
    [
        ([CP_TAINT], "PASS"),
        ([OTHER, CP_TAINT | {"timeAdded": "2026-11-30T12:00:00Z"}], "PASS"),
        ([OTHER], "FAIL"),
        ([], "FAIL"),
        ([CP_TAINT | {"effect": "NoExecute"}], "FAIL"),
        ([CP_TAINT | {"effect": "PreferNoSchedule"}], "FAIL"),
        ([CP_TAINT | {"value": ""}], "FAIL"),
        ([CP_TAINT | {"value": "True"}], "FAIL"),
        ([CP_TAINT | {"key": "node-role.kubernetes.io/master"}], "FAIL"),
        ([{"key": "x"}], "UNKNOWN"),
    ],
)
def test_the_taint_is_exact_and_on_each_control_plane(
    taints: list[dict[str, str]], verdict: str
) -> None:
    world = joined()
    world.taint("rke-cp03", *taints)
    decided = decide(world, "D.3")
    assert decided.verdict == verdict, decided.text
    if verdict == "FAIL":
        assert "rke-cp03 has not the taint node-role.kubernetes.io/control-plane=true" in (
            decided.text
        )


def test_a_control_plane_that_is_missing_has_no_taint() -> None:
    world = joined()
    del world.nodes["rke-cp01"]
    assert decide(world, "D.3").verdict == "FAIL"


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply("600 root root regular file\n"), "PASS"),
        (Reply("600 root adm regular file\n"), "PASS"),
        (Reply("600 root root regular empty file\n"), "FAIL"),
        (Reply("777 root root symbolic link\n"), "FAIL"),
        (Reply("600 root root directory\n"), "FAIL"),
        (Reply("600 ubuntu root regular file\n"), "FAIL"),
        (Reply("640 root root regular file\n"), "FAIL"),
        (Reply("400 root root regular file\n"), "FAIL"),
        (Reply("4600 root root regular file\n"), "FAIL"),
        (
            Reply(
                rc=1,
                stderr="stat: cannot statx '/var/lib/rancher/rke2/agent/kubelet.kubeconfig': "
                "No such file or directory\n",
            ),
            "FAIL",
        ),
        (Reply(rc=1, stderr="stat: cannot statx 'x': Permission denied\n"), "UNKNOWN"),
        (Reply(rc=1, stderr="sudo: a password is required\n"), "UNKNOWN"),
        (Reply(silent="rke-platform02: no answer within 15 s"), "UNKNOWN"),
        (Reply(""), "UNKNOWN"),
        (Reply("root root 600 regular file\n"), "UNKNOWN"),
    ],
)
def test_the_kubeconfig_is_roots_alone(reply: Reply, verdict: str) -> None:
    world = joined()
    world.say(WORKER, STAT_KUBECONFIG, reply)
    decided = decide(world, "D.4", WORKER)
    assert decided.verdict == verdict, decided.text
    assert WORKER in decided.text or verdict == "PASS"
    assert decide(world, "D.4", WORKERS[0]).verdict == "PASS"


@pytest.mark.parametrize(
    "taint",
    [
        {"key": "node.cilium.io/agent-not-ready", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"},
        {"key": "dedicated", "value": "x", "effect": "PreferNoSchedule"},
    ],
)
def test_a_lasting_taint_fails_and_a_passing_one_does_not(taint: dict[str, str]) -> None:
    world = joined()
    world.taint(WORKER, taint)
    decided = decide(world, "D.6", WORKER)
    assert (decided.verdict, decided.waited) == ("FAIL", 600)
    assert f"{WORKER} has the taint {taint['key']}" in decided.text[:400]

    def goes(world: Joined, now: float) -> None:
        world.taint(WORKER, *([taint] if now < 500 else []))

    world.happens = goes
    decided = decide(world, "D.6", WORKER)
    assert (decided.verdict, decided.waited) == ("PASS", 500)


def test_a_taint_on_another_node_is_not_this_workers() -> None:
    world = joined()
    world.taint("rke-platform03", {"key": "x", "effect": "NoSchedule"})
    assert decide(world, "D.6", WORKER).verdict == "PASS"


def test_a_worker_that_is_missing_is_no_worker_without_taints() -> None:
    world = joined()
    del world.nodes[WORKER]
    assert decide(world, "D.6", WORKER).verdict == "FAIL"


@pytest.mark.parametrize(
    ("gate", "change"),
    [
        ("D.2", lambda world: world.nodes[WORKER]["metadata"].update(labels={LABEL: "\x1b[31m\n"})),
        ("D.6", lambda world: world.taint(WORKER, {"key": "\x1b[31m\n" * 99, "effect": "\r"})),
        ("D.3", lambda world: world.taint("rke-cp01", {"key": "\x1b[31m\n", "effect": "\r"})),
    ],
)
def test_hostile_text_is_harmless(gate: str, change: Callable[[Joined], None]) -> None:
    world = joined()
    change(world)
    decided = decide(world, gate, WORKER if gate in PER_WORKER else "")
    assert decided.verdict == "FAIL"
    assert decided.text.isprintable()
