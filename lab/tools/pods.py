"""`kubectl exec`: what runs inside the lab's containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.host import Link
from lab.tools import run_program

if TYPE_CHECKING:
    from lab.replies import Reply
    from lab.tools.call import Call


_NO_CONTAINER = (
    'error: Internal error occurred: unable to upgrade connection: container not found ("etcd")'
)


async def execute_in_pod(call: Call, pod: dict[str, Any], command: list[str]) -> int:
    """Run a command in a pod through the kubelet of the pod's node."""
    name = pod["metadata"]["name"]
    host = call.world.hosts.get(pod["spec"].get("nodeName", ""))
    if host is None:
        call.complain(f"error: pod {name} does not have a host assigned")
        return 1
    if "kubelet" not in host.processes or host.link is not Link.UP:
        call.complain(
            "Error from server: error dialing backend: proxy error from 127.0.0.1:9345 while "
            f"dialing {host.machine.address}:10250, code 502: 502 Bad Gateway"
        )
        return 1
    place = f"{pod['metadata']['namespace']}/{name}"
    line = " ".join(command)
    reply = next((r for r in call.world.replies if r.answers_pod(place, line)), None)
    if reply is not None:
        rc = await _replied(call, reply)
    elif pod["spec"]["containers"][0]["name"] != "etcd":
        call.mystery(f"exec in {place}: {line}")
        return _absent(call, command[0])
    else:
        # The etcd image has etcd and etcdctl and no shell, env or ls (handbook 3.2).
        if command[0].rpartition("/")[2] != "etcdctl":
            return _absent(call, command[0])
        if "etcd" not in host.processes:
            call.complain(_NO_CONTAINER)
            return 1
        shell = call.shell.child(user="root")
        shell.host = host
        rc = await run_program("etcdctl", shell, command, call.streams)
    if rc:
        call.complain(f"command terminated with exit code {rc}")
    return rc


async def _replied(call: Call, reply: Reply) -> int:
    await reply.take()
    call.streams.out += reply.stdout * reply.repeat
    call.streams.err += reply.stderr * reply.repeat
    return reply.rc


def _absent(call: Call, program: str) -> int:
    call.complain(
        "error: Internal error occurred: Internal error occurred: error executing command in "
        "container: failed to exec in container: failed to start exec: OCI runtime exec failed: "
        f'exec failed: unable to start container process: exec: "{program}": executable file not '
        "found in $PATH"
    )
    return 1
