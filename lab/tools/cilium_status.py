"""`cilium status`: what the CLI collects from the API and from each agent (cilium-cli v0.19.1)."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab import layout
from lab.cilium import SYSTEM, is_ready
from lab.networks import on_pod_network
from lab.objects import has_labels
from lab.tools.call import split
from lab.tools.cilium import objects
from lab.tools.cilium_summary import summary
from lab.tools.clocks import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.objects import Object, Store
    from lab.tools.call import Call
    from lab.world import World

_RETRY = 2.0
_DISABLED = {"state": "Disabled", "msg": "Disabled"}


@dataclass(frozen=True, slots=True)
class Component:
    """What the CLI looks for; one without a controller is disabled."""

    name: str
    kind: str
    labels: dict[str, str]


COMPONENTS = (
    Component("cilium", "DaemonSet", {"k8s-app": "cilium"}),
    Component("cilium-envoy", "DaemonSet", {"k8s-app": "cilium-envoy"}),
    Component("cilium-operator", "Deployment", {"io.cilium/app": "operator"}),
    Component("hubble-relay", "Deployment", {"k8s-app": "hubble-relay"}),
    Component("hubble-ui", "Deployment", {"k8s-app": "hubble-ui"}),
    Component("clustermesh-apiserver", "Deployment", {"k8s-app": "clustermesh-apiserver"}),
)


@dataclass(slots=True)
class Collected:
    """What was collected at one moment.

    Attributes:
        counts: by component: what its controller counts.
        troubles: component, pod, text, and whether it is only a warning.
        disabled: components that are not there.
        said: what each agent says of itself.
        failed: what could not be collected.
    """

    counts: dict[str, dict[str, int | str]] = field(default_factory=dict)
    troubles: list[tuple[str, str, str, bool]] = field(default_factory=list)
    disabled: list[str] = field(default_factory=list)
    said: dict[str, Object] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    pods: tuple[int, int] = (0, 0)
    images: dict[str, dict[str, int]] = field(default_factory=dict)
    phases: dict[str, dict[str, int]] = field(default_factory=dict)
    chart: str = ""


async def run(call: Call, arguments: Sequence[str]) -> int:
    """`cilium status [-o json|summary] [--wait] [--wait-duration T] [--interactive=BOOL]`."""
    words = [word for word in arguments if not word.startswith("--interactive")]
    options = split(
        words,
        flags=("--wait", "--ignore-warnings", "--verbose"),
        valued=("-o", "--output", "--wait-duration", "--worker-count"),
        name="cilium",
        refuse="Error: unknown flag: {flag}",
        clustered=False,
    )
    limit = duration("cilium", options.get("--wait-duration") or "300s")
    began = time.monotonic()
    found = await _collect(call)
    while "--wait" in options and found.troubles:
        if time.monotonic() - began > limit:
            call.streams.err += summary(found).encode()
            call.complain(
                "\nError: Unable to determine status:  timeout while waiting for status to become "
                "successful: context deadline exceeded"
            )
            return 1
        await asyncio.sleep(min(_RETRY, limit))
        found = await _collect(call)
    if options.get("-o", "--output") == "json":
        call.say(json.dumps(_document(found), indent=1))
    else:
        call.write(summary(found))
    if found.failed:
        call.complain(f"\nError: status check failed: [{', '.join(found.failed)}]")
        return 1
    return 0


async def _collect(call: Call) -> Collected:
    found = Collected()
    for component in COMPONENTS:
        plural = f"{component.kind.lower()}s"
        path = f"/apis/apps/v1/namespaces/{SYSTEM}/{plural}/{component.name}"
        store = await objects(call, path)
        if isinstance(store, str):
            found.failed.append(store)
            found.troubles.append((component.name, component.name, store, False))
        else:
            _controlled(found, store, component)
    store = await objects(call, "/api/v1/pods")
    if not isinstance(store, str):
        _asked(found, call.world, store)
        everybody = [
            pod
            for pod in store.each("Pod")
            if not pod["spec"].get("hostNetwork")
            and pod["status"].get("phase") in ("Running", "Pending")
        ]
        managed = sum(1 for pod in store.each("Pod") if on_pod_network(pod))
        found.pods = len(everybody), managed
    release = next((each for each in call.world.operations.releases if each.name == "cilium"), None)
    found.chart = release.chart.removeprefix("cilium-") if release else ""
    return found


def _controlled(found: Collected, store: Store, component: Component) -> None:
    name, kind = component.name, component.kind
    controller = store.peek(kind, SYSTEM, name)
    if controller is None:
        if name == "cilium":
            text = f'daemonsets.apps "{name}" not found'
            found.failed.append(text)
            found.troubles.append((name, name, text, False))
        else:
            found.disabled.append(name)
        return
    pods = [pod for pod in store.each("Pod", SYSTEM) if has_labels(pod, component.labels)]
    status = controller["status"]
    desired = status["desiredNumberScheduled"] if kind == "DaemonSet" else status["replicas"]
    ready = sum(1 for pod in pods if is_ready(pod))
    found.counts[name] = {
        "Type": kind,
        "Desired": desired,
        "Ready": ready,
        "Available": ready,
        "Unavailable": max(0, desired - ready),
    }
    if desired > ready:
        text = f"{desired - ready} pods of {kind} {name} are not ready"
        found.troubles.append((name, name, text, False))
    for pod in pods:
        phase = pod["status"].get("phase", "Pending")
        counted = found.phases.setdefault(name, {})
        counted[phase] = counted.get(phase, 0) + 1
        for each in pod["spec"]["containers"]:
            images = found.images.setdefault(name, {})
            images[each["image"]] = images.get(each["image"], 0) + 1
        if phase == "Pending":
            found.troubles.append((name, pod["metadata"]["name"], "pod is pending", True))


def _asked(found: Collected, world: World, store: Store) -> None:
    """The CLI runs `cilium-dbg status` in each agent."""
    for pod in store.each("Pod", SYSTEM):
        if not has_labels(pod, COMPONENTS[0].labels) or pod["status"].get("phase") != "Running":
            continue
        name, host = pod["metadata"]["name"], world.hosts.get(pod["spec"].get("nodeName", ""))
        if host is None or not host.posts or not is_ready(pod):
            text = "container cilium-agent is not running: try 'kubectl -n kube-system logs -c "
            found.troubles.append(("cilium", name, f"{text}cilium-agent {name}'", False))
            continue
        found.said[name] = _agent(world, host.name)
        for text, warning in _ailments(world, host.name):
            found.troubles.append(("cilium", name, text, warning))


def _agent(world: World, node: str) -> Object:
    """What an agent says of itself, in part."""
    said: Object = {
        "cilium": {"state": "Ok", "msg": f"{layout.CILIUM} (v{layout.CILIUM}-5c4bd2f1)"},
        "cluster": {"ciliumHealth": {"state": "Ok"}, "self": f"default/{node}"},
        "controllers": [],
        "hubble": {"state": "Ok"},
        "kubernetes": {"state": "Ok", "msg": "1.36 (v1.36.3+rke2r1) [linux/amd64]"},
        "kvstore": dict(_DISABLED),
    }
    ailment = world.cilium.ailments.get(node)
    if ailment is None:
        return said
    if ailment.part == "controller":
        failing = {"consecutive-failure-count": 7, "last-failure-msg": ailment.message}
        said["controllers"] = [{"name": "sync-to-k8s-ciliumendpoint", "status": failing}]
    else:
        said[ailment.part] = {"state": ailment.state, "msg": ailment.message}
    return said


def _ailments(world: World, node: str) -> Iterator[tuple[str, bool]]:
    ailment = world.cilium.ailments.get(node)
    if ailment is not None and ailment.part == "controller":
        name = "sync-to-k8s-ciliumendpoint"
        yield f"controller {name} is failing since 3m2s (7x): {ailment.message}", False
    elif ailment is not None:
        text = f"{ailment.part.capitalize()}: {ailment.message}"
        yield text, ailment.state == "Warning"


def _document(found: Collected) -> Object:
    errors: Object = {}
    for component in COMPONENTS:
        name = component.name
        if component.kind == "Deployment" or name in found.disabled:
            disabled = name in found.disabled
            errors[name] = {name: {"Errors": None, "Warnings": None, "Disabled": disabled}}
    for component_name, pod, _text, warning in found.troubles:
        empty: Object = {"Errors": None, "Warnings": None, "Disabled": False}
        entry = errors.setdefault(component_name, {}).setdefault(pod, empty)
        key = "Warnings" if warning else "Errors"
        # Go's errors have no exported field, so that this is what becomes of them.
        entry[key] = [*(entry[key] or []), {}]
    everybody, managed = found.pods
    return {
        "image_count": found.images,
        "phase_count": found.phases,
        "pod_state": found.counts,
        "pods_count": {"All": everybody, "ByCilium": managed},
        "cilium_status": found.said,
        "errors": errors,
        **({"collection_errors": [{} for _ in found.failed]} if found.failed else {}),
        "helm_chart_version": found.chart,
    }
