"""Pods that the scheduler put on this node: what of them is more than an object here.

The first Cilium agent brings the network, so the node becomes Ready. CoreDNS really runs.
"""

from __future__ import annotations

import datetime
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Final

from . import containers, journal, kubelet, unit
from .paths import AGENT, COREDNS, PROGRAMS

if TYPE_CHECKING:
    from .api import Api, Json
    from .config import Config

CNI: Final = "machines-lab/cni"
"""The annotation that lets kwok's stages say that the node is Ready."""

_NAME: Final = "coredns"
_READY_PORT: Final = 8181
_PROBE: Final = 1.0
_A_YEAR: Final = 365 * 24 * 3600


class Bound:
    """This node's pods as the API has them."""

    def __init__(self, api: Api, config: Config) -> None:
        self._api = api
        self._config = config
        self._has_cni = False

    def keep(self) -> None:
        """Bring what really runs in line with the API, and tell it whether that is ready."""
        name = self._config.node_name
        try:
            listed = self._api.request("GET", f"/api/v1/pods?fieldSelector=spec.nodeName%3D{name}")
            pods = [pod for pod in listed["items"] if "deletionTimestamp" not in pod["metadata"]]
            self._keep_cni(pods)
            self._keep_coredns(_of(pods, "kube-dns"))
        except unit.UNANSWERED as reason:
            journal.info(f"Waiting for the pods of this node: {reason}")

    def _keep_cni(self, pods: list[Json]) -> None:
        agent = _of(pods, "cilium")
        if self._has_cni or agent is None or agent.get("status", {}).get("phase") != "Running":
            return
        body = {"metadata": {"annotations": {CNI: "cilium"}}}
        self._api.request("PATCH", f"/api/v1/nodes/{self._config.node_name}", body)
        self._has_cni = True

    def _keep_coredns(self, pod: Json | None) -> None:
        running = containers.bound().get(_NAME)
        if pod is None:
            if running:
                containers.release(_NAME)
            return
        manifest = _manifest(pod)
        if manifest != running:
            self._configure(pod)
            containers.bind(_NAME, manifest)
        self._report(pod, ready=self._answers())

    def _configure(self, pod: Json) -> None:
        """Corefile and credential, as ConfigMap and projected volume bring them in a cluster."""
        COREDNS.mkdir(parents=True, exist_ok=True)
        COREDNS.chmod(0o700)
        (COREDNS / "kubeconfig").write_text(_kubeconfig(self._config.api_service, self._token(pod)))
        (COREDNS / "Corefile").write_text(_corefile(self._config.node_ip))

    def _token(self, pod: Json) -> str:
        metadata, account = pod["metadata"], pod["spec"]["serviceAccountName"]
        reference = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "uid": metadata["uid"],
        }
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": _A_YEAR, "boundObjectRef": reference},
        }
        path = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token"
        return str(self._api.request("POST", path, body)["status"]["token"])

    def _answers(self) -> bool:
        """The pod's readiness probe."""
        url = f"http://{self._config.node_ip}:{_READY_PORT}/ready"
        try:
            with urllib.request.urlopen(url, timeout=_PROBE):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def _report(self, pod: Json, *, ready: bool) -> None:
        status, said = pod.get("status", {}), "True" if ready else "False"
        told = {one["type"]: one["status"] for one in status.get("conditions", [])}
        if told.get("Ready", said) == said or not status.get("containerStatuses"):
            return
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = [
            {"type": kind, "status": said, "lastTransitionTime": now}
            for kind in ("Ready", "ContainersReady")
        ]
        each = [{**one, "ready": ready} for one in status["containerStatuses"]]
        metadata = pod["metadata"]
        self._api.request(
            "PATCH",
            f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status",
            {"status": {"conditions": conditions, "containerStatuses": each}},
            patch="strategic-merge",
        )


def _of(pods: list[Json], app: str) -> Json | None:
    found = (pod for pod in pods if pod["metadata"].get("labels", {}).get("k8s-app") == app)
    return next(found, None)


def _manifest(pod: Json) -> dict[str, Any]:
    kept = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
    command = [str(PROGRAMS / "coredns"), "-conf", str(COREDNS / "Corefile")]
    return {"metadata": kept, "spec": {"containers": [{"name": _NAME, "command": command}]}}


def _kubeconfig(api_service: str, token: str) -> str:
    # The service's own address: what CoreDNS asks goes through kube-proxy.
    cluster = {
        "server": f"https://{api_service}:443",
        "certificate-authority": f"{AGENT}/server-ca.crt",
    }
    return kubelet.kubeconfig(cluster, {"token": token})


def _corefile(address: str) -> str:
    # The second block answers for the Internet, which there is none of: no such name.
    return f"""cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {{
    bind {address}
    errors
    ready {address}:{_READY_PORT}
    kubernetes {{
        kubeconfig {COREDNS}/kubeconfig
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }}
    cache 30
    loadbalance
}}
.:53 {{
    bind {address}
    template ANY ANY {{
        rcode NXDOMAIN
    }}
}}
"""
