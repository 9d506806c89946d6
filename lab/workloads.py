"""Which pods and namespaces the cluster has at each phase."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.phase import Phase
from lab.pods import PodShape
from lab.programs import KUBERNETES, PROGRAMS, RANCHER, STATEFUL, SYSTEM, Program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.host import Host
    from lab.seed import Seed

_STATIC = {
    "etcd": "hardened-etcd:v3.6.14-k3s1-build20260716",
    "kube-apiserver": KUBERNETES,
    "kube-controller-manager": KUBERNETES,
    "kube-scheduler": KUBERNETES,
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


def namespaces(phase: Phase) -> Iterator[str]:
    """The namespaces that exist at that phase."""
    yield from ("default", "kube-node-lease", "kube-public", SYSTEM)
    if phase.reached(Phase.E):
        yield "cilium-secrets"
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
            yield self._static(host, "kube-proxy", KUBERNETES)
        yield from self._installers()
        for program in PROGRAMS:
            if self._phase.reached(program.since):
                yield from self._controlled(program)

    def _static(self, host: Host, component: str, image: str) -> PodShape:
        return PodShape(
            name=f"{component}-{host.name}",
            namespace=SYSTEM,
            node=host.name,
            labels={"component": component, "tier": "control-plane"},
            owner=("Node", host.name),
            container=component,
            image=RANCHER + image,
            address=host.machine.address,
            host_address=host.machine.address,
            host_network=True,
        )

    def _installers(self) -> Iterator[PodShape]:
        for chart in _CHARTS:
            program = Program(
                f"helm-install-{chart}",
                {
                    "batch.kubernetes.io/job-name": f"helm-install-{chart}",
                    "helmcharts.helm.cattle.io/chart": chart,
                },
                "helm",
                f"{RANCHER}klipper-helm:v0.9.10-build20260701",
                # Only the charts marked bootstrap run on the host's network, before any CNI.
                host_network=chart == "rke2-coredns",
            )
            name = f"{program.name}-{self._suffix(chart)}"
            host = self._servers[0] if self._networked or program.host_network else None
            shape = self._pod(program, name, ("Job", program.name), host)
            yield replace(shape, phase="Succeeded" if host else "Pending")

    @property
    def _networked(self) -> bool:
        """Whether there is a CNI: without one nothing runs on the pod network."""
        return self._phase.reached(Phase.E)

    def _controlled(self, program: Program) -> Iterator[PodShape]:
        hosts = self._hosts(program)
        suffix = self._seed.suffix(program.name, digits=9)
        if not program.replicas:
            for host in hosts:
                name = f"{program.name}-{self._suffix(f'{program.name} {host.name}')}"
                shape = self._pod(program, name, ("DaemonSet", program.name), host)
                yield _labelled(shape, "controller-revision-hash", suffix)
        elif program.name in STATEFUL:
            yield self._pod(program, f"{program.name}-0", ("StatefulSet", program.name), hosts[0])
        else:
            owner = f"{program.name}-{suffix}"
            for index in range(min(program.replicas, len(hosts))):
                name = f"{owner}-{self._suffix(f'{program.name} {index}')}"
                placed = hosts[index] if self._networked else None
                shape = self._pod(program, name, ("ReplicaSet", owner), placed)
                yield _labelled(shape, "pod-template-hash", suffix)

    def _hosts(self, program: Program) -> Sequence[Host]:
        if program.on == "servers":
            return self._servers
        if program.on == "agents":
            return self._agents or self._servers
        return (*self._servers, *self._agents)

    def _pod(
        self, program: Program, name: str, owner: tuple[str, str], host: Host | None
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
            tolerates=program.tolerates,
            scratch=program.scratch,
            sidecars=program.sidecars,
        )

    def _pod_address(self, host: Host) -> str:
        index = [*self._servers, *self._agents].index(host)
        number = self._next_address.get(host.name, 10)
        self._next_address[host.name] = number + 7
        return f"10.{64 + index // 256}.{index % 256}.{number % 254}"

    def _suffix(self, name: str) -> str:
        return self._seed.suffix(name, digits=5)


def _labelled(shape: PodShape, key: str, value: str) -> PodShape:
    return replace(shape, labels={**shape.labels, key: value})
