"""Which pods and namespaces the cluster has at each phase."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab import layout
from lab.phase import Phase
from lab.pods import PodShape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.host import Host
    from lab.seed import Seed

_SYSTEM = "kube-system"
_RANCHER = "index.docker.io/rancher/"
_KUBERNETES = "hardened-kubernetes:v1.36.3-rke2r1-build20260716"
_STATIC = {
    "etcd": "hardened-etcd:v3.6.14-k3s1-build20260716",
    "kube-apiserver": _KUBERNETES,
    "kube-controller-manager": _KUBERNETES,
    "kube-scheduler": _KUBERNETES,
    "cloud-controller-manager": "rke2-cloud-provider:v1.36.0-rc1",
}
_CHARTS = (
    "rke2-coredns",
    "rke2-metrics-server",
    "rke2-runtimeclasses",
    "rke2-snapshot-controller",
    "rke2-snapshot-controller-crd",
    "rke2-traefik",
    "rke2-traefik-crd",
)
_CEPH_LABELS = {"app": "ceph-csi-rbd", "release": "ceph-csi-rbd"}
_CEPH_IMAGE = "quay.io/cephcsi/cephcsi:v3.17.1"


@dataclass(frozen=True, slots=True)
class _Program:
    """What a controller runs.

    Attributes:
        since: the phase that installs it.
        replicas: of a Deployment; 0 is a DaemonSet.
        on: where it runs: `servers`, `agents` or `all`.
    """

    name: str
    labels: dict[str, str]
    container: str
    image: str
    since: Phase = Phase.E
    replicas: int = 1
    on: str = "servers"
    namespace: str = _SYSTEM
    host_network: bool = False


def _cilium(name: str, **fields: object) -> _Program:
    program = _Program(name, {"k8s-app": name}, name, f"quay.io/cilium/{name}:v{layout.CILIUM}")
    return replace(program, **fields)  # type: ignore[arg-type]


def _argocd(name: str) -> _Program:
    return _Program(
        f"argocd-{name}",
        {"app.kubernetes.io/name": f"argocd-{name}"},
        name,
        "quay.io/argoproj/argocd:v3.4.8",
        since=Phase.G,
        on="agents",
        namespace="argocd",
    )


_PROGRAMS = (
    _Program(
        "rke2-coredns-rke2-coredns",
        {"k8s-app": "kube-dns"},
        "coredns",
        f"{_RANCHER}hardened-coredns:v1.13.1-build20260710",
        since=Phase.B,
        replicas=2,
    ),
    _Program(
        "rke2-coredns-rke2-coredns-autoscaler",
        {"k8s-app": "kube-dns-autoscaler"},
        "autoscaler",
        f"{_RANCHER}hardened-cluster-autoscaler:v1.10.2",
        since=Phase.B,
    ),
    _Program(
        "rke2-metrics-server",
        {"app": "rke2-metrics-server"},
        "metrics-server",
        f"{_RANCHER}hardened-k8s-metrics-server:v0.8.0",
    ),
    _Program(
        "rke2-snapshot-controller",
        {"app.kubernetes.io/name": "rke2-snapshot-controller"},
        "rke2-snapshot-controller",
        f"{_RANCHER}hardened-snapshot-controller:v8.3.0",
    ),
    _Program(
        "rke2-traefik",
        {"app.kubernetes.io/name": "rke2-traefik"},
        "rke2-traefik",
        f"{_RANCHER}hardened-traefik:v3.6.2",
        replicas=0,
        on="all",
    ),
    _cilium("cilium", container="cilium-agent", replicas=0, on="all", host_network=True),
    _cilium("cilium-envoy", replicas=0, on="all", host_network=True),
    _cilium(
        "cilium-operator",
        labels={"io.cilium/app": "operator", "name": "cilium-operator"},
        replicas=2,
        host_network=True,
    ),
    _cilium("hubble-relay", on="agents"),
    _cilium("hubble-ui", on="agents"),
    _Program(
        "ceph-csi-rbd-provisioner",
        {**_CEPH_LABELS, "component": "provisioner"},
        "csi-rbdplugin",
        _CEPH_IMAGE,
        since=Phase.F,
        replicas=3,
        on="agents",
        namespace="ceph-csi-rbd",
    ),
    _Program(
        "ceph-csi-rbd-nodeplugin",
        {**_CEPH_LABELS, "component": "nodeplugin"},
        "csi-rbdplugin",
        _CEPH_IMAGE,
        since=Phase.F,
        replicas=0,
        on="agents",
        namespace="ceph-csi-rbd",
        host_network=True,
    ),
    *map(
        _argocd,
        (
            "application-controller",
            "applicationset-controller",
            "dex-server",
            "notifications-controller",
            "redis",
            "repo-server",
            "server",
        ),
    ),
)
# The one StatefulSet among them.
_STATEFUL = frozenset({"argocd-application-controller"})


def namespaces(phase: Phase) -> Iterator[str]:
    """The namespaces that exist at that phase."""
    yield from ("default", "kube-node-lease", "kube-public", _SYSTEM)
    if phase.reached(Phase.E):
        yield "cilium-secrets"
    if phase.reached(Phase.F):
        yield "ceph-csi-rbd"
    if phase.reached(Phase.G):
        yield from ("argocd", "platform")


class Workloads:
    """The pods of one cluster: `servers` and `agents` are the nodes that have joined."""

    def __init__(self, seed: Seed, phase: Phase, servers: list[Host], agents: list[Host]) -> None:
        self._seed = seed
        self._phase = phase
        self._servers = servers
        self._agents = agents
        self._next_address: dict[str, int] = {}

    def shapes(self) -> Iterator[PodShape]:
        """Every pod."""
        for host in self._servers:
            for component, image in _STATIC.items():
                yield self._static(host, component, image)
        for host in (*self._servers, *self._agents):
            yield self._static(host, "kube-proxy", _KUBERNETES)
        yield from self._installers()
        for program in _PROGRAMS:
            if self._phase.reached(program.since):
                yield from self._controlled(program)

    def _static(self, host: Host, component: str, image: str) -> PodShape:
        return PodShape(
            name=f"{component}-{host.name}",
            namespace=_SYSTEM,
            node=host.name,
            labels={"component": component, "tier": "control-plane"},
            owner=("Node", host.name),
            container=component,
            image=_RANCHER + image,
            address=host.machine.address,
            host_address=host.machine.address,
            host_network=True,
        )

    def _installers(self) -> Iterator[PodShape]:
        for chart in _CHARTS:
            program = _Program(
                f"helm-install-{chart}",
                {
                    "batch.kubernetes.io/job-name": f"helm-install-{chart}",
                    "helmcharts.helm.cattle.io/chart": chart,
                },
                "helm",
                f"{_RANCHER}klipper-helm:v0.9.10-build20260701",
                # Only the charts marked bootstrap run on the host's network, before any CNI.
                host_network=chart == "rke2-coredns",
            )
            name = f"{program.name}-{self._suffix(chart, 5)}"
            host = self._servers[0] if self._networked or program.host_network else None
            shape = self._pod(program, name, ("Job", program.name), host)
            yield replace(shape, phase="Succeeded" if host else "Pending")

    @property
    def _networked(self) -> bool:
        """Whether there is a CNI: without one nothing runs on the pod network."""
        return self._phase.reached(Phase.E)

    def _controlled(self, program: _Program) -> Iterator[PodShape]:
        hosts = self._hosts(program)
        suffix = self._suffix(program.name, 9)
        if not program.replicas:
            for host in hosts:
                name = f"{program.name}-{self._suffix(f'{program.name} {host.name}', 5)}"
                yield self._pod(program, name, ("DaemonSet", program.name), host)
        elif program.name in _STATEFUL:
            yield self._pod(program, f"{program.name}-0", ("StatefulSet", program.name), hosts[0])
        else:
            owner = f"{program.name}-{suffix}"
            for index in range(min(program.replicas, len(hosts))):
                name = f"{owner}-{self._suffix(f'{program.name} {index}', 5)}"
                placed = hosts[index] if self._networked else None
                yield self._pod(program, name, ("ReplicaSet", owner), placed)

    def _hosts(self, program: _Program) -> Sequence[Host]:
        if program.on == "servers":
            return self._servers
        if program.on == "agents":
            return self._agents or self._servers
        return (*self._servers, *self._agents)

    def _pod(
        self, program: _Program, name: str, owner: tuple[str, str], host: Host | None
    ) -> PodShape:
        address = None
        if host:
            address = host.machine.address if program.host_network else self._pod_address(host)
        return PodShape(
            name=name,
            namespace=program.namespace,
            node=host.name if host else None,
            labels=program.labels,
            owner=owner,
            container=program.container,
            image=program.image,
            phase="Running" if host else "Pending",
            address=address,
            host_address=host.machine.address if host else None,
            host_network=program.host_network,
        )

    def _pod_address(self, host: Host) -> str:
        index = [*self._servers, *self._agents].index(host)
        number = self._next_address.get(host.name, 10)
        self._next_address[host.name] = number + 7
        return f"10.{64 + index // 256}.{index % 256}.{number % 254}"

    def _suffix(self, name: str, digits: int) -> str:
        # The API server's generated names leave out vowels and look-alikes.
        letters = "bcdfghjklmnpqrstvwxz2456789"
        return "".join(
            letters[byte % len(letters)] for byte in self._seed.bytes("suffix", name, size=digits)
        )
