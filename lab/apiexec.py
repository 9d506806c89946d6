"""The API's exec over a WebSocket: both streams and the status as channels of their own."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from lab import layout
from lab.shell import Shell
from lab.statuses import Answer, bad_request, failure
from lab.streams import Streams
from lab.tools.pods import NotStartedError, located, run_in_pod

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiohttp import web

    from lab.apipaths import Target
    from lab.host import Host
    from lab.objects import Object
    from lab.world import World

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STDOUT, _STDERR, _STATUS = 1, 2, 3
_FRAME = 32 * 1024


def refusal(world: World, pod: Object, target: Target, upgrade: str) -> Answer | None:
    """Why the API does not even begin; None if it does."""
    names = [each["name"] for each in pod["spec"]["containers"]]
    if not target.asked("command"):
        return bad_request("you must specify at least one command for the container")
    if not target.asked("container") and len(names) > 1:
        return bad_request(
            f"a container name must be specified for pod {target.name}, choose one of: "
            f"[{' '.join(names)}]"
        )
    if upgrade.lower() != "websocket":
        return bad_request("unable to upgrade: missing upgrade headers in request")
    try:
        located(world, pod, target.asked("container") or names[0])
    except NotStartedError as error:
        return failure(error.code or 500, error.reason, str(error))
    return None


class Execution:
    """One program that the API runs for a client.

    Attributes:
        mysteries: what the lab did not know.
        rc: its exit status; None if it did not start or was given up.
    """

    def __init__(self, world: World, host: Host, pod: Object, target: Target) -> None:
        self._shell = Shell.login(world, host, layout.USER)
        self._pod = pod
        self._target = target
        self.rc: int | None = None

    @property
    def mysteries(self) -> list[str]:
        """What the lab did not know."""
        return self._shell.journal.mysteries

    @property
    def line(self) -> str:
        """What runs, for the log."""
        target = self._target
        words = " ".join(target.query["command"])
        return f"exec {target.namespace}/{target.name} -c {target.asked('container')} -- {words}"

    async def serve(self, socket: web.WebSocketResponse, *, status: bool) -> None:
        """Run it and tell the client, unless the client goes away; perhaps without its status."""
        work = asyncio.create_task(self._run())
        gone = asyncio.create_task(_gone(socket))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return
            for frame in self._frames(work.result()):
                if status or frame[0] != _STATUS:
                    await socket.send_bytes(frame)
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _run(self) -> tuple[Streams, str]:
        streams = Streams()
        target = self._target
        try:
            rc = await run_in_pod(
                self._shell, streams, self._pod, target.asked("container"), target.query["command"]
            )
        except NotStartedError as error:
            return streams, failure(500, error.reason, str(error)).body
        self.rc = rc
        return streams, _ended(rc)

    @staticmethod
    def _frames(result: tuple[Streams, str]) -> Iterable[bytes]:
        streams, status = result
        for channel, data in ((_STDOUT, streams.out), (_STDERR, streams.err)):
            for start in range(0, len(data), _FRAME):
                yield bytes([channel]) + data[start : start + _FRAME]
        yield bytes([_STATUS]) + status.encode()


def _ended(rc: int) -> str:
    if rc == 0:
        return json.dumps({"metadata": {}, "status": "Success"})
    return json.dumps(
        {
            "metadata": {},
            "status": "Failure",
            "message": f"command terminated with non-zero exit code: exit status {rc}",
            "reason": "NonZeroExitCode",
            "details": {"causes": [{"reason": "ExitCode", "message": str(rc)}]},
        }
    )


async def _gone(socket: web.WebSocketResponse) -> None:
    while not socket.closed:
        await socket.receive()
