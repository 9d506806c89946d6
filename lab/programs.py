"""The programs that charts bring: their labels, images, and where they run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lab import layout
from lab.phase import Phase

SYSTEM = "kube-system"
RANCHER = "index.docker.io/rancher/"
KUBERNETES = "hardened-kubernetes:v1.36.3-rke2r1-build20260716"
_CEPH_LABELS = {"app": "ceph-csi-rbd", "release": "ceph-csi-rbd"}
_CEPH_IMAGE = "quay.io/cephcsi/cephcsi:v3.17.1"
_SERVERS_TAINTS = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/etcd")


@dataclass(frozen=True, slots=True)
class Program:
    """What a controller runs.

    Attributes:
        since: the phase that installs it.
        replicas: of a Deployment; 0 is a DaemonSet.
        on: where it runs: `servers`, `agents` or `all`.
        scratch: its emptyDir volumes.
        sidecars: its containers beside the first one.
    """

    name: str
    labels: dict[str, str]
    container: str
    image: str
    since: Phase = Phase.E
    replicas: int = 1
    on: str = "servers"
    namespace: str = SYSTEM
    host_network: bool = False
    scratch: tuple[str, ...] = ()
    sidecars: tuple[str, ...] = ()

    @property
    def tolerates(self) -> tuple[str, ...]:
        """Keys of taints that its chart tolerates; an empty key is every taint."""
        return {"servers": _SERVERS_TAINTS, "all": ("",)}.get(self.on, ())


def _cilium(name: str, **fields: object) -> Program:
    program = Program(name, {"k8s-app": name}, name, f"quay.io/cilium/{name}:v{layout.CILIUM}")
    return replace(program, **fields)  # type: ignore[arg-type]


def _argocd(name: str) -> Program:
    return Program(
        f"argocd-{name}",
        {"app.kubernetes.io/name": f"argocd-{name}"},
        name,
        "quay.io/argoproj/argocd:v3.4.8",
        since=Phase.G,
        on="agents",
        namespace="argocd",
    )


PROGRAMS = (
    Program(
        "rke2-coredns-rke2-coredns",
        {"k8s-app": "kube-dns"},
        "coredns",
        f"{RANCHER}hardened-coredns:v1.13.1-build20260710",
        since=Phase.B,
        replicas=2,
    ),
    Program(
        "rke2-coredns-rke2-coredns-autoscaler",
        {"k8s-app": "kube-dns-autoscaler"},
        "autoscaler",
        f"{RANCHER}hardened-cluster-autoscaler:v1.10.2",
        since=Phase.B,
    ),
    Program(
        "rke2-metrics-server",
        {"app": "rke2-metrics-server"},
        "metrics-server",
        f"{RANCHER}hardened-k8s-metrics-server:v0.8.0",
        scratch=("tmp",),
    ),
    Program(
        "rke2-snapshot-controller",
        {"app.kubernetes.io/name": "rke2-snapshot-controller"},
        "rke2-snapshot-controller",
        f"{RANCHER}hardened-snapshot-controller:v8.3.0",
    ),
    Program(
        "rke2-traefik",
        {"app.kubernetes.io/name": "rke2-traefik"},
        "rke2-traefik",
        f"{RANCHER}hardened-traefik:v3.6.2",
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
    _cilium("hubble-ui", on="agents", scratch=("tmp-dir",)),
    Program(
        "ceph-csi-rbd-provisioner",
        {**_CEPH_LABELS, "component": "provisioner"},
        "csi-provisioner",
        _CEPH_IMAGE,
        since=Phase.F,
        replicas=3,
        on="agents",
        sidecars=("csi-resizer", "csi-snapshotter", "csi-attacher", "csi-rbdplugin"),
    ),
    Program(
        "ceph-csi-rbd-nodeplugin",
        {**_CEPH_LABELS, "component": "nodeplugin"},
        "driver-registrar",
        _CEPH_IMAGE,
        since=Phase.F,
        replicas=0,
        on="agents",
        sidecars=("csi-rbdplugin", "liveness-prometheus"),
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
STATEFUL = frozenset({"argocd-application-controller"})
