"""Faults of pods, their controllers, images and budgets, by namespace, label and node."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from lab import kinds
from lab.cluster import conditions, disruption, podstatus
from lab.faults.nodes import place
from lab.faults.registry import FaultError, fault, host_of
from lab.owners import owners
from lab.phase import Phase
from lab.pods import PodShape
from lab.trouble import Pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.objects import Object
    from lab.world import World

_SYSTEM = "kube-system"
_IMAGE = "docker.io/library/nginx:1.27"


@fault("pods-crash-loop", "the pods with the label crash as often as they are started")
def crash_loop(world: World, label: str, namespace: str = _SYSTEM, node: str = "") -> None:
    """Those that come in their place, too."""
    pods = _pods(label, namespace, node)
    world.trouble.crashing.append(pods)
    for item in _chosen(world, pods):
        for status in item["status"].get("containerStatuses", []):
            status["restartCount"] = status.get("restartCount", 0) + 7
        if item["status"].get("containerStatuses"):
            text = f"back-off 5m0s restarting failed container in pod {item['metadata']['name']}"
            podstatus.waiting(item, "CrashLoopBackOff", text, world.now())
        world.objects.put(item)


@fault("pods-missing", "the pods with the label are gone, and nobody makes up for them")
def pods_missing(world: World, label: str, namespace: str = _SYSTEM, node: str = "") -> None:
    """One fewer, all others Running."""
    for item in _chosen(world, _pods(label, namespace, node)):
        _remove(world, item)


@fault("pods-moved", "the pods with the label on one node run on another, beside those there")
def pods_moved(
    world: World, label: str, source: str, target: str, namespace: str = _SYSTEM
) -> None:
    """As many as before: two on one node, none on the other."""
    host = host_of(world, target)
    for item in _chosen(world, _pods(label, namespace, host_of(world, source).name)):
        item["spec"]["nodeName"] = host.name
        item["status"]["hostIP"] = host.machine.address
        if item["spec"].get("hostNetwork"):
            podstatus.addressed(item, host.machine.address)
        world.objects.put(item)


@fault("pod-terminating", "the pods with the label are deleted, and do not go")
def pod_terminating(world: World, label: str, namespace: str = _SYSTEM, node: str = "") -> None:
    """Their phase is Running still."""
    pods = _pods(label, namespace, node)
    world.trouble.lasting.append(pods)
    for item in _chosen(world, pods):
        item["metadata"]["deletionTimestamp"] = kinds.stamp(world.now())
        item["metadata"]["deletionGracePeriodSeconds"] = 30
        world.objects.put(item)


@fault("eviction-accepted-but-pod-stays", "evictions of pods with the label are accepted: 201")
def pod_stays(world: World, label: str, namespace: str = _SYSTEM, node: str = "") -> None:
    """They are deleted then, and do not go."""
    world.trouble.lasting.append(_pods(label, namespace, node))


@fault("pods-pending", "the pods with the label are not scheduled: no node is as they want it")
def pods_pending(world: World, label: str, namespace: str = _SYSTEM, node: str = "") -> None:
    """Their template asks for a label that no node has."""
    for item in _chosen(world, _pods(label, namespace, node)):
        world.objects.delete("CiliumEndpoint", namespace, item["metadata"]["name"])
        item["spec"] = {**item["spec"], "nodeSelector": {"lab.example/nowhere": "true"}}
        item["spec"].pop("nodeName", None)
        count = sum(1 for _ in world.objects.each("Node"))
        item["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
        why = f"0/{count} nodes are available: {count} node(s) didn't match Pod's node affinity/"
        conditions.state(
            item,
            "PodScheduled",
            world.now(),
            holds=False,
            message=f"{why}selector.",
            reason="Unschedulable",
        )
        world.objects.put(item)


@fault("image-pull-fails", "no registry has images whose name contains this")
def image_pull_fails(world: World, image: str) -> None:
    """For pods that are made from now on."""
    world.trouble.unpullable.append(image)


@fault("component-label-lost", "the pods of a component have lost the label: it selects nothing")
def label_lost(world: World, label: str, namespace: str = _SYSTEM) -> None:
    """A chart that changed (rke2#5848)."""
    key = label.partition("=")[0]
    for item in _chosen(world, _pods(label, namespace, "")):
        item["metadata"]["labels"].pop(key)
        world.objects.put(item)


@fault("pdb-forbids", "a budget forbids every eviction of pods with the label")
def pdb_forbids(
    world: World, label: str, namespace: str = _SYSTEM, name: str = "nothing-may-go"
) -> None:
    """A drain waits for ever."""
    pods = _pods(label, namespace, "")
    if not world.etcd:
        return
    world.objects.put(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {
                "creationTimestamp": kinds.stamp(world.seed.born),
                "generation": 1,
                "name": name,
                "namespace": namespace,
                "uid": world.seed.uuid("budget", namespace, name),
            },
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": pods.labels}},
            "status": {},
        }
    )
    disruption.observe(world, world.objects, namespace, name)


@fault("unmanaged-pod", "a pod without a controller runs on the node")
def unmanaged_pod(
    world: World, node: str, name: str = "by-hand", namespace: str = "default"
) -> None:
    """Only --force lets a drain remove it."""
    _run(world, node, name, namespace)


@fault("emptydir-pod", "a Deployment's pod with an emptyDir runs on the node")
def emptydir_pod(
    world: World, node: str, name: str = "scratch", namespace: str = "default"
) -> None:
    """What is in it is lost when it is evicted."""
    _run(world, node, name, namespace, scratch=("cache",))


def _run(
    world: World, node: str, name: str, namespace: str, *, scratch: tuple[str, ...] = ()
) -> None:
    host, store = host_of(world, node), world.objects
    if store.peek("Node", "", host.name) is None or not world.phase.reached(Phase.E):
        return
    created = world.seed.born - timedelta(minutes=4)
    hashed = world.seed.suffix(name, digits=9)
    labels = {"app": name} | ({"pod-template-hash": hashed} if scratch else {})
    shape = PodShape(
        name=f"{name}-{hashed}-{world.seed.suffix(name, node, digits=5)}" if scratch else name,
        namespace=namespace,
        node=host.name,
        labels=labels,
        owner=("ReplicaSet", f"{name}-{hashed}") if scratch else None,
        container=name,
        image=_IMAGE,
        host_address=host.machine.address,
        scratch=scratch,
    )
    if store.peek("Namespace", "", namespace) is None:
        store.put(kinds.namespace(world.seed, namespace, created))
    place(world, host, shape, created)
    for owner in owners(world.seed, [shape], created):
        store.put(owner)


def _pods(label: str, namespace: str, node: str) -> Pods:
    key, equals, value = label.partition("=")
    if not equals:
        raise FaultError(f"`label` is KEY=VALUE, not `{label}`")
    return Pods(namespace, {key: value}, node)


def _chosen(world: World, pods: Pods) -> Iterator[Object]:
    for item in world.objects.select("Pod", pods.namespace):
        if pods.include(item):
            yield item


def _remove(world: World, item: Object) -> None:
    place = item["metadata"]["namespace"], item["metadata"]["name"]
    world.objects.delete("Pod", *place)
    world.objects.delete("CiliumEndpoint", *place)
