"""kube-scheduler: which node a pod may run on, and why no other (texts of v1.36)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lab import taints
from lab.cluster import conditions, events
from lab.cluster.census import owner_of
from lab.objects import copied

if TYPE_CHECKING:
    from lab.cluster.census import Census
    from lab.objects import Object, Store
    from lab.world import World

_UNTOLERATED = "node(s) had untolerated taint(s)"
_UNSCHEDULABLE = "node(s) were unschedulable"
_NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
_NO_NODES = "no nodes available to schedule pods"
_NAME = "default-scheduler"


def place(world: World, store: Store, census: Census, pod: Object) -> None:
    """Bind the pod to a node that fits, or say why there is none."""
    nodes = list(store.each("Node"))
    reasons: Counter[str] = Counter()
    fitting: list[str] = []
    for node in nodes:
        reason = why_not(pod, node)
        if reason is None:
            fitting.append(node["metadata"]["name"])
        else:
            reasons[reason] += 1
    metadata = pod["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    if not fitting:
        _refuse(world, store, pod, _explain(len(nodes), reasons))
        return
    chosen = _spread(world, store, census, pod, fitting)
    events.record(
        world,
        store,
        pod,
        "Scheduled",
        f"Successfully assigned {namespace}/{name} to {chosen}",
        source=_NAME,
    )
    bound: Object = copied(pod)
    bound["spec"]["nodeName"] = chosen
    conditions.state(bound, "PodScheduled", world.now(), holds=True)
    store.put(bound)


def _refuse(world: World, store: Store, pod: Object, message: str) -> None:
    if any(each.get("message") == message for each in pod["status"].get("conditions", [])):
        return
    events.record(world, store, pod, "FailedScheduling", message, source=_NAME)
    refused: Object = copied(pod)
    refused["status"]["phase"] = "Pending"
    why = {"message": message, "reason": "Unschedulable"}
    conditions.state(refused, "PodScheduled", world.now(), holds=False, **why)
    store.put(refused)


def _explain(count: int, reasons: Counter[str]) -> str:
    if not count:
        return _NO_NODES
    told = ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items()))
    return (
        f"0/{count} nodes are available: {told}. no new claims to deallocate, preemption: "
        f"0/{count} nodes are available: {count} Preemption is not helpful for scheduling."
    )


def _spread(world: World, store: Store, census: Census, pod: Object, fitting: list[str]) -> str:
    """The node with the fewest siblings, then the fewest pods; ties go round."""
    owner = owner_of(pod)
    siblings: Counter[str] = Counter(
        each["spec"].get("nodeName", "")
        for each in census.pods(store, census.of.get(owner["uid"], set()) if owner else set())
        if "deletionTimestamp" not in each["metadata"]
    )
    turn = world.seed.integer("turn", pod["metadata"]["name"]) % len(fitting)
    rotated = fitting[turn:] + fitting[:turn]
    return min(rotated, key=lambda node: (siblings[node], len(census.on.get(node, ()))))


def why_not(pod: Object, node: Object) -> str | None:
    """What keeps the pod from the node, in the scheduler's words and order; None if nothing."""
    spec = pod["spec"]
    tolerations = spec.get("tolerations") or []
    unschedulable = {"key": taints.UNSCHEDULABLE, "effect": "NoSchedule"}
    if node["spec"].get("unschedulable") and not tolerated(unschedulable, tolerations):
        return _UNSCHEDULABLE
    for taint in taints.of(node):
        if taint["effect"] != "PreferNoSchedule" and not tolerated(taint, tolerations):
            return _UNTOLERATED
    return None if _selects(spec, node) else _NO_MATCH


def tolerated(taint: Object, tolerations: list[Object]) -> bool:
    """Whether one of the tolerations is for that taint."""
    return any(_tolerates(each, taint) for each in tolerations)


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    key = toleration.get("key")
    if key and key != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def _selects(spec: Object, node: Object) -> bool:
    labels = node["metadata"].get("labels", {})
    selector = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if affinity is None:
        return True
    return any(_term(term, node, labels) for term in affinity.get("nodeSelectorTerms") or [])


def _term(term: Object, node: Object, labels: dict[str, str]) -> bool:
    fields = {"metadata.name": node["metadata"]["name"]}
    wanted = [(each, labels) for each in term.get("matchExpressions") or []]
    wanted += [(each, fields) for each in term.get("matchFields") or []]
    # An empty term matches nothing, as in the real one.
    return bool(wanted) and all(_requires(each, values) for each, values in wanted)


def _requires(requirement: Object, values: dict[str, str]) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    given: list[Any] = requirement.get("values") or []
    value = values.get(key)
    if operator == "In":
        return value in given
    if operator == "NotIn":
        return value not in given
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    if value is None or not given or not value.lstrip("-").isdigit():
        return False
    return int(value) > int(given[0]) if operator == "Gt" else int(value) < int(given[0])
