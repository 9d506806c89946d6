"""What runs inside the lab's containers, for `kubectl exec` and the API's own exec.

A program in a container is an async function `name(call, pod)` of a family file of `lab/tools/`,
listed here by the image's name. A container whose image is not listed has nothing the lab knows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lab.tools.call import Call, UsageError

if TYPE_CHECKING:
    from lab.host import Host
    from lab.objects import Object
    from lab.replies import Reply
    from lab.shell import Shell
    from lab.streams import Streams
    from lab.world import World

# Image name, without registry and tag: program, and the function that plays it.
_IMAGES: dict[str, dict[str, str]] = {
    # The etcd image has etcd and etcdctl and no shell, env or ls (handbook 3.2).
    "hardened-etcd": {"etcdctl": "etcdctl.in_pod"},
}
_ENDED = frozenset({"Succeeded", "Failed"})


class NotStartedError(Exception):
    """The program was not started; the text is the API's.

    Attributes:
        code: HTTP status of the refusal; None if the API found out after it had agreed to run it.
        reason: of the Status.
    """

    def __init__(self, text: str, code: int | None = None, reason: str = "InternalError") -> None:
        super().__init__(text)
        self.code = code
        self.reason = reason


def not_found_container(name: str) -> NotStartedError:
    """The kubelet runs no such container now."""
    return NotStartedError(
        f'Internal error occurred: unable to upgrade connection: container not found ("{name}")'
    )


def located(world: World, pod: Object, container: str) -> Host:
    """The host whose kubelet runs the container, as far as the API can tell.

    Raises:
        NotStartedError: there is none.
    """
    name = pod["metadata"]["name"]
    host = world.hosts.get(pod["spec"].get("nodeName", ""))
    if container not in [each["name"] for each in pod["spec"]["containers"]]:
        text = f"container {container} is not valid for pod {name}"
        raise NotStartedError(text, 400, "BadRequest")
    if host is None:
        raise NotStartedError(f"pod {name} does not have a host assigned", 400, "BadRequest")
    if not host.posts:
        raise NotStartedError(
            "error dialing backend: proxy error from 127.0.0.1:9345 while "
            f"dialing {host.machine.address}:10250, code 502: 502 Bad Gateway",
            500,
            "",
        )
    return host


async def run_in_pod(
    shell: Shell, streams: Streams, pod: Object, container: str, command: list[str]
) -> int:
    """Run a command in a container through the kubelet of the pod's node; its exit status.

    `container` is the first one if it is empty. What the lab does not know is noted in the shell's
    journal.

    Raises:
        NotStartedError: it does not begin.
    """
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    container = container or pod["spec"]["containers"][0]["name"]
    host = located(shell.world, pod, container)
    if pod.get("status", {}).get("phase") in _ENDED:
        raise not_found_container(container)
    line = " ".join(command)
    place = f"{namespace}/{name}"
    reply = next((r for r in shell.world.replies if r.answers_pod(place, line)), None)
    if reply is not None:
        return await _replied(streams, reply)
    image = next(each["image"] for each in pod["spec"]["containers"] if each["name"] == container)
    inside = shell.child(user="root")
    inside.host = host
    call = Call(inside, tuple(command), streams)
    programs = _IMAGES.get(_name_of(image))
    if programs is None:
        call.mystery(f"exec in {place}: {line}")
    function = (programs or {}).get(call.name)
    if function is None:
        raise _absent(command[0])
    family, _, attribute = function.partition(".")
    try:
        return int(await getattr(import_module(f"lab.tools.{family}"), attribute)(call, pod))
    except UsageError as error:
        call.mystery(f"{call.name}: {error.text.splitlines()[0]}")
        call.complain(error.text)
        return error.rc


async def execute_in_pod(call: Call, pod: Object, container: str, command: list[str]) -> int:
    """`kubectl exec`, once it has found the pod."""
    try:
        rc = await run_in_pod(call.shell, call.streams, pod, container, command)
    except NotStartedError as refusal:
        server = "Error from server" + (f" ({refusal.reason})" if refusal.reason else "")
        call.complain(f"{'error' if refusal.code is None else server}: {refusal}")
        return 1
    if rc:
        call.complain(f"command terminated with exit code {rc}")
    return rc


def _name_of(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


async def _replied(streams: Streams, reply: Reply) -> int:
    await reply.take()
    streams.out += reply.stdout * reply.repeat
    streams.err += reply.stderr * reply.repeat
    return reply.rc


def _absent(program: str) -> NotStartedError:
    return NotStartedError(
        "Internal error occurred: Internal error occurred: error executing command in "
        "container: failed to exec in container: failed to start exec: OCI runtime exec failed: "
        f'exec failed: unable to start container process: exec: "{program}": executable file not '
        "found in $PATH"
    )
