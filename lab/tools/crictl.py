"""crictl: the pods as the node's container runtime knows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lab.pods import MIRROR
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.tools.call import Call

_SOCKET = "unix:///run/k3s/containerd/containerd.sock"


async def crictl(call: Call) -> int:
    """`crictl --runtime-endpoint SOCKET pods -o json`."""
    options = split(
        call.arguments,
        flags=("-q", "--quiet"),
        valued=("--runtime-endpoint", "-r", "-o", "--output", "--config", "-c"),
        name="crictl",
        refuse="Incorrect Usage: flag provided but not defined: {flag}",
    )
    if options.rest != ["pods"] or options.get("-o", "--output") != "json":
        raise UsageError("crictl: the lab knows `pods -o json` only")
    place = options.get("--runtime-endpoint", "-r") or _SOCKET
    if call.user != "root" or place != _SOCKET or "containerd" not in call.host.processes:
        reason = "permission denied" if call.user != "root" else "no such file or directory"
        if place == _SOCKET and call.user == "root":
            reason = "connection refused"
        path = place.removeprefix("unix://")
        call.complain(
            f'time="{call.world.now(call.host):%Y-%m-%dT%H:%M:%SZ}" level=fatal msg="validate '
            f'service connection: validate CRI v1 runtime API for endpoint \\"{place}\\": rpc '
            'error: code = Unavailable desc = connection error: desc = \\"transport: Error while '
            f'dialing: dial unix {path}: connect: {reason}\\""'
        )
        return 1
    call.say(json.dumps({"items": _sandboxes(call)}, indent=2))
    return 0


def _sandboxes(call: Call) -> list[dict[str, Any]]:
    pods = call.world.objects_of(call.host).select("Pod", on=call.host.name)
    rows = [_row(call, pod) for pod in pods if _known(pod)]
    stray = call.world.trouble.strays.get(call.host.name)
    if stray:
        uid = call.world.seed.uuid("stray", stray)
        rows.append(_sandbox(call, "default", stray, uid, ready=True))
    return rows


def _known(pod: dict[str, Any]) -> bool:
    """Whether it runs here; a static pod whose process is gone has no sandbox that is ready."""
    return pod["status"].get("phase") != "Pending" or "startTime" in pod["status"]


def _row(call: Call, pod: dict[str, Any]) -> dict[str, Any]:
    metadata = pod["metadata"]
    # The kubelet knows a static pod by the hash of its manifest, not by its mirror's UID.
    uid = metadata.get("annotations", {}).get(MIRROR) or metadata["uid"]
    ready = pod["status"].get("phase") == "Running"
    if ready and MIRROR in metadata.get("annotations", {}):
        ready = pod["spec"]["containers"][0]["name"] in call.host.processes
    return _sandbox(call, metadata["namespace"], metadata["name"], uid, ready=ready)


def _sandbox(call: Call, namespace: str, name: str, uid: str, *, ready: bool) -> dict[str, Any]:
    return {
        "id": call.world.seed.hex("sandbox", call.host.name, uid, digits=64),
        "metadata": {"name": name, "uid": uid, "namespace": namespace, "attempt": 0},
        "state": "SANDBOX_READY" if ready else "SANDBOX_NOTREADY",
        "createdAt": str(int(call.world.seed.born.timestamp()) * 10**9),
        "labels": {
            "io.kubernetes.pod.name": name,
            "io.kubernetes.pod.namespace": namespace,
            "io.kubernetes.pod.uid": uid,
        },
        "annotations": {},
        "runtimeHandler": "",
    }
