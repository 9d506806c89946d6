"""The way of a TCP connection from a pod: Services, the pods behind them, and policies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import TYPE_CHECKING

from lab.cluster.census import is_ready
from lab.cluster.images import image_of
from lab.cluster.selectors import selects
from lab.objects import has_labels

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.world import World


class End(Enum):
    """Where a connection ends."""

    SERVED = auto()
    REFUSED = auto()
    DROPPED = auto()


@dataclass(frozen=True, slots=True)
class Way:
    """One connection; `content` is what a GET of `/` is answered there."""

    end: End
    content: bytes = b""


def service_at(store: Store, address: str) -> Object | None:
    """The Service of that cluster address."""
    return next(
        (each for each in store.each("Service") if each["spec"].get("clusterIP") == address), None
    )


def backends(store: Store, service: Object) -> list[Object]:
    """The ready pods that the Service selects."""
    selector = service["spec"].get("selector")
    if not selector:
        return []
    pods = store.each("Pod", service["metadata"]["namespace"])
    return [pod for pod in pods if has_labels(pod, selector) and is_ready(pod)]


def connect(world: World, store: Store, source: Object, address: str, port: int) -> Way:
    """Connect from a pod; the agents see it pass, or drop it."""
    service = service_at(store, address)
    if service is not None:
        ports = [each for each in service["spec"]["ports"] if each["port"] == port]
        pods = backends(store, service) if ports else []
        # kube-proxy and Cilium alike reject what nothing stands behind.
        if not pods:
            return Way(End.REFUSED)
        turn = world.seed.integer("backend", source["metadata"]["name"]) % len(pods)
        return _enter(world, store, source, pods[turn], ports[0].get("targetPort", port))
    for pod in store.each("Pod"):
        if pod["status"].get("podIP") == address and not pod["spec"].get("hostNetwork"):
            return _enter(world, store, source, pod, port)
    return Way(End.DROPPED)


def _enter(world: World, store: Store, source: Object, pod: Object, port: int) -> Way:
    if _denied(world, store, source, pod):
        world.flows.record(source, pod, "DROPPED", "POLICY_DENIED", port=port)
        return Way(End.DROPPED)
    world.flows.record(source, pod, "FORWARDED", port=port)
    image = image_of(pod["spec"]["containers"][0]["image"])
    content = image.serves.get(port) if image else None
    return Way(End.REFUSED) if content is None else Way(End.SERVED, content)


def _denied(world: World, store: Store, source: Object, pod: Object) -> bool:
    """Whether policies let nothing from that source into the pod."""
    namespace = pod["metadata"]["namespace"]
    chosen = [
        policy
        for policy in store.each("NetworkPolicy", namespace)
        if "Ingress" in policy["spec"].get("policyTypes", ["Ingress"])
        and selects(policy["spec"].get("podSelector") or {}, pod)
        and _enforced(world, policy)
    ]
    rules = [rule for policy in chosen for rule in policy["spec"].get("ingress") or []]
    return bool(chosen) and not any(_lets_in(store, rule, source, namespace) for rule in rules)


def _enforced(world: World, policy: Object) -> bool:
    delay = world.trouble.policy_delay
    if not delay or math.isinf(delay):
        return not delay
    made = datetime.fromisoformat(policy["metadata"]["creationTimestamp"])
    return (world.now() - made).total_seconds() >= delay


def _lets_in(store: Store, rule: Object, source: Object, namespace: str) -> bool:
    peers = rule.get("from") or []
    return not peers or any(_is_peer(store, peer, source, namespace) for peer in peers)


def _is_peer(store: Store, peer: Object, source: Object, namespace: str) -> bool:
    own = source["metadata"]["namespace"]
    if "namespaceSelector" in peer:
        home = store.peek("Namespace", "", own)
        if home is None or not selects(peer["namespaceSelector"] or {}, home):
            return False
    elif own != namespace:
        return False
    return selects(peer.get("podSelector") or {}, source)
