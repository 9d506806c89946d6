"""Taints that the node controllers set and take away."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lab.kinds import stamp

if TYPE_CHECKING:
    from lab.objects import Object, Store

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
AGENT_NOT_READY = "node.cilium.io/agent-not-ready"
BOTH = ("NoSchedule", "NoExecute")


def of(node: Object) -> list[Object]:
    """The node's taints."""
    taints: list[Object] = node["spec"].get("taints") or []
    return taints


def has(node: Object, key: str) -> bool:
    """Whether the node has a taint of that key."""
    return any(taint["key"] == key for taint in of(node))


def add(store: Store, name: str, key: str, *effects: str) -> None:
    """Taint the node, if it is there and has no such taint yet."""
    node = store.peek("Node", "", name)
    if node is None or has(node, key):
        return
    now = stamp(datetime.now(UTC))
    added = [{"effect": effect, "key": key, "timeAdded": now} for effect in effects]
    store.merge("Node", "", name, {"spec": {"taints": [*of(node), *added]}})


def remove(store: Store, name: str, *keys: str) -> None:
    """Take every taint of these keys away."""
    node = store.peek("Node", "", name)
    if node is None or not any(has(node, key) for key in keys):
        return
    left = [taint for taint in of(node) if taint["key"] not in keys]
    store.merge("Node", "", name, {"spec": {"taints": left or None}})
