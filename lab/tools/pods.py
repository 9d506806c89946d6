"""What runs inside the lab's containers, for `kubectl exec` and the API's own exec.

Which programs are in which image: `lab/cluster/images.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lab.cluster import containers
from lab.cluster.images import image_of
from lab.streams import Exit
from lab.tools.call import Call, UsageError

if TYPE_CHECKING:
    from lab.host import Host
    from lab.objects import Object
    from lab.replies import Reply
    from lab.shell import Shell
    from lab.streams import Streams
    from lab.world import World

_ENDED = frozenset({"Succeeded", "Failed"})
_KILLED = 137


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
    image = image_of(containers.container_spec(pod, container)["image"])
    if image is None:
        shell.journal.mysteries.append(f"exec in {place}: {line}")
        raise _absent(command[0])
    inside = shell.child(user="root", variables=containers.variables(pod), name="sh")
    function = image.plays.get(command[0].rpartition("/")[2])
    if function is not None:
        inside.host = host
        return await _play(Call(inside, tuple(command), streams), pod, function)
    inside.host = shell.world.containers.of(shell.world, pod, container).host
    inside.cwd = "/"
    path = inside.find(command[0])
    if path is None:
        raise _absent(command[0])
    try:
        return await inside.execute_path(path, command, streams)
    except Exit as leave:
        return leave.rc


async def in_pod(call: Call) -> int:
    """What only containers have, run by a shell in one."""
    world, place = call.world, call.host.pod
    assert place is not None
    pod = world.objects.get("Pod", *place)
    if pod is None:
        return _KILLED
    image = next(
        image
        for image in (image_of(each["image"]) for each in pod["spec"]["containers"])
        if image is not None and call.name in image.plays
    )
    inside = call.shell.child()
    inside.host = world.hosts[pod["spec"]["nodeName"]]
    return await _play(Call(inside, call.argv, call.streams), pod, image.plays[call.name])


async def _play(call: Call, pod: Object, function: str) -> int:
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
