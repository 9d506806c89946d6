"""This node in the Kubernetes API: the Node object and the mirror pods, as a kubelet keeps them."""

from __future__ import annotations

import datetime
import http.client
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import containers, journal
from .api import ApiError
from .paths import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .api import Api, Json
    from .config import Config

_PODS: Final = "/api/v1/namespaces/kube-system/pods"
_KUBELET_PORT: Final = 10250
_MIRROR: Final = "kubernetes.io/config.mirror"
# systemd-nspawn gives every boot of a machine one of its own, as a kernel does.
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Node:
    """The API's view of this node."""

    def __init__(self, api: Api, config: Config) -> None:
        self._api = api
        self._config = config
        self._path = f"/api/v1/nodes/{config.node_name}"

    def register(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> None:
        """Make or refresh the Node object: these beside a kubelet's own, addresses, node info.

        Raises:
            ApiError, OSError, http.client.HTTPException: the API did not take it.
        """
        name = self._config.node_name
        metadata: Json = {
            "name": name,
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/instance-type": "rke2",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "rke2",
                **labels,
            },
            "annotations": {
                "rke2.io/hostname": name,
                "rke2.io/internal-ip": self._config.node_ip,
                **annotations,
            },
        }
        try:
            self._api.request("PATCH", self._path, {"metadata": metadata})
        except ApiError as refusal:
            if refusal.status != http.client.NOT_FOUND:
                raise
            journal.info(f"Attempting to register node {name}")
            spec = {"providerID": f"rke2://{name}"}
            body = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec}
            self._api.request("POST", "/api/v1/nodes", body)
        self._patch_status(self._status())

    def report_voter(self, *, voter: bool) -> None:
        """Set the condition `EtcdIsVoter`, as the server's etcd controller does.

        Raises:
            ApiError, OSError, http.client.HTTPException: the API did not take it.
        """
        status, reason = ("True", "MemberNotLearner") if voter else ("False", "MemberIsLearner")
        now = _now()
        current = self._api.request("GET", self._path).get("status", {}).get("conditions", [])
        before: Json = next((one for one in current if one["type"] == "EtcdIsVoter"), {})
        condition = {
            "type": "EtcdIsVoter",
            "status": status,
            "reason": reason,
            "message": "Node is a voting member of the etcd cluster"
            if voter
            else "Node is a learner",
            "lastHeartbeatTime": now,
            "lastTransitionTime": before.get("lastTransitionTime", now)
            if before.get("status") == status
            else now,
        }
        self._patch_status({"conditions": [condition]})

    def mirror(self) -> None:
        """Make the mirror pods the API lacks, and remove those of a manifest that is no more.

        Raises:
            ApiError, OSError, http.client.HTTPException: the API did not take it.
        """
        wanted = {
            manifest["metadata"]["name"]: manifest for manifest in containers.manifests().values()
        }
        uid = self._api.request("GET", self._path)["metadata"]["uid"]
        listed = self._api.request(
            "GET", f"{_PODS}?fieldSelector=spec.nodeName%3D{self._config.node_name}"
        )
        present = {
            pod["metadata"]["name"]: pod["metadata"]["annotations"][_MIRROR]
            for pod in listed["items"]
            if _MIRROR in pod["metadata"].get("annotations", {})
        }
        same = {
            name
            for name, manifest in wanted.items()
            if present.get(name) == containers.uid(manifest)
        }
        for name in present.keys() - same:
            self._api.request("DELETE", f"{_PODS}/{name}?gracePeriodSeconds=0")
        for name in wanted.keys() - same:
            self._api.request("POST", _PODS, _mirror_pod(wanted[name], self._config.node_name, uid))

    def _patch_status(self, status: Json) -> None:
        self._api.request(
            "PATCH", f"{self._path}/status", {"status": status}, patch="strategic-merge"
        )

    def _status(self) -> Json:
        size = {"cpu": "2", "memory": "8Gi", "pods": "110", "ephemeral-storage": "40Gi"}
        return {
            "addresses": [
                {"type": "InternalIP", "address": self._config.node_ip},
                {"type": "Hostname", "address": self._config.node_name},
            ],
            "capacity": size,
            "allocatable": size,
            "daemonEndpoints": {"kubeletEndpoint": {"Port": _KUBELET_PORT}},
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": _BOOT_ID.read_text().strip(),
                "containerRuntimeVersion": "containerd://2.2.5-k3s1",
                "kernelVersion": platform.release(),
                "kubeProxyVersion": "",
                "kubeletVersion": VERSION,
                "machineID": Path("/etc/machine-id").read_text().strip(),
                "operatingSystem": "linux",
                "osImage": platform.freedesktop_os_release()["PRETTY_NAME"],
                "systemUUID": Path("/etc/machine-id").read_text().strip(),
            },
        }


def _mirror_pod(manifest: dict[str, Any], node: str, node_uid: str) -> Json:
    digest = containers.uid(manifest)
    metadata = {
        **manifest["metadata"],
        "annotations": {
            "kubernetes.io/config.hash": digest,
            _MIRROR: digest,
            "kubernetes.io/config.seen": _now(),
            "kubernetes.io/config.source": "file",
        },
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "name": node,
                "uid": node_uid,
                "controller": True,
            }
        ],
    }
    spec = {
        **manifest["spec"],
        "nodeName": node,
        "tolerations": [{"effect": "NoExecute", "operator": "Exists"}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
