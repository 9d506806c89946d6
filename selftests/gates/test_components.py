"""The components of kube-system: D2.coredns to D2.kube-proxy."""

from __future__ import annotations

from typing import Any

import pytest

from selftests.gates.deciding import decide
from selftests.gates.joined import NODES, Joined, joined, select
from selftests.gates.world import Reply

# Gate, a pod of it, the selector that the runbook has.
COMPONENTS = {
    "D2.coredns": ("coredns-", "k8s-app=kube-dns"),
    "D2.autoscaler": ("autoscaler-", "k8s-app=kube-dns-autoscaler"),
    "D2.metrics": ("metrics-", "app=rke2-metrics-server"),
    "D2.operator": ("operator-", "io.cilium/app=operator"),
    "D2.relay": ("relay-", "k8s-app=hubble-relay"),
    "D2.agents": ("cilium-", "k8s-app=cilium"),
    "D2.kube-proxy": ("kube-proxy-", "component=kube-proxy"),
}
ON_EACH = ("D2.agents", "D2.kube-proxy")
SINCE = "2026-11-30T11:48:02Z"
GRACE = 300
each_gate = pytest.mark.parametrize("gate", COMPONENTS)


def broken(gate: str, **status: Any) -> Joined:
    world = joined()
    world.pod(COMPONENTS[gate][0])["status"] |= status
    return world


@each_gate
def test_a_healthy_component_passes_at_once(gate: str) -> None:
    decided = decide(joined(), gate)
    assert (decided.verdict, decided.waited) == ("PASS", 0.0), decided.text
    assert decided.facts["pods"]


@each_gate
def test_a_selector_that_finds_nothing_fails_and_is_named(gate: str) -> None:
    """The chart lost its label, or another namespace has such a pod (traps, row 23)."""
    name, selector = COMPONENTS[gate]
    world = joined()
    world.copy(name, f"{name}elsewhere", namespace="default")
    for pod in world.pods:
        key, value = selector.split("=")
        labels = pod["metadata"]["labels"]
        if labels.get(key) == value and pod["metadata"]["namespace"] == "kube-system":
            labels[key] = f"{value}-2"
    decided = decide(world, gate)
    assert (decided.verdict, decided.waited) == ("FAIL", GRACE)
    assert f"no pod in kube-system has the label {selector}; next: " in decided.text[:400]


@each_gate
@pytest.mark.parametrize(
    ("status", "says"),
    [
        (
            {
                "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": SINCE}],
                "containerStatuses": [
                    {
                        "name": "main",
                        "ready": False,
                        "restartCount": 12,
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    }
                ],
            },
            f"Running, not Ready since {SINCE}, container main (CrashLoopBackOff), 12 restarts",
        ),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "lastTransitionTime": SINCE,
                    }
                ],
                "containerStatuses": [],
            },
            f"Pending (Unschedulable) since {SINCE}",
        ),
        ({"phase": "Failed", "reason": "Evicted"}, "Failed (Evicted) since"),
        ({"phase": "Succeeded"}, "Succeeded since"),
        ({"phase": "Unknown"}, "Unknown since"),
        ({"containerStatuses": []}, "Running, not Ready"),
        (
            {"containerStatuses": [{"name": "a", "ready": True}, {"name": "b", "ready": False}]},
            "container b",
        ),
        (
            # The node is dead: only the node controller's condition tells of it.
            {"conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": SINCE}]},
            f"Running, not Ready since {SINCE}, all containers ready but condition Ready False",
        ),
        (
            {"conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": SINCE}]},
            "all containers ready but condition Ready Unknown",
        ),
        ({"conditions": []}, "all containers ready but condition Ready absent"),
    ],
)
def test_a_pod_that_is_not_healthy_fails(gate: str, status: dict[str, Any], says: str) -> None:
    world = broken(gate, **status)
    pod = world.pod(COMPONENTS[gate][0])
    decided = decide(world, gate)
    assert (decided.verdict, decided.waited) == ("FAIL", GRACE)
    summary = decided.text[:400]
    assert f"pod `{pod['metadata']['name']}` on {pod['spec']['nodeName']} is " in summary
    assert says in summary
    assert "next: `kubectl -n kube-system " in summary


@each_gate
def test_a_terminating_pod_is_no_healthy_one(gate: str) -> None:
    world = joined()
    world.pod(COMPONENTS[gate][0])["metadata"] |= {
        "deletionTimestamp": "2026-11-30T11:48:32Z",
        "deletionGracePeriodSeconds": 30,
    }
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert f"is Terminating since {SINCE}" in decided.text


@each_gate
def test_what_recovers_within_the_grace_time_passes(gate: str) -> None:
    world = broken(gate, phase="Pending")
    status = world.pod(COMPONENTS[gate][0])["status"]

    def recover(_world: Joined, now: float) -> None:
        status["phase"] = "Running" if now >= 280 else "Pending"

    world.happens = recover
    assert decide(world, gate).verdict == "PASS"


@pytest.mark.parametrize(
    ("gate", "verdict"),
    [
        ("D2.coredns", "PASS"),
        ("D2.operator", "FAIL"),
        ("D2.relay", "FAIL"),
        ("D2.metrics", "FAIL"),
        ("D2.autoscaler", "FAIL"),
    ],
)
def test_the_least_number(gate: str, verdict: str) -> None:
    world = joined()
    name = world.pod(COMPONENTS[gate][0])["metadata"]["name"]
    world.remove(name)
    decided = decide(world, gate)
    assert decided.verdict == verdict, decided.text
    if gate == "D2.operator":
        assert "1 of at least 2 pods with the label io.cilium/app=operator" in decided.text


@pytest.mark.parametrize("gate", ON_EACH)
def test_two_on_one_node_are_not_one_on_each(gate: str) -> None:
    """As many pods as nodes, all of them Running and Ready."""
    world = joined()
    pods = [pod for pod in world.pods if pod["metadata"]["name"].startswith(COMPONENTS[gate][0])]
    moved = next(pod for pod in pods if pod["spec"]["nodeName"] == "rke-platform03")
    moved["spec"]["nodeName"] = "rke-platform02"
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert "2 pods on rke-platform02, expected one" in decided.text
    assert "no pod on rke-platform03" in decided.text


@pytest.mark.parametrize("gate", ON_EACH)
def test_a_leftover_beside_its_successor_is_named(gate: str) -> None:
    world = joined()
    world.copy(COMPONENTS[gate][0], "left-over", deletionTimestamp=SINCE)
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert f"`left-over` (Terminating since {SINCE})" in decided.text


@pytest.mark.parametrize("gate", ON_EACH)
@pytest.mark.parametrize("node", [NODES[0], NODES[-1]])
def test_a_node_without_one_is_named(gate: str, node: str) -> None:
    """Also after a restart, when the mirror of kube-proxy's static pod is missing (row 22)."""
    world = joined()
    name = COMPONENTS[gate][0]
    world.pods = [
        pod
        for pod in world.pods
        if not (pod["metadata"]["name"].startswith(name) and pod["spec"]["nodeName"] == node)
        or "envoy" in pod["metadata"]["name"]
    ]
    decided = decide(world, gate)
    assert (decided.verdict, decided.waited) == ("FAIL", GRACE)
    assert f"no pod on {node}" in decided.text


@pytest.mark.parametrize("gate", ON_EACH)
@pytest.mark.parametrize("node", ["", "foreign"])
def test_one_elsewhere_is_named(gate: str, node: str) -> None:
    world = joined()
    world.copy(COMPONENTS[gate][0], "stray")["spec"] = {"nodeName": node} if node else {}
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert "pod `stray` is bound to" in decided.text


@each_gate
@pytest.mark.parametrize(
    "body",
    [
        Reply(silent="no answer within 20 s"),
        Reply('{"kind":"Status","message":"no"}', rc=503),
        Reply('{"kind":"PodList"}'),
        Reply("No resources found in kube-system namespace.\n"),
        Reply('{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}'),
    ],
)
def test_what_is_no_list_of_pods_is_unknown(gate: str, body: Reply) -> None:
    world = joined()
    world.bodies = {select(COMPONENTS[gate][1]): body}
    decided = decide(world, gate)
    assert (decided.verdict, decided.waited) == ("UNKNOWN", 0.0)


@each_gate
@pytest.mark.parametrize(
    ("part", "key"), [("metadata", "name"), ("spec", "nodeName"), ("status", "reason")]
)
def test_hostile_text_is_harmless(gate: str, part: str, key: str) -> None:
    world = broken(gate, phase="Failed")
    world.pod(COMPONENTS[gate][0])[part][key] = "\x1b[31m\n" * 99
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert decided.text.isprintable()
