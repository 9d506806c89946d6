"""`crictl pods -o json`: the static pods whose containers run, by the UIDs the kubelet knows."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from . import containers

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOCKET: Final = "unix:///run/k3s/containerd/containerd.sock"
_WANTED: Final = (f"--runtime-endpoint {_SOCKET} pods -o json").split()


def command(arguments: Sequence[str]) -> int:
    """Its exit status. Without any container there is no containerd either."""
    if list(arguments) != _WANTED:
        sys.stderr.write(f"crictl: this stand-in knows only `crictl {' '.join(_WANTED)}`\n")
        return 1
    states = containers.states()
    if "active" not in states.values():
        path = _SOCKET.removeprefix("unix://")
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        sys.stderr.write(
            f'time="{now}" level=fatal msg="validate service connection: validate CRI v1 runtime '
            f'API for endpoint \\"{_SOCKET}\\": rpc error: code = Unavailable desc = connection '
            f'error: desc = \\"transport: Error while dialing: dial unix {path}: connect: '
            'connection refused\\""\n'
        )
        return 1
    sandboxes = [
        _sandbox(manifest, running=states[component] == "active")
        for component, manifest in containers.manifests().items()
    ]
    sys.stdout.write(json.dumps({"items": sandboxes}, indent=2) + "\n")
    return 0


def _sandbox(manifest: dict[str, Any], *, running: bool) -> dict[str, Any]:
    metadata, uid = manifest["metadata"], containers.uid(manifest)
    name, namespace = metadata["name"], metadata["namespace"]
    return {
        "id": containers.uid({"sandbox": uid}) * 2,
        "metadata": {"name": name, "uid": uid, "namespace": namespace, "attempt": 0},
        "state": "SANDBOX_READY" if running else "SANDBOX_NOTREADY",
        "createdAt": str(time.time_ns()),
        "labels": {
            **metadata["labels"],
            "io.kubernetes.pod.name": name,
            "io.kubernetes.pod.namespace": namespace,
            "io.kubernetes.pod.uid": uid,
        },
        "annotations": {"kubernetes.io/config.hash": uid, "kubernetes.io/config.source": "file"},
        "runtimeHandler": "",
    }
