"""PodDisruptionBudgets, and the evictions that they forbid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lab import apiwrites
from lab.admission import part
from lab.apipaths import Target
from lab.cluster import conditions
from lab.cluster.census import is_over, is_ready, owner_of
from lab.cluster.selectors import selects
from lab.cluster.work import server
from lab.kinds import stamp
from lab.objects import copied
from lab.statuses import Answer, document, failure

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.world import World

_VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)


def observe(world: World, store: Store, namespace: str, name: str) -> None:
    """Write into the budget's status what its pods allow now."""
    budget = store.get("PodDisruptionBudget", namespace, name)
    if budget is None:
        return
    spec = budget["spec"]
    pods = [
        pod
        for pod in store.each("Pod", namespace)
        if selects(spec.get("selector"), pod) and not is_over(pod)
    ]
    disrupted = _disrupted(budget, pods)
    healthy = sum(1 for pod in pods if is_ready(pod) and pod["metadata"]["name"] not in disrupted)
    expected = _expected(store, pods)
    desired = _desired(spec, expected)
    status = {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired) if pods else 0,
        "expectedPods": expected,
        "observedGeneration": budget["metadata"].get("generation", 1),
        "conditions": budget.get("status", {}).get("conditions", []),
    }
    if disrupted:
        status["disruptedPods"] = disrupted
    budget["status"] = status
    allowed = status["disruptionsAllowed"] > 0
    conditions.state(
        budget,
        "DisruptionAllowed",
        world.now(),
        holds=allowed,
        message="",
        reason="SufficientPods" if allowed else "InsufficientPods",
    )
    if budget["status"] != (store.peek("PodDisruptionBudget", namespace, name) or {}).get("status"):
        store.put(budget)


def _disrupted(budget: Object, pods: list[Object]) -> dict[str, str]:
    """Pods that may go and have not yet begun to."""
    staying = {
        pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]
    }
    known: dict[str, str] = budget.get("status", {}).get("disruptedPods") or {}
    return {name: since for name, since in known.items() if name in staying}


def _expected(store: Store, pods: list[Object]) -> int:
    """What the pods' controllers want; pods without one count themselves."""
    wanted: dict[str, int] = {}
    alone = 0
    for pod in pods:
        reference = owner_of(pod)
        owner = reference and store.peek(
            reference["kind"], pod["metadata"]["namespace"], reference["name"]
        )
        if owner is None:
            alone += 1
        else:
            wanted[owner["metadata"]["uid"]] = int(owner["spec"].get("replicas", 0))
    return alone + sum(wanted.values())


def _desired(spec: Object, expected: int) -> int:
    if "maxUnavailable" in spec:
        return max(0, expected - _amount(spec["maxUnavailable"], expected))
    return _amount(spec.get("minAvailable", 1), expected)


def _amount(value: int | str, of: int) -> int:
    if isinstance(value, str) and value.endswith("%"):
        return math.ceil(of * int(value[:-1]) / 100)
    return int(value)


@part("Pod", "eviction", "POST")
def evict(world: World, store: Store, item: Object, target: Target, body: Object) -> Answer:
    """Delete the pod unless a budget forbids it: 201, or 429."""
    metadata = item["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    exempt = is_over(item) or "deletionTimestamp" in metadata
    if not exempt and item["status"].get("phase") != "Pending":
        refused = _budgeted(world, store, item)
        if refused is not None:
            return refused
    host = server(world)
    if host is None:
        return failure(504, "Timeout", "etcdserver: request timed out")
    options = body.get("deleteOptions") or {}
    pod = Target(target.resource, namespace, name)
    answer = apiwrites.remove(world, host, pod, options)
    if answer.status >= 400:
        return answer
    return document(
        201,
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201},
    )


def _budgeted(world: World, store: Store, pod: Object) -> Answer | None:
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    budgets = [
        budget["metadata"]["name"]
        for budget in store.each("PodDisruptionBudget", namespace)
        if selects(budget["spec"].get("selector"), pod)
    ]
    if not budgets:
        return None
    if len(budgets) > 1:
        return failure(500, "InternalError", _SEVERAL)
    observe(world, store, namespace, budgets[0])
    budget = store.peek("PodDisruptionBudget", namespace, budgets[0])
    assert budget is not None
    status = budget["status"]
    healthy, desired = status["currentHealthy"], status["desiredHealthy"]
    if not is_ready(pod) and healthy >= desired > 0:
        # IfHealthyBudget: what is not healthy anyway may go.
        return None
    if status["disruptionsAllowed"] <= 0:
        cause = (
            f"The disruption budget {budgets[0]} needs {desired} healthy pods and has {healthy} "
            "currently"
        )
        causes = [{"message": cause, "reason": "DisruptionBudget"}]
        return failure(429, "TooManyRequests", _VIOLATES, {"causes": causes})
    counted: Object = copied(budget)
    counted["status"]["disruptionsAllowed"] -= 1
    counted["status"].setdefault("disruptedPods", {})[name] = stamp(world.now())
    store.put(counted)
    return None
