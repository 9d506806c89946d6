"""RKE2's places on a node, and the stand-in's own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

DATA: Final = Path("/var/lib/rancher/rke2")
CONFIG: Final = Path("/etc/rancher/rke2/config.yaml")
TLS: Final = DATA / "server/tls"
CREDENTIALS: Final = DATA / "server/cred"
ETCD: Final = DATA / "server/db/etcd"
SNAPSHOTS: Final = DATA / "server/db/snapshots"
RESET_FLAG: Final = DATA / "server/db/reset-flag"
TOKEN: Final = DATA / "server/token"
AGENT: Final = DATA / "agent"
KUBELET_KUBECONFIG: Final = AGENT / "kubelet.kubeconfig"
KUBE_PROXY_KUBECONFIG: Final = AGENT / "kubeproxy.kubeconfig"
MANIFESTS: Final = AGENT / "pod-manifests"
LOGS: Final = Path("/var/log/pods")
LIBRARY: Final = Path("/usr/local/lib/machines-lab")
PROGRAMS: Final = LIBRARY / "bin"
RUN: Final = Path("/run/machines-lab")
KUBELET_PID: Final = RUN / "kubelet.pid"
CLUSTER_DNS: Final = RUN / "cluster-dns"
BOUND: Final = RUN / "pods"
COREDNS: Final = RUN / "coredns"
VERSION: Final = "v1.36.3+rke2r1"
