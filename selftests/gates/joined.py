"""A healthy cluster of six nodes that answers through the VIP, to be broken object by object."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from fixtures.core.requests import HostCommand, KubeGet, Refusal, Response, Silence
from selftests.gates.texts import CPS, unit
from selftests.gates.world import AT, Reply, World, answer, wetopi

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from fixtures.core.requests import Answer, Request

WORKERS = ("rke-platform01", "rke-platform02", "rke-platform03")
NODES = (*CPS, *WORKERS)
ADDRESSES = dict(zip(NODES, ("21", "22", "23", "41", "42", "43"), strict=True))
LIST_NODES = "/api/v1/nodes"
LIST_PODS = "/api/v1/pods"
SELECT_PODS = "/api/v1/namespaces/kube-system/pods?labelSelector="
LIST_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
LIST_CILIUMNODES = "/apis/cilium.io/v2/ciliumnodes"
CLOCK = "date -u +%s.%N"
STAT_KUBECONFIG = "sudo -n stat -c '%a %U %G %F' /var/lib/rancher/rke2/agent/kubelet.kubeconfig"
CP_TAINT = {
    "key": "node-role.kubernetes.io/control-plane",
    "value": "true",
    "effect": "NoSchedule",
}
LONG_AGO = "2026-11-30T11:00:00Z"


def select(selector: str) -> str:
    """The path that lists the pods of kube-system with that label."""
    return SELECT_PODS + quote(selector, safe="")


def show(node: str) -> str:
    return (
        "systemctl show -p Id,LoadState,ActiveState,SubState,Result,NRestarts,UnitFileState,"
        f"ExecMainStartTimestamp {service(node)}"
    )


def service(node: str) -> str:
    return f"rke2-{'server' if node in CPS else 'agent'}.service"


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def at(seconds: float) -> str:
    """A moment as conditions have it, in seconds from the beginning of the gate."""
    return stamp(AT + timedelta(seconds=seconds))


@dataclass
class Joined(World):
    """Answers from objects; what is in `bodies` is answered instead, by path.

    Attributes:
        renewed_ago: seconds since each node's Lease was renewed; None: there is no Lease.
        ahead: how far each node's clock is ahead.
        happens: changes the objects before each answer; it is told the time.
        slow: seconds that each answer takes.
    """

    nodes: dict[str, Any] = field(default_factory=dict)
    pods: list[Any] = field(default_factory=list)
    ciliumnodes: dict[str, Any] = field(default_factory=dict)
    renewed_ago: dict[str, float | None] = field(default_factory=dict)
    ahead: dict[str, float] = field(default_factory=dict)
    bodies: dict[str, Reply | Refusal] = field(default_factory=dict)
    happens: Callable[[Joined, float], None] = lambda _world, _now: None
    slow: float = 0.0

    def _answer(self, request: Request) -> Answer:
        self.sent.append(request)
        now = AT + timedelta(seconds=self.clock())
        self.happens(self, self.clock())
        if isinstance(request, HostCommand):
            replies = self.replies.get((request.host, request.command))
            if replies is None:
                assert request.command == CLOCK
                ahead = timedelta(seconds=self.ahead[request.host] + self.slow / 2)
                replies = [Reply(f"{(now + ahead).timestamp():.9f}\n")]
            return answer(request, replies[0], now, self.slow)
        assert isinstance(request, KubeGet)
        if (body := self.bodies.get(request.path)) is not None:
            if isinstance(body, Refusal):
                return body
            if body.silent:
                return Silence(request, body.silent, now, self.slow)
            raw = body.stdout.encode() if body.raw is None else body.raw
            return Response(request, body.rc or 200, raw, now, self.slow)
        status, document = self.document(request.path, now)
        return Response(request, status, json.dumps(document).encode(), now, self.slow)

    def document(self, path: str, now: datetime) -> tuple[int, Any]:
        if path == LIST_PODS:
            return 200, {"kind": "PodList", "items": self.pods}
        if path.startswith(SELECT_PODS):
            key, value = unquote(path.removeprefix(SELECT_PODS)).split("=")
            found = [
                pod
                for pod in self.pods
                if pod["metadata"]["namespace"] == "kube-system"
                and pod["metadata"]["labels"].get(key) == value
            ]
            return 200, {"kind": "PodList", "items": found}
        for listing, kind, items in (
            (LIST_NODES, "Node", self.nodes),
            (LIST_LEASES, "Lease", self.leases(now)),
            (LIST_CILIUMNODES, "CiliumNode", self.ciliumnodes),
        ):
            if path == listing:
                return 200, {"kind": f"{kind}List", "items": list(items.values())}
            name = path.removeprefix(f"{listing}/")
            if name != path:
                return (200, {"kind": kind, **items[name]}) if name in items else absent(name)
        raise AssertionError(path)

    def leases(self, now: datetime) -> dict[str, Any]:
        return {
            name: {
                "metadata": {"name": name, "namespace": "kube-node-lease"},
                "spec": {
                    "holderIdentity": name,
                    "renewTime": (now + timedelta(seconds=self.ahead[name] - ago)).strftime(
                        "%Y-%m-%dT%H:%M:%S.%fZ"
                    ),
                },
            }
            for name, ago in self.renewed_ago.items()
            if ago is not None
        }

    def ready(self, name: str, status: str = "True", since: str | None = LONG_AGO) -> None:
        condition = {"type": "Ready", "status": status, "reason": "Why", "message": "because"}
        if since is not None:
            condition["lastTransitionTime"] = since
        self.nodes[name]["status"]["conditions"] = [condition]

    def taint(self, name: str, *taints: dict[str, str]) -> None:
        self.nodes[name]["spec"]["taints"] = list(taints)

    def unit(self, name: str, **state: str) -> None:
        self.say(name, show(name), Reply(unit(service(name), **state)))

    def pod(self, name: str) -> Any:
        """The first pod whose name begins so."""
        return next(each for each in self.pods if each["metadata"]["name"].startswith(name))

    def remove(self, name: str) -> None:
        """Every pod whose name begins so."""
        self.pods = [each for each in self.pods if not each["metadata"]["name"].startswith(name)]

    def copy(self, name: str, new: str, **metadata: Any) -> Any:
        """Another pod like the first one of that name."""
        pod = deepcopy(self.pod(name))
        pod["metadata"] |= {"name": new, "uid": f"uid-{new}", **metadata}
        self.pods.append(pod)
        return pod


def absent(name: str) -> tuple[int, Any]:
    return 404, {"kind": "Status", "reason": "NotFound", "code": 404, "details": {"name": name}}


def node_object(name: str) -> Any:
    worker = name in WORKERS
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": {"wetopi.io/role": "platform"} if worker else {},
        },
        "spec": {} if worker else {"taints": [CP_TAINT]},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": f"10.72.0.{ADDRESSES[name]}"},
                {"type": "Hostname", "address": name},
            ],
        },
    }


def pod_object(name: str, node: str, labels: dict[str, str], kind: str = "ReplicaSet") -> Any:
    return {
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "uid": f"uid-{name}",
            "labels": labels,
            "ownerReferences": [{"kind": kind}],
            "creationTimestamp": LONG_AGO,
        },
        "spec": {"nodeName": node},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}],
            "containerStatuses": [
                {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}}
            ],
        },
    }


def joined() -> Joined:
    """Everything as the runbook wants it after phase D."""
    world = Joined(wetopi())
    for number, name in enumerate(NODES):
        world.nodes[name] = node_object(name)
        world.ready(name)
        world.renewed_ago[name] = 5.0
        world.ahead[name] = 0.0
        world.unit(name)
        world.say(name, STAT_KUBECONFIG, Reply("600 root root regular file\n"))
        world.ciliumnodes[name] = {
            "metadata": {"name": name},
            "spec": {"ipam": {"podCIDRs": [f"10.64.{number}.0/24", f"fd00:{number}::/64"]}},
            "status": {"ipam": {"operator-status": {}}},
        }
        world.pods += [
            pod_object(f"cilium-{number}", name, {"k8s-app": "cilium"}, "DaemonSet"),
            pod_object(f"cilium-envoy-{number}", name, {"k8s-app": "cilium-envoy"}, "DaemonSet"),
            pod_object(f"kube-proxy-{name}", name, {"component": "kube-proxy"}, "Node"),
        ]
    for name, node, labels in (
        ("coredns-1", CPS[0], {"k8s-app": "kube-dns"}),
        ("coredns-2", CPS[1], {"k8s-app": "kube-dns"}),
        ("autoscaler-1", CPS[0], {"k8s-app": "kube-dns-autoscaler"}),
        ("metrics-1", CPS[0], {"app": "rke2-metrics-server"}),
        ("operator-1", CPS[0], {"io.cilium/app": "operator", "name": "cilium-operator"}),
        ("operator-2", CPS[1], {"io.cilium/app": "operator", "name": "cilium-operator"}),
        ("relay-1", WORKERS[0], {"k8s-app": "hubble-relay"}),
    ):
        world.pods.append(pod_object(name, node, labels))
    return world
