"""What becomes of a node's Ready condition, its taints and its pods' readiness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import taints
from lab.cluster import conditions, podstatus
from lab.cluster.census import is_over
from lab.kinds import NOT_INITIALIZED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.objects import Object, Store
    from lab.world import World

READY = {"message": "kubelet is posting ready status", "reason": "KubeletReady"}
_NOT_READY = {"message": NOT_INITIALIZED, "reason": "KubeletNotReady"}
_SILENT = {"message": "Kubelet stopped posting node status.", "reason": "NodeStatusUnknown"}
_POSTED = {
    "MemoryPressure": {
        "message": "kubelet has sufficient memory available",
        "reason": "KubeletHasSufficientMemory",
    },
    "DiskPressure": {
        "message": "kubelet has no disk pressure",
        "reason": "KubeletHasNoDiskPressure",
    },
    "PIDPressure": {
        "message": "kubelet has sufficient PID available",
        "reason": "KubeletHasSufficientPID",
    },
}
_AGENT = {"k8s-app": "cilium"}


def ready(world: World, store: Store, name: str) -> None:
    """The kubelet says that its node is Ready; the controllers take their taints away."""
    node = store.get("Node", "", name)
    if node is None:
        return
    _post(world, node)
    conditions.state(node, "Ready", world.now(), holds=True, **READY)
    store.put(node)
    if not world.trouble.keeps_taints(name):
        taints.remove(store, name, taints.NOT_READY, taints.UNREACHABLE)


def not_ready(world: World, store: Store, name: str, **why: str) -> None:
    """The kubelet says that its node is not Ready, without a reason because of its network."""
    node = store.get("Node", "", name)
    if node is None:
        return
    _post(world, node)
    conditions.state(node, "Ready", world.now(), holds=False, **(why or _NOT_READY))
    store.put(node)
    taints.remove(store, name, taints.UNREACHABLE)
    taints.add(store, name, taints.NOT_READY, *taints.BOTH)


def silent(world: World, store: Store, name: str) -> None:
    """Nobody heard of the kubelet for its grace time."""
    node = store.get("Node", "", name)
    if node is None:
        return
    for kind in (*_POSTED, "Ready"):
        conditions.state(node, kind, world.now(), holds=None, **_SILENT)
    store.put(node)
    taints.remove(store, name, taints.NOT_READY)
    taints.add(store, name, taints.UNREACHABLE, *taints.BOTH)
    for pod in _on(store, name):
        if conditions.of(pod, "Ready") == "True":
            # The node controller knows no more than that; the containers' own states stay.
            conditions.state(pod, "Ready", world.now(), holds=False)
            store.put(pod)


def heard(world: World, store: Store, name: str) -> None:
    """The kubelet of a node whose containers went on says again what is ready there."""
    for pod in _on(store, name):
        statuses = pod["status"].get("containerStatuses", [])
        if statuses and all(each["ready"] for each in statuses) and not is_over(pod):
            conditions.state(pod, "Ready", world.now(), holds=True)
            store.put(pod)


def agent_down(world: World, store: Store, name: str) -> None:
    """The node's Cilium agent does not run; the operator says so with a taint."""
    for pod in agents(store, name):
        podstatus.waiting(pod, podstatus.WAITING, "", world.now())
        store.put(pod)
    taints.add(store, name, taints.AGENT_NOT_READY, "NoSchedule")


def agent_up(world: World, store: Store, name: str) -> None:
    """It runs again, if nothing keeps it from it."""
    crashes = False
    for pod in agents(store, name):
        crashes = crashes or world.trouble.crashes(pod)
        if world.trouble.crashes(pod):
            text = "back-off 5m0s restarting failed container=cilium-agent"
            podstatus.waiting(pod, "CrashLoopBackOff", text, world.now())
        else:
            podstatus.running(pod, world.now())
        store.put(pod)
    if not crashes and not world.trouble.keeps_taints(name):
        taints.remove(store, name, taints.AGENT_NOT_READY)


def agents(store: Store, name: str) -> list[Object]:
    """The node's Cilium agents, to be changed and put back."""
    return [
        pod
        for pod in store.select("Pod", "kube-system", _AGENT, name)
        if pod.get("status", {}).get("containerStatuses") and not is_over(pod)
    ]


def healthy(store: Store, names: Iterable[str]) -> list[str]:
    """Those of the nodes that are Ready, without taints of the controllers, agent and all."""
    kept: list[str] = []
    for name in names:
        node = store.peek("Node", "", name)
        if node is None or conditions.of(node, "Ready") != "True":
            continue
        marked = any(
            taints.has(node, key)
            for key in (taints.NOT_READY, taints.UNREACHABLE, taints.AGENT_NOT_READY)
        )
        running = [conditions.of(pod, "Ready") for pod in agents(store, name)]
        if not marked and running == ["True"]:
            kept.append(name)
    return kept


def _post(world: World, node: Object) -> None:
    for kind, why in _POSTED.items():
        if conditions.of(node, kind) == "Unknown":
            conditions.state(node, kind, world.now(), holds=False, **why)


def _on(store: Store, name: str) -> list[Object]:
    return store.select("Pod", on=name)
