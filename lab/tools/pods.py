"""`kubectl exec`: what runs inside the lab's containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.shell import Streams
from lab.tools import run_program

if TYPE_CHECKING:
    from lab.host import Host
    from lab.tools.call import Call


async def execute_in_pod(call: Call, api: Host, pod: dict[str, Any], command: list[str]) -> int:
    """Run a command in a pod through the kubelet of the pod's node."""
    from lab.commands import taken

    del api
    world, name = call.world, pod["metadata"]["name"]
    host = world.hosts.get(pod["spec"].get("nodeName", ""))
    if host is None:
        call.complain(f"error: pod {name} does not have a host assigned")
        return 1
    if "kubelet" not in host.processes:
        call.complain(
            "Error from server: error dialing backend: proxy error from 127.0.0.1:9345 while "
            f"dialing {host.machine.address}:10250, code 502: 502 Bad Gateway"
        )
        return 1
    container = pod["spec"]["containers"][0]["name"]
    place = f"{pod['metadata']['namespace']}/{name}"
    line = " ".join(command)
    reply = next((r for r in world.replies if r.answers_pod(place, line)), None)
    if reply is not None:
        await taken(reply)
        call.streams.out += reply.stdout * reply.repeat
        call.streams.err += reply.stderr * reply.repeat
        if reply.rc:
            call.complain(f"command terminated with exit code {reply.rc}")
        return reply.rc
    if container not in ("etcd",):
        call.mystery(f"exec in {place}: {line}")
        return _absent(call, command[0])
    if "etcd" not in host.processes:
        call.complain(
            "error: Internal error occurred: unable to upgrade connection: container not found "
            '("etcd")'
        )
        return 1
    # The etcd image has etcd and etcdctl and no shell, env or ls (handbook 3.2).
    if command[0].rpartition("/")[2] != "etcdctl":
        return _absent(call, command[0])
    inner = Streams(call.streams.stdin, call.streams.out, call.streams.err)
    shell = call.shell.child(user="root")
    shell.host = host
    rc = await run_program("etcdctl", shell, command, inner)
    if rc:
        call.complain(f"command terminated with exit code {rc}")
    return rc


def _absent(call: Call, program: str) -> int:
    call.complain(
        "error: Internal error occurred: Internal error occurred: error executing command in "
        "container: failed to exec in container: failed to start exec: OCI runtime exec failed: "
        f'exec failed: unable to start container process: exec: "{program}": executable file not '
        "found in $PATH"
    )
    return 1
