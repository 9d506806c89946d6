"""Services and their EndpointSlices: the built-in ones, and what follows from a selector."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from lab import layout
from lab.kinds import stamp
from lab.objects import has_labels
from lab.phase import Phase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from lab.host import Host
    from lab.objects import Object, Store
    from lab.seed import Seed

_RANGE = IPv4Network(layout.SERVICES)
_DNS, _FIRST_FREE = 10, 16
OWNER_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class _Known:
    """A Service that a chart brings; `number` is its place in the service range."""

    name: str
    number: int
    selector: dict[str, str]
    ports: tuple[tuple[str, int, int, str], ...]
    since: Phase = Phase.E
    namespace: str = "kube-system"


_KUBERNETES = _Known(
    "kubernetes", 1, {}, (("https", 443, 6443, "TCP"),), since=Phase.B, namespace="default"
)
_KNOWN = (
    _Known(
        "rke2-coredns-rke2-coredns",
        _DNS,
        {"k8s-app": "kube-dns"},
        (("udp-53", 53, 53, "UDP"), ("tcp-53", 53, 53, "TCP")),
        since=Phase.B,
    ),
    _Known(
        "rke2-metrics-server",
        11,
        {"app": "rke2-metrics-server"},
        (("https", 443, 10250, "TCP"),),
    ),
    _Known("hubble-relay", 12, {"k8s-app": "hubble-relay"}, (("grpc", 80, 4245, "TCP"),)),
    _Known("hubble-peer", 13, {"k8s-app": "cilium"}, (("peer-service", 443, 4244, "TCP"),)),
    _Known("hubble-ui", 14, {"k8s-app": "hubble-ui"}, (("http", 80, 8081, "TCP"),)),
)


def built_in(
    seed: Seed, phase: Phase, servers: Iterable[Host], created: datetime
) -> Iterator[Object]:
    """The Services that exist at that phase, and the slice of `kubernetes`, which has no pods."""
    api = _service(seed, _KUBERNETES, created)
    api["metadata"]["labels"] = {"component": "apiserver", "provider": "kubernetes"}
    yield api
    yield {
        "addressType": "IPv4",
        "apiVersion": "discovery.k8s.io/v1",
        "endpoints": [
            {"addresses": [host.machine.address], "conditions": {"ready": True}} for host in servers
        ],
        "kind": "EndpointSlice",
        "metadata": {
            "creationTimestamp": stamp(created),
            "labels": {OWNER_LABEL: "kubernetes"},
            "name": "kubernetes",
            "namespace": "default",
            "uid": seed.uuid("endpointslice", "default", "kubernetes"),
        },
        "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}],
    }
    for known in _KNOWN:
        if phase.reached(known.since):
            item = _service(seed, known, created)
            if known.number == _DNS:
                item["metadata"]["labels"] = dict(known.selector)
            yield item


def _service(
    seed: Seed,
    known: _Known,
    created: datetime,
) -> Object:
    """The Service of that description."""
    namespace, name, selector = known.namespace, known.name, known.selector
    address = str(_RANGE[known.number])
    spec: Object = {
        "clusterIP": address,
        "clusterIPs": [address],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "ports": [
            {"name": label, "port": port, "protocol": protocol, "targetPort": target}
            for label, port, target, protocol in known.ports
        ],
        "sessionAffinity": "None",
        "type": "ClusterIP",
    }
    if selector:
        spec["selector"] = dict(selector)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "creationTimestamp": stamp(created),
            "name": name,
            "namespace": namespace,
            "uid": seed.uuid("service", namespace, name),
        },
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def free_address(store: Store, seed: Seed, *names: str) -> str:
    """A cluster address that no Service has, as random as the real allocator's."""
    taken = {item["spec"].get("clusterIP") for item in store.each("Service")}
    span = _RANGE.num_addresses - _FIRST_FREE - 1
    number = seed.integer("cluster address", *names) % span
    while (address := str(_RANGE[_FIRST_FREE + number])) in taken:
        number = (number + 1) % span
    return address


def endpoint_slice(seed: Seed, store: Store, item: Object, created: datetime) -> Object | None:
    """The slice that the Service's selector makes of the pods there are; None without selector."""
    metadata, spec = item["metadata"], item["spec"]
    selector = spec.get("selector")
    if not selector:
        return None
    namespace, name = metadata["namespace"], metadata["name"]
    pods = [pod for pod in store.each("Pod", namespace) if has_labels(pod, selector)]
    made = store.peek("EndpointSlice", namespace, _slice_name(seed, namespace, name))
    return {
        "addressType": "IPv4",
        "apiVersion": "discovery.k8s.io/v1",
        "endpoints": [_endpoint(pod) for pod in pods if pod["status"].get("podIP")],
        "kind": "EndpointSlice",
        "metadata": dict(made["metadata"])
        if made
        else {
            "creationTimestamp": stamp(created),
            "labels": {OWNER_LABEL: name},
            "name": _slice_name(seed, namespace, name),
            "namespace": namespace,
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "controller": True,
                    "kind": "Service",
                    "name": name,
                    "uid": metadata["uid"],
                }
            ],
            "uid": seed.uuid("endpointslice", metadata["uid"]),
        },
        "ports": [
            {
                "name": port.get("name", ""),
                "port": port.get("targetPort", port["port"]),
                "protocol": port.get("protocol", "TCP"),
            }
            for port in spec.get("ports", [])
        ],
    }


def _slice_name(seed: Seed, namespace: str, name: str) -> str:
    return f"{name}-{seed.suffix('slice', namespace, name, digits=5)}"


def _endpoint(pod: Object) -> Object:
    metadata, status = pod["metadata"], pod["status"]
    ready = "deletionTimestamp" not in metadata and any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in status.get("conditions", [])
    )
    return {
        "addresses": [status["podIP"]],
        "conditions": {
            "ready": ready,
            "serving": ready,
            "terminating": "deletionTimestamp" in metadata,
        },
        "nodeName": pod["spec"].get("nodeName", ""),
        "targetRef": {
            "kind": "Pod",
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
        },
    }
