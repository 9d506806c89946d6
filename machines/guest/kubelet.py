"""kwok in the kubelet's place.

What is exec'd, it runs through `in-container`, in a mount namespace that holds what RKE2's etcd
container holds as well: etcdctl and the mounted certificates, no `env`, no shell, no `client.crt`.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Final

from .api import ApiError
from .paths import (
    AGENT,
    CLUSTER_DNS,
    KUBE_PROXY_KUBECONFIG,
    KUBELET_KUBECONFIG,
    KUBELET_PID,
    LIBRARY,
    PROGRAMS,
    RUN,
    TLS,
)

if TYPE_CHECKING:
    from pathlib import Path

    from .api import Api
    from .config import Config

_ETCD_ROOT: Final = RUN / "etcd"
_MOUNTED: Final = (
    "server-ca.crt",
    "server-client.crt",
    "server-client.key",
    "peer-ca.crt",
    "peer-server-client.crt",
    "peer-server-client.key",
)
_GRACE: Final = 5.0
_RIGHTS: Final = "machines-lab:kwok"
_RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"


def configure(server: str, cluster_dns: str) -> None:
    """Write the kubeconfigs of kubelet and kube-proxy, 0600, and where pods ask for names.

    Args:
        server: the host of the API.
        cluster_dns: the address of the service that answers pods.
    """
    CLUSTER_DNS.write_text(f"{cluster_dns}\n")
    for path, client in (
        (KUBELET_KUBECONFIG, "client-kubelet"),
        (KUBE_PROXY_KUBECONFIG, "client-kube-proxy"),
    ):
        files = {
            "client-certificate": f"{AGENT}/{client}.crt",
            "client-key": f"{AGENT}/{client}.key",
        }
        cluster = {
            "server": f"https://{server}:6443",
            "certificate-authority": f"{AGENT}/server-ca.crt",
        }
        path.touch(mode=0o600)
        path.write_text(kubeconfig(cluster, files))


def kubeconfig(cluster: dict[str, str], user: dict[str, str]) -> str:
    """A kubeconfig of one user of one cluster. JSON is YAML."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "Default", "context": {"cluster": "local", "user": "user"}}],
        "current-context": "Default",
    }
    return json.dumps(content, indent=2) + "\n"


def allow(api: Api) -> None:
    """Let every node list nodes and leases: kwok does, where a kubelet asks for its own alone.

    Raises:
        ApiError, OSError, http.client.HTTPException: the API did not take it.
    """
    group = "rbac.authorization.k8s.io"
    verbs = ["get", "list", "watch"]
    role = {
        "metadata": {"name": _RIGHTS},
        "rules": [
            {"apiGroups": [""], "resources": ["nodes"], "verbs": verbs},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": verbs},
        ],
    }
    binding = {
        "metadata": {"name": _RIGHTS},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": _RIGHTS},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "system:nodes"}],
    }
    for kind, body in (("clusterroles", role), ("clusterrolebindings", binding)):
        try:
            api.request("POST", f"{_RBAC}/{kind}", body)
        except ApiError as refusal:
            if refusal.status != http.client.CONFLICT:
                raise


def start(config: Config) -> subprocess.Popen[bytes]:
    """Start kwok for this node; its pid is in `KUBELET_PID` for the unit's ExecStopPost.

    Raises:
        OSError: a file is missing.
    """
    stop()
    mounts = " && ".join(_etcd_root()) or "true"
    process = subprocess.Popen(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *("sh", "-c", f'{mounts} && exec {PROGRAMS}/kwok "$@"', "kwok"),
            f"--config={LIBRARY}/kwok.yaml",
            f"--kubeconfig={KUBELET_KUBECONFIG}",
            f"--manage-single-node={config.node_name}",
            "--manage-all-nodes=false",
            f"--node-ip={config.node_ip}",
            "--node-port=10250",
            "--node-lease-duration-seconds=40",
            f"--tls-cert-file={AGENT}/serving-kubelet.crt",
            f"--tls-private-key-file={AGENT}/serving-kubelet.key",
        ],
        env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(RUN)},
        stdout=(RUN / "kubelet.log").open("ab"),
        stderr=subprocess.STDOUT,
    )
    KUBELET_PID.write_text(f"{process.pid}\n")
    return process


def stop() -> None:
    """End the kwok that `start` left running, if any, and wait for it."""
    if not KUBELET_PID.exists():
        return
    pid = int(KUBELET_PID.read_text())
    KUBELET_PID.unlink()
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            os.kill(pid, 0)
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)


def _etcd_root() -> list[str]:
    """Make the root of the etcd container, on a control plane; the mounts it still needs."""
    shutil.rmtree(_ETCD_ROOT, ignore_errors=True)
    if not (TLS / "etcd").is_dir():
        return []
    certificates = _ETCD_ROOT / TLS.relative_to("/") / "etcd"
    for folder in (certificates, _ETCD_ROOT / "tmp"):
        folder.mkdir(parents=True)
    for name in _MOUNTED:
        _copy(TLS / "etcd" / name, certificates)
    binds = {
        str(PROGRAMS / "etcdctl"): _ETCD_ROOT / "usr/local/bin/etcdctl",
        "/dev/null": _ETCD_ROOT / "dev/null",
    }
    for target in binds.values():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    return [f"mount --bind {source} {target}" for source, target in binds.items()]


def _copy(path: Path, folder: Path) -> None:
    shutil.copyfile(path, folder / path.name)
    (folder / path.name).chmod(0o600)
