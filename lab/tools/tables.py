"""kubectl's tables and node description."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.objects import Object, Resource


def table(
    resource: Resource,
    items: Sequence[Object],
    *,
    now: datetime,
    wide: bool,
    headers: bool,
    namespaces: bool,
    labels: Sequence[str],
    show_labels: bool,
) -> str:
    """Rows padded as kubectl pads them: three spaces between columns."""
    if resource.kind == "Node":
        head, rows = _nodes(items, now, wide=wide)
    elif resource.kind == "Pod":
        head, rows = _pods(items, now, wide=wide)
    else:
        head, rows = _others(resource, items, now)
    for label in labels:
        head.append(label.rpartition("/")[2].upper())
        for row, item in zip(rows, items, strict=True):
            row.append(item["metadata"].get("labels", {}).get(label, ""))
    if show_labels:
        head.append("LABELS")
        for row, item in zip(rows, items, strict=True):
            own = item["metadata"].get("labels", {})
            row.append(",".join(f"{key}={own[key]}" for key in sorted(own)) or "<none>")
    if namespaces:
        head.insert(0, "NAMESPACE")
        for row, item in zip(rows, items, strict=True):
            row.insert(0, item["metadata"].get("namespace", ""))
    return _aligned([head, *rows] if headers else rows)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = (
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "".join(line.rstrip(" ") + "\n" for line in lines)


def _nodes(
    items: Sequence[Object], now: datetime, *, wide: bool
) -> tuple[list[str], list[list[str]]]:
    head = ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    if wide:
        head += ["INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"]
    rows = []
    for item in items:
        info = item["status"]["nodeInfo"]
        row = [
            item["metadata"]["name"],
            _node_status(item),
            _roles(item),
            _age(item, now),
            info["kubeletVersion"],
        ]
        if wide:
            row += [
                item["status"]["addresses"][0]["address"],
                "<none>",
                info["osImage"],
                info["kernelVersion"],
                info["containerRuntimeVersion"],
            ]
        rows.append(row)
    return head, rows


def _node_status(item: Object) -> str:
    ready = next(
        (c["status"] for c in item["status"]["conditions"] if c["type"] == "Ready"), "Unknown"
    )
    status = "Ready" if ready == "True" else "NotReady"
    return status + (",SchedulingDisabled" if item["spec"].get("unschedulable") else "")


def _roles(item: Object) -> str:
    prefix = "node-role.kubernetes.io/"
    roles = sorted(
        key.removeprefix(prefix)
        for key in item["metadata"].get("labels", {})
        if key.startswith(prefix)
    )
    return ",".join(roles) or "<none>"


def _pods(
    items: Sequence[Object], now: datetime, *, wide: bool
) -> tuple[list[str], list[list[str]]]:
    head = ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    if wide:
        head += ["IP", "NODE", "NOMINATED NODE", "READINESS GATES"]
    rows = []
    for item in items:
        statuses = item["status"].get("containerStatuses", [])
        ready = sum(1 for status in statuses if status["ready"])
        row = [
            item["metadata"]["name"],
            f"{ready}/{len(item['spec']['containers'])}",
            _pod_status(item),
            str(sum(status["restartCount"] for status in statuses)),
            _age(item, now),
        ]
        if wide:
            row += [
                item["status"].get("podIP", "<none>"),
                item["spec"].get("nodeName", "<none>"),
                "<none>",
                "<none>",
            ]
        rows.append(row)
    return head, rows


def _pod_status(item: Object) -> str:
    if "deletionTimestamp" in item["metadata"]:
        return "Terminating"
    for status in item["status"].get("containerStatuses", []):
        for state in status["state"].values():
            if "reason" in state:
                return str(state["reason"])
    return str(item["status"].get("reason") or item["status"]["phase"])


def _others(
    resource: Resource, items: Sequence[Object], now: datetime
) -> tuple[list[str], list[list[str]]]:
    if resource.kind == "Namespace":
        return ["NAME", "STATUS", "AGE"], [
            [item["metadata"]["name"], item["status"]["phase"], _age(item, now)] for item in items
        ]
    if resource.kind == "CiliumNode":
        # No column has the podCIDR, which the runbook looks for here (facts, 11.4).
        return ["NAME", "CILIUMINTERNALIP", "INTERNALIP", "AGE"], [
            [
                item["metadata"]["name"],
                _cilium_address(item, "CiliumInternalIP"),
                _cilium_address(item, "InternalIP"),
                _age(item, now),
            ]
            for item in items
        ]
    return ["NAME", "AGE"], [[item["metadata"]["name"], _age(item, now)] for item in items]


def _cilium_address(item: Object, kind: str) -> str:
    addresses = item.get("spec", {}).get("addresses", [])
    return next((str(each["ip"]) for each in addresses if each["type"] == kind), "")


def _age(item: Object, now: datetime) -> str:
    created = datetime.fromisoformat(item["metadata"]["creationTimestamp"]).astimezone(UTC)
    seconds = max(0, int((now - created).total_seconds()))
    if seconds < 120:
        return f"{seconds}s"
    if seconds < 600:
        minutes, rest = divmod(seconds, 60)
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if seconds < 10_800:
        return f"{seconds // 60}m"
    if seconds < 172_800:
        return f"{seconds // 3600}h"
    return f"{seconds // 86_400}d"


def node_description(node: Object) -> str:
    """The part of `kubectl describe node` that operators read in phases B and C."""
    metadata, spec, status = node["metadata"], node["spec"], node["status"]
    lines = [f"{'Name:':<20}{metadata['name']}", f"{'Roles:':<20}{_roles(node)}"]
    lines += _listed("Labels:", [f"{k}={v}" for k, v in sorted(metadata["labels"].items())])
    lines += _listed(
        "Annotations:", [f"{k}: {v}" for k, v in sorted(metadata["annotations"].items())]
    )
    lines.append(f"{'CreationTimestamp:':<20}{metadata['creationTimestamp']}")
    taints = [
        f"{taint['key']}{'=' + taint['value'] if taint.get('value') else ''}:{taint['effect']}"
        for taint in spec.get("taints", [])
    ]
    lines += _listed("Taints:", taints or ["<none>"])
    lines.append(f"{'Unschedulable:':<20}{str(bool(spec.get('unschedulable'))).lower()}")
    lines.append("Conditions:")
    lines.append("  Type             Status  Reason")
    lines += [
        f"  {condition['type']:<17}{condition['status']:<8}{condition['reason']}"
        for condition in status["conditions"]
    ]
    lines.append("Addresses:")
    lines += [f"  {address['type']}:  {address['address']}" for address in status["addresses"]]
    return "\n".join(lines) + "\n"


def _listed(title: str, values: Sequence[str]) -> list[str]:
    return [f"{title if not index else '':<20}{value}" for index, value in enumerate(values)]
