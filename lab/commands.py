"""Runs one command line as sshd on a host would, and logs what the lab did not know."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lab import layout
from lab.shell import Shell
from lab.streams import Stdin, Streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lab.host import Host
    from lab.replies import Cut, Reply
    from lab.world import World

_CHUNK = 1 << 16
_DEFECT = 70


class LinkCut(Exception):  # noqa: N818
    """The connection breaks in the middle of the answer."""

    def __init__(self, where: Cut) -> None:
        super().__init__(where.name)
        self.where = where


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of output; `error` says that it is of stderr."""

    data: bytes
    error: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ended: a status, or a signal's name."""

    rc: int
    signal: str | None = None


class CommandLog:
    """`commands.jsonl`: one line a command, `known: false` where the lab did not know.

    Args:
        path: the file; it is created for this user alone.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def write(self, host: str, command: str, rc: int | None, mysteries: list[str]) -> None:
        """Append one line. `rc` is None when the command never ended."""
        line: dict[str, object] = {
            "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
            "host": host,
            "command": command,
            "rc": rc,
            "known": not mysteries,
        }
        if mysteries:
            line["unknown"] = mysteries
        os.write(self._handle, (json.dumps(line) + "\n").encode())


async def run(
    world: World, host: Host, line: str, log: CommandLog, stdin: Stdin | None = None
) -> AsyncIterator[Chunk | Ended]:
    """The command's output and, last, how it ended.

    Raises:
        LinkCut: a fault cuts the link in mid-command.
    """
    rc: int | None = None
    mysteries: list[str] = []
    try:
        reply = next((r for r in world.replies if r.answers_host(host.name, line)), None)
        if reply is not None:
            async for piece in _replied(reply):
                yield piece
            rc = reply.rc
            yield Ended(reply.rc, reply.signal)
            return
        for noise in world.noises:
            for _ in range(noise.blocks(host.name, line)):
                yield Chunk(noise.block, error=True)
        shell = Shell.login(world, host, layout.USER)
        mysteries = shell.journal.mysteries
        news = asyncio.Event()
        streams = Streams(stdin or Stdin(), flush=news.set)
        work = asyncio.create_task(_run_line(shell, line, streams))
        async for piece in _told_meanwhile(work, streams, news):
            yield piece
        rc = work.result()
        world.timeline.changed()
        for severing in world.severings:
            if severing.cuts(host.name, line):
                raise LinkCut(severing.where)
        for piece in _taken(streams):
            yield piece
        yield Ended(rc)
    finally:
        log.write(host.name, line, rc, mysteries)


async def _told_meanwhile(
    work: asyncio.Task[int], streams: Streams, news: asyncio.Event
) -> AsyncIterator[Chunk]:
    """What is flushed before the command ends. A client that goes away ends it."""
    try:
        while not work.done():
            waiting = asyncio.create_task(news.wait())
            await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if news.is_set() and not work.done():
                news.clear()
                for piece in _taken(streams):
                    yield piece
    finally:
        work.cancel()
        await asyncio.wait({work})


def _taken(streams: Streams) -> list[Chunk]:
    taken = [Chunk(bytes(streams.out), False), Chunk(bytes(streams.err), True)]
    streams.out.clear()
    streams.err.clear()
    return [chunk for chunk in taken if chunk.data]


async def _run_line(shell: Shell, line: str, streams: Streams) -> int:
    try:
        return await shell.run_line(line, streams)
    except Exception as defect:  # a client must not wait for what the lab got wrong
        shell.journal.mysteries.append(f"defect: {type(defect).__name__}: {defect}")
        streams.err += f"the lab failed: {type(defect).__name__}: {defect}\n".encode()
        return _DEFECT


async def _replied(reply: Reply) -> AsyncIterator[Chunk]:
    await reply.take()
    for _ in range(reply.repeat):
        for data, error in ((reply.stdout, False), (reply.stderr, True)):
            for start in range(0, len(data), _CHUNK):
                yield Chunk(data[start : start + _CHUNK], error)
    if reply.cut is not None:
        raise LinkCut(reply.cut)
