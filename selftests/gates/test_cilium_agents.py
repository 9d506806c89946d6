"""E.3 and E.4: agents on the control planes, and the operator."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.installed import Installed, installed

NOT_READY = {"key": "node.cilium.io/agent-not-ready", "effect": "NoSchedule"}
OTHER = {"key": "node.cilium.io/agent-not-ready-soon", "effect": "NoSchedule"}


def two_on_one(world: Installed) -> None:
    world.copy("cilium-1", "cilium-x")


def elsewhere(world: Installed) -> None:
    world.pod("cilium-1")["spec"]["nodeName"] = "rke-cp01"


def not_ready(world: Installed) -> None:
    world.pod("cilium-2")["status"]["containerStatuses"][0]["ready"] = False


def no_containers(world: Installed) -> None:
    world.pod("cilium-2")["status"]["containerStatuses"] = []


def terminating(world: Installed) -> None:
    world.pod("cilium-0")["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"


def pending(world: Installed) -> None:
    world.pod("cilium-0")["status"]["phase"] = "Pending"


def other_label(world: Installed) -> None:
    for pod in world.pods:
        pod["metadata"]["labels"].pop("k8s-app", None)


def not_serving(world: Installed) -> None:
    world.taint("rke-cp02", NOT_READY)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda world: world.remove("cilium-1"), "no pod on rke-cp02"),
        (two_on_one, "2 pods on rke-cp02"),
        (elsewhere, "no pod on rke-cp02"),
        (not_ready, "not Ready"),
        (no_containers, "no container yet"),
        (terminating, "Terminating"),
        (pending, "Pending"),
        (other_label, "k8s-app=cilium"),
        (not_serving, "rke-cp02 still has the taint node.cilium.io/agent-not-ready"),
        (lambda world: world.nodes.pop("rke-cp03"), "rke-cp03 is not registered"),
    ],
)
def test_an_agent_that_does_not_serve_its_control_plane(change: object, said: str) -> None:
    world = installed()
    assert callable(change)
    change(world)
    decided = decide(world, "E.3")
    assert decided.verdict == "FAIL", decided.text
    assert said in decided.text
    assert decided.waited == world.cluster.limits.cilium_status


def test_only_control_planes_are_judged() -> None:
    world = installed()
    world.remove("cilium-4")
    world.taint("rke-platform03", NOT_READY)
    world.taint("rke-cp01", OTHER)
    assert decide(world, "E.3").verdict == "PASS"


def test_an_agent_that_comes_late_is_waited_for() -> None:
    world = installed()
    world.taint("rke-cp02", NOT_READY)

    def happens(_world: object, now: float) -> None:
        if now >= 250:
            world.taint("rke-cp02")

    world.happens = happens
    decided = decide(world, "E.3")
    assert decided.verdict == "PASS"
    assert 250 <= decided.waited < 270


def test_one_operator_is_enough() -> None:
    world = installed()
    world.remove("operator-2")
    decided = decide(world, "E.4")
    assert decided.verdict == "PASS"
    assert decided.facts["operators"] == {"operator-1": "rke-cp01"}


def test_no_operator_names_the_label() -> None:
    world = installed()
    world.remove("operator")
    decided = decide(world, "E.4")
    assert decided.verdict == "FAIL"
    assert "io.cilium/app=operator" in decided.text


def test_an_operator_that_is_not_ready_fails() -> None:
    world = installed()
    world.pod("operator-1")["status"]["containerStatuses"][0]["ready"] = False
    assert decide(world, "E.4").verdict == "FAIL"
