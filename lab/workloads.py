"""Which pods and namespaces the cluster has at each phase."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab import layout
from lab.kinds import PodShape
from lab.phase import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.host import Host
    from lab.seed import Seed

_SYSTEM = "kube-system"
_HARDENED = "index.docker.io/rancher/"
_STATIC = (
    ("etcd", "hardened-etcd:v3.6.14-k3s1-build20260716"),
    ("kube-apiserver", "hardened-kubernetes:v1.36.3-rke2r1-build20260716"),
    ("kube-controller-manager", "hardened-kubernetes:v1.36.3-rke2r1-build20260716"),
    ("kube-scheduler", "hardened-kubernetes:v1.36.3-rke2r1-build20260716"),
    ("cloud-controller-manager", "rke2-cloud-provider:v1.36.0-rc1"),
)
_CHARTS = (
    "rke2-coredns",
    "rke2-metrics-server",
    "rke2-runtimeclasses",
    "rke2-snapshot-controller",
    "rke2-snapshot-controller-crd",
    "rke2-traefik",
    "rke2-traefik-crd",
)
_ARGOCD = (
    "argocd-applicationset-controller",
    "argocd-dex-server",
    "argocd-notifications-controller",
    "argocd-redis",
    "argocd-repo-server",
    "argocd-server",
)


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
    """Shapes of the pods of one cluster.

    Args:
        servers: control planes that have joined.
        agents: workers that have joined.
    """

    def __init__(self, seed: Seed, phase: Phase, servers: list[Host], agents: list[Host]) -> None:
        self._seed = seed
        self._phase = phase
        self._servers = servers
        self._agents = agents
        self._next_address: dict[str, int] = {}

    def shapes(self) -> Iterator[PodShape]:
        """Every pod of the cluster."""
        for host in self._servers:
            for component, image in _STATIC:
                yield self._static(host, component, image)
        for host in (*self._servers, *self._agents):
            yield self._static(
                host, "kube-proxy", "hardened-kubernetes:v1.36.3-rke2r1-build20260716"
            )
        yield from self._installers()
        yield from self._addons()
        if self._phase.reached(Phase.E):
            yield from self._cilium()
        if self._phase.reached(Phase.F):
            yield from self._ceph()
        if self._phase.reached(Phase.G):
            yield from self._argocd()

    def _static(self, host: Host, component: str, image: str) -> PodShape:
        return PodShape(
            name=f"{component}-{host.name}",
            namespace=_SYSTEM,
            node=host.name,
            labels={"component": component, "tier": "control-plane"},
            owner=("Node", host.name),
            container=component,
            image=_HARDENED + image,
            address=host.machine.address,
            host_address=host.machine.address,
            host_network=True,
        )

    def _installers(self) -> Iterator[PodShape]:
        networked = self._phase.reached(Phase.E)
        for chart in _CHARTS:
            # Only the charts marked bootstrap run on the host's network, before there is a CNI.
            done = networked or chart == "rke2-coredns"
            shape = self._pod(
                f"helm-install-{chart}-{self._suffix(chart, 5)}",
                {
                    "batch.kubernetes.io/job-name": f"helm-install-{chart}",
                    "helmcharts.helm.cattle.io/chart": chart,
                },
                ("Job", f"helm-install-{chart}"),
                "helm",
                "klipper-helm:v0.9.10-build20260701",
                self._servers[0] if done else None,
            )
            yield replace(shape, phase="Succeeded" if done else "Pending")

    def _addons(self) -> Iterator[PodShape]:
        networked = self._phase.reached(Phase.E)
        hosts = self._servers if networked else []
        yield from self._deployment(
            "rke2-coredns-rke2-coredns",
            {"k8s-app": "kube-dns"},
            "coredns",
            "hardened-coredns:v1.13.1-build20260710",
            hosts[:2] or [None],
        )
        yield from self._deployment(
            "rke2-coredns-rke2-coredns-autoscaler",
            {"k8s-app": "kube-dns-autoscaler"},
            "autoscaler",
            "hardened-cluster-autoscaler:v1.10.2",
            hosts[:1] or [None],
        )
        if networked:
            yield from self._deployment(
                "rke2-metrics-server",
                {"app": "rke2-metrics-server"},
                "metrics-server",
                "hardened-k8s-metrics-server:v0.8.0",
                hosts[1:2],
            )
            yield from self._deployment(
                "rke2-snapshot-controller",
                {"app.kubernetes.io/name": "rke2-snapshot-controller"},
                "rke2-snapshot-controller",
                "hardened-snapshot-controller:v8.3.0",
                hosts[2:3],
            )
            yield from self._daemon_set(
                "rke2-traefik",
                {"app.kubernetes.io/name": "rke2-traefik"},
                "rke2-traefik",
                "hardened-traefik:v3.6.2",
                [*self._servers, *self._agents],
            )

    def _cilium(self) -> Iterator[PodShape]:
        everywhere = [*self._servers, *self._agents]
        for name in ("cilium", "cilium-envoy"):
            yield from self._daemon_set(
                name,
                {"k8s-app": name},
                f"{name}-agent" if name == "cilium" else name,
                f"quay.io/cilium/{name}:v{layout.CILIUM}",
                everywhere,
                host_network=True,
            )
        yield from self._deployment(
            "cilium-operator",
            {"io.cilium/app": "operator", "name": "cilium-operator"},
            "cilium-operator",
            f"quay.io/cilium/operator-generic:v{layout.CILIUM}",
            self._servers[:2],
            host_network=True,
        )
        for name in ("hubble-relay", "hubble-ui"):
            yield from self._deployment(
                name,
                {"k8s-app": name},
                name,
                f"quay.io/cilium/{name}:v{layout.CILIUM}",
                (self._agents or self._servers)[:1],
            )

    def _ceph(self) -> Iterator[PodShape]:
        labels = {"app": "ceph-csi-rbd", "release": "ceph-csi-rbd"}
        image = "quay.io/cephcsi/cephcsi:v3.17.1"
        yield from self._deployment(
            "ceph-csi-rbd-provisioner",
            {**labels, "component": "provisioner"},
            "csi-rbdplugin",
            image,
            self._agents[:3],
            namespace="ceph-csi-rbd",
        )
        yield from self._daemon_set(
            "ceph-csi-rbd-nodeplugin",
            {**labels, "component": "nodeplugin"},
            "csi-rbdplugin",
            image,
            self._agents,
            namespace="ceph-csi-rbd",
            host_network=True,
        )

    def _argocd(self) -> Iterator[PodShape]:
        for index, name in enumerate(_ARGOCD):
            yield from self._deployment(
                name,
                {"app.kubernetes.io/name": name},
                name,
                "quay.io/argoproj/argocd:v3.4.8",
                [self._agents[index % len(self._agents)]],
                namespace="argocd",
            )
        controller = "argocd-application-controller"
        yield self._pod(
            f"{controller}-0",
            {"app.kubernetes.io/name": controller},
            ("StatefulSet", controller),
            controller,
            "quay.io/argoproj/argocd:v3.4.8",
            self._agents[0],
            namespace="argocd",
        )

    def _deployment(
        self,
        name: str,
        labels: dict[str, str],
        container: str,
        image: str,
        hosts: list[Host] | list[None],
        *,
        namespace: str = _SYSTEM,
        host_network: bool = False,
    ) -> Iterator[PodShape]:
        replica_set = f"{name}-{self._suffix(name, 9)}"
        for index, host in enumerate(hosts):
            yield self._pod(
                f"{replica_set}-{self._suffix(f'{name} {index}', 5)}",
                {**labels, "pod-template-hash": replica_set.rpartition("-")[2]},
                ("ReplicaSet", replica_set),
                container,
                image,
                host,
                namespace=namespace,
                host_network=host_network,
            )

    def _daemon_set(
        self,
        name: str,
        labels: dict[str, str],
        container: str,
        image: str,
        hosts: list[Host],
        *,
        namespace: str = _SYSTEM,
        host_network: bool = False,
    ) -> Iterator[PodShape]:
        for host in hosts:
            yield self._pod(
                f"{name}-{self._suffix(f'{name} {host.name}', 5)}",
                {**labels, "controller-revision-hash": self._suffix(name, 9)},
                ("DaemonSet", name),
                container,
                image,
                host,
                namespace=namespace,
                host_network=host_network,
            )

    def _pod(
        self,
        name: str,
        labels: dict[str, str],
        owner: tuple[str, str],
        container: str,
        image: str,
        host: Host | None,
        *,
        namespace: str = _SYSTEM,
        host_network: bool = False,
    ) -> PodShape:
        address = None
        if host:
            address = host.machine.address if host_network else self._pod_address(host)
        return PodShape(
            name=name,
            namespace=namespace,
            node=host.name if host else None,
            labels=labels,
            owner=owner,
            container=container,
            image=image if "/" in image else _HARDENED + image,
            phase="Running" if host else "Pending",
            address=address,
            host_address=host.machine.address if host else None,
            host_network=host_network,
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
