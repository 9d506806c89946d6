"""What hubble-relay answers, as protojson with proto names: its status, and flows.

What flows all the time is worked out when somebody asks: every agent sees the kubelet's probes and
the pods' questions to CoreDNS, a few each second.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lab import layout
from lab.cilium import HUBBLE_PORT
from lab.flows import CAPACITY
from lab.host import Link
from lab.networks import identity, on_pod_network
from lab.objects import has_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.flows import Event
    from lab.objects import Object
    from lab.world import World

_NAMESPACE = "kube-system"
_PER_SECOND = 4
# The agents run for longer than any ring buffer remembers.
_UP_BEFORE = timedelta(hours=3)
_HOST = {"identity": 1, "labels": ["reserved:host"]}
_DROP_EVENT, _TRACE_EVENT = 1, 4
_REASONS = {"POLICY_DENIED": 133}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which flows are asked for.

    Attributes:
        last: so many of each node; 0 is all.
    """

    begin: datetime
    end: datetime
    last: int = 0
    namespace: str | None = None
    verdict: str | None = None

    def fits(self, packet: _Packet) -> bool:
        """Whether its ends and its verdict are asked for; the time is not looked at."""
        ends = {packet.source.get("namespace"), packet.destination.get("namespace")}
        return (self.namespace is None or self.namespace in ends) and (
            self.verdict in (None, packet.verdict)
        )


@dataclass(frozen=True, slots=True)
class _Packet:
    """What an agent saw."""

    at: datetime
    node: str
    source: dict[str, Any]
    destination: dict[str, Any]
    verdict: str
    port: int
    protocol: str
    reason: str = ""


def peers(world: World) -> list[str]:
    """The nodes that the relay knows: those with a CiliumNode."""
    return [item["metadata"]["name"] for item in world.objects.each("CiliumNode")]


def connected(world: World) -> list[str]:
    """Those whose agent it can ask."""
    ready = {
        pod["spec"].get("nodeName")
        for pod in world.objects.each("Pod", _NAMESPACE)
        if has_labels(pod, {"k8s-app": "cilium"}) and _is_ready(pod)
    }
    return [
        name
        for name in peers(world)
        if name in ready
        and name not in world.flows.apart
        and (name, HUBBLE_PORT) not in world.cilium.dropped
        and (host := world.hosts.get(name)) is not None
        and host.link is Link.UP
    ]


def relay_serves(world: World) -> bool:
    """Whether a pod of hubble-relay is ready."""
    return any(
        has_labels(pod, {"k8s-app": "hubble-relay"}) and _is_ready(pod)
        for pod in world.objects.each("Pod", _NAMESPACE)
    )


def status(world: World) -> dict[str, Any]:
    """`ServerStatusResponse`: 64-bit numbers are strings, empty fields are left out."""
    now = world.flows.frozen or datetime.now(UTC)
    names, known = connected(world), peers(world)
    uptime = now - world.seed.born + _UP_BEFORE
    seen = int(uptime.total_seconds() * _PER_SECOND * len(known)) + len(world.flows.recorded)
    most = (CAPACITY + 1) * len(names)
    missing = [name for name in known if name not in names]
    answer: dict[str, Any] = {
        "num_flows": str(min(seen, most)),
        "max_flows": str(most),
        "seen_flows": str(seen),
        "uptime_ns": str(int(uptime.total_seconds() * 1_000_000_000)),
        "num_connected_nodes": len(names),
        "num_unavailable_nodes": len(missing),
    }
    if missing:
        answer["unavailable_nodes"] = missing
    return answer | {
        "version": f"hubble-relay v{layout.CILIUM}+gb9b8ea0",
        "flows_rate": float(_PER_SECOND * len(names)),
    }


def seen(world: World, selection: Selection) -> Iterator[dict[str, Any]]:
    """`GetFlowsResponse`s in the order of time."""
    if world.flows.empty:
        return
    found: list[_Packet] = []
    for node in connected(world):
        packets = [*_steady(world, node, selection), *_recorded(world, node, selection)]
        fitting = sorted(filter(selection.fits, packets), key=lambda packet: packet.at)
        found += fitting[-(selection.last or CAPACITY) :]
    for packet in sorted(found, key=lambda packet: packet.at):
        flow = _flow(world, packet)
        yield {"flow": flow, "node_name": flow["node_name"], "time": flow["time"]}


def node_states(world: World) -> Iterator[dict[str, Any]]:
    """What the relay says of the nodes it has no flows of."""
    names = connected(world)
    missing = [name for name in peers(world) if name not in names]
    if missing:
        state = {"state_change": "NODE_UNAVAILABLE", "node_names": missing}
        yield {"node_status": state, "node_name": "hubble-relay", "time": _stamp(datetime.now(UTC))}


def _steady(world: World, node: str, selection: Selection) -> Iterator[_Packet]:
    end = min(selection.end, world.flows.frozen or selection.end)
    pods = [pod for pod in world.objects.each("Pod") if pod["spec"].get("nodeName") == node]
    pods = [pod for pod in pods if on_pod_network(pod)]
    if not pods:
        return
    since = (end - max(selection.begin, world.seed.born - _UP_BEFORE)).total_seconds()
    ticks = min(int(since * _PER_SECOND), selection.last or CAPACITY)
    for tick in range(ticks):
        at = end - timedelta(seconds=(tick + 1) / _PER_SECOND)
        pod = _end(world, pods[tick % len(pods)])
        yield _Packet(at, node, _HOST, pod, "FORWARDED", 8080, "TCP")


def _recorded(world: World, node: str, selection: Selection) -> Iterator[_Packet]:
    for event in world.flows.recorded:
        if selection.begin <= event.at <= selection.end and _node_of(event) == node:
            yield _Packet(
                event.at,
                node,
                _end(world, event.source),
                _end(world, event.destination),
                event.verdict,
                event.port,
                event.protocol,
                event.reason,
            )


def _node_of(event: Event) -> str:
    """Ingress policy is enforced where the destination is."""
    return str(event.destination["spec"].get("nodeName", ""))


def _end(world: World, pod: Object) -> dict[str, Any]:
    metadata = pod["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    labels = metadata.get("labels", {})
    shown = [f"k8s:{key}={value}" for key, value in sorted(labels.items())]
    return {
        "ID": 1 + world.seed.integer("endpoint", metadata["uid"]) % 4095,
        "identity": identity(world.seed, namespace, labels),
        "namespace": namespace,
        "labels": [*shown, f"k8s:io.kubernetes.pod.namespace={namespace}"],
        "pod_name": name,
    }


def _flow(world: World, packet: _Packet) -> dict[str, Any]:
    time, reason = _stamp(packet.at), packet.reason
    flags = {"flags": {"SYN": True}} if packet.protocol == "TCP" else {}
    ports = {"source_port": 32_768 + packet.at.microsecond % 28_000}
    event = {"type": _DROP_EVENT, "sub_type": _REASONS.get(reason, 0)}
    return {
        "time": time,
        "uuid": world.seed.uuid("flow", time, packet.node, str(packet.destination.get("pod_name"))),
        "verdict": packet.verdict,
        **({"drop_reason": _REASONS.get(reason, 0)} if reason else {}),
        "l4": {packet.protocol: {**ports, "destination_port": packet.port, **flags}},
        "source": packet.source,
        "destination": packet.destination,
        "Type": "L3_L4",
        "node_name": f"default/{packet.node}",
        "event_type": event if reason else {"type": _TRACE_EVENT},
        "traffic_direction": "INGRESS",
        **({"drop_reason_desc": reason} if reason else {"trace_observation_point": "TO_ENDPOINT"}),
        "Summary": f"{packet.protocol} Flags: SYN" if flags else packet.protocol,
    }


def _is_ready(pod: Object) -> bool:
    states = {each["type"]: each["status"] for each in pod["status"].get("conditions", [])}
    running = pod["status"].get("phase") == "Running"
    return running and states.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}137Z"
