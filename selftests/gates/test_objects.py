"""B.6, C.4, C.7 and C.8: what the API says of nodes and pods."""

from __future__ import annotations

from typing import Any

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import CPS, GET_NODES, GET_PODS, items, mirrors, node_object, pod_object
from selftests.gates.world import Reply, World, healthy

FIRST = "rke-cp01"
GATES = ("B.6", "C.4", "C.7", "C.8")
UNANSWERED = [
    Reply(stderr="The connection to the server 127.0.0.1:6443 was refused - did you\n", rc=1),
    Reply(stderr="error: You must be logged in to the server (Unauthorized)\n", rc=1),
    Reply(stderr="Unable to connect to the server: x509: certificate has expired\n", rc=1),
    Reply(stderr="Error from server (Forbidden): nodes is forbidden\n", rc=1),
    Reply(stderr="sudo: /var/lib/rancher/rke2/bin/kubectl: command not found\n", rc=1),
    Reply(stderr="sudo: a terminal is required to read the password\n", rc=1),
    Reply(stderr="bash: sudo: command not found\n", rc=127),
    Reply(""),
    Reply("No resources found\n"),
    Reply('{"kind": "List"}'),
    Reply('{"kind": "Status", "items": []}'),
    Reply('{"kind": "List", "items": [1]}'),
    Reply("[" * 100_000),
    Reply(raw=b'{"kind": "List", "items": []}\xff'),
    Reply(items([]), cut=1),
]


def nodes(world: World, *objects: Any) -> World:
    world.say(FIRST, GET_NODES, Reply(items(objects)))
    return world


def pods(*objects: Any) -> World:
    world = healthy()
    world.say(FIRST, GET_PODS, Reply(items([*mirrors(CPS), *objects])))
    return world


@pytest.mark.parametrize("reply", UNANSWERED)
@pytest.mark.parametrize("gate", GATES)
def test_an_answer_that_is_none_is_unknown(gate: str, reply: Reply) -> None:
    world = healthy()
    world.say(FIRST, GET_NODES, reply)
    assert decide(world, gate).verdict == "UNKNOWN"
    world = healthy()
    world.say(FIRST, GET_PODS, reply)
    assert decide(world, "C.8").verdict == "UNKNOWN"


def test_noise_on_stderr_with_rc_0_changes_nothing() -> None:
    world = healthy()
    (reply,) = world.replies[FIRST, GET_NODES]
    noise = "E1130 12:58:35.959488 825 memcache.go:265] the server is currently unable to handle\n"
    world.say(FIRST, GET_NODES, Reply(reply.stdout, noise))
    assert decide(world, "C.4").verdict == "PASS"


@pytest.mark.parametrize(
    ("names", "verdicts"),
    [
        (CPS, {"B.6": "PASS", "C.4": "PASS", "C.7": "PASS", "C.8": "PASS"}),
        ((*CPS, "rke-platform01"), dict.fromkeys(GATES, "PASS")),
        (CPS[:2], {"B.6": "PASS", "C.4": "FAIL", "C.7": "FAIL", "C.8": "UNKNOWN"}),
        (("rke-cp011", "rke-cp02", "rke-cp03"), {"B.6": "FAIL", "C.4": "FAIL", "C.7": "FAIL"}),
        (("RKE-CP01", *CPS[1:]), {"B.6": "FAIL", "C.4": "FAIL"}),
        ((), {"B.6": "FAIL", "C.4": "FAIL", "C.7": "FAIL", "C.8": "UNKNOWN"}),
    ],
)
def test_registration_is_by_exact_name(names: tuple[str, ...], verdicts: dict[str, str]) -> None:
    for gate, verdict in verdicts.items():
        world = nodes(healthy(), *(node_object(name) for name in names))
        assert decide(world, gate).verdict == verdict, gate


def test_a_node_listed_twice_is_unknown() -> None:
    world = nodes(healthy(), *(node_object(name) for name in (*CPS, FIRST)))
    assert decide(world, "C.4").verdict == "UNKNOWN"


@pytest.mark.parametrize("status", ["True", "False", "Unknown", None])
def test_ready_is_recorded_in_kubernetes_words_and_not_judged(status: str | None) -> None:
    first = node_object(FIRST)
    conditions = [{"type": "Ready", "status": status}] if status else []
    first["status"]["conditions"] = [{"type": "NotReady", "status": "True"}, *conditions]
    world = nodes(healthy(), first, *(node_object(name) for name in (*CPS[1:], "stranger")))
    decided = decide(world, "C.4")
    assert decided.verdict == "PASS"
    assert decided.facts["nodes"] == {
        "ready": {FIRST: status or "absent", "rke-cp02": "False", "rke-cp03": "False"},
        "not in the inventory": ["stranger"],
    }


@pytest.mark.parametrize("status", [True, "true", "Ready", ""])
def test_a_ready_status_that_is_none_is_unknown(status: object) -> None:
    first = node_object(FIRST)
    first["status"]["conditions"] = [{"type": "Ready", "status": status}]
    world = nodes(healthy(), first, *(node_object(name) for name in CPS[1:]))
    assert decide(world, "B.6").verdict == "UNKNOWN"


def test_every_taint_of_each_control_plane_is_recorded() -> None:
    control_plane = {
        "key": "node-role.kubernetes.io/control-plane",
        "value": "true",
        "effect": "NoSchedule",
    }
    beside = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute", "timeAdded": "2026"}
    world = nodes(
        healthy(),
        node_object(FIRST, taints=[control_plane, beside]),
        *(node_object(name) for name in CPS[1:]),
    )
    assert decide(world, "C.7").facts["taints"] == {
        FIRST: [
            "node-role.kubernetes.io/control-plane=true:NoSchedule",
            "node.kubernetes.io/not-ready=:NoExecute",
        ],
        "rke-cp02": [],
        "rke-cp03": [],
    }


PLATFORM = {"wetopi.io/role": "platform"}
REQUIRED = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": "wetopi.io/role", "operator": "In", "values": ["other", "platform"]}
                ]
            }
        ]
    }
}
PREFERRED = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {
            "weight": 1,
            "preference": {
                "matchExpressions": [
                    {"key": "wetopi.io/role", "operator": "In", "values": ["platform"]}
                ]
            },
        }
    ]
}
ELSEWHERE = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": "wetopi.io/role", "operator": "NotIn", "values": ["platform"]},
                    {"key": "kubernetes.io/os", "operator": "Exists"},
                ]
            }
        ]
    }
}
CP = "rke-cp03"


@pytest.mark.parametrize(
    ("pod", "verdict"),
    [
        (pod_object("web", CP, "default"), "FAIL"),
        (pod_object("web", CP, "default", owners=("ReplicaSet",)), "FAIL"),
        (pod_object("web", CP, "default", phase="Pending"), "FAIL"),
        (pod_object("web", CP, "default", labels=PLATFORM), "FAIL"),
        (pod_object("web", CP, labels=PLATFORM), "FAIL"),
        (pod_object("agent", CP, owners=("DaemonSet",), labels=PLATFORM), "FAIL"),
        (pod_object("web", CP, spec={"nodeSelector": PLATFORM}), "FAIL"),
        (pod_object("web", CP, spec={"affinity": {"nodeAffinity": REQUIRED}}), "FAIL"),
        (pod_object("web", CP, spec={"affinity": {"nodeAffinity": PREFERRED}}), "FAIL"),
        (pod_object("web", CP, spec={"affinity": {"nodeAffinity": ELSEWHERE}}), "PASS"),
        (pod_object("web", CP, labels={"wetopi.io/role": "platform2"}), "PASS"),
        (pod_object("coredns", CP, owners=("ReplicaSet",)), "PASS"),
        (pod_object("agent", CP, "monitoring", owners=("DaemonSet",)), "PASS"),
        (pod_object("static", CP, "default", mirror=True, owners=("Node",)), "PASS"),
        (pod_object("job", CP, "default", phase="Succeeded"), "PASS"),
        (pod_object("job", CP, "default", phase="Failed"), "PASS"),
        (pod_object("web", "", "default", phase="Pending", labels=PLATFORM), "PASS"),
        (pod_object("web", "rke-platform01", "default", labels=PLATFORM), "PASS"),
        (pod_object("web", "rke-cp031", "default"), "PASS"),
        (pod_object("web", CP, "kube-system2"), "FAIL"),
        (pod_object("web", CP, "default", phase="Strange"), "UNKNOWN"),
    ],
)
def test_platform_workload(pod: Any, verdict: str) -> None:
    decided = decide(pods(pod), "C.8")
    assert decided.verdict == verdict, decided.text
    if verdict == "FAIL":
        assert pod["metadata"]["name"] in decided.text
        assert CP in decided.text


def test_a_terminating_pod_still_counts() -> None:
    pod = pod_object("web", CP, "default")
    pod["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"
    assert decide(pods(pod), "C.8").verdict == "FAIL"


def test_finished_pods_are_recorded() -> None:
    decided = decide(pods(pod_object("job", CP, "default", phase="Succeeded")), "C.8")
    assert decided.facts["finished"][CP] == ["default/job"]


@pytest.mark.parametrize("objects", [[], mirrors(CPS[:2])])
def test_a_list_without_mirror_pods_of_each_control_plane_is_unknown(objects: list[Any]) -> None:
    world = healthy()
    world.say(FIRST, GET_PODS, Reply(items(objects)))
    assert decide(world, "C.8").verdict == "UNKNOWN"


def test_workload_fails_though_the_list_is_not_complete() -> None:
    world = healthy()
    text = items([*mirrors(CPS[:1]), pod_object("web", FIRST, "default")])
    world.say(FIRST, GET_PODS, Reply(text))
    assert decide(world, "C.8").verdict == "FAIL"
    world.say(FIRST, GET_NODES, Reply(silent="rke-cp01: no answer within 20 s"))
    assert decide(world, "C.8").verdict == "FAIL"


def test_a_pod_with_a_hostile_name_is_harmless_in_the_message() -> None:
    decided = decide(pods(pod_object("\x1b[31m<script>\n", CP, "default")), "C.8")
    assert decided.verdict == "FAIL"
    assert "\x1b" not in decided.text
    assert "\n" not in decided.text
