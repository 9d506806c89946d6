"""Raw TCP servers: silent, rude, and a relay that can be frozen or cut."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from selftests.remote.loop import BACKGROUND

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Take everything, say nothing."""
    while await reader.read(65536):
        pass


async def reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reset at once, as a firewall or MaxStartups does."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def saying(text: bytes) -> Behaviour:
    """Say `text`, then nothing."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(text)
        await silent(reader, writer)

    return say


def hanging_up_after(text: bytes) -> Behaviour:
    """Say `text` and close."""

    async def say(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(text)
        await writer.drain()
        writer.close()

    return say


@dataclass
class RawServer:
    """Listens on loopback; the n-th connection gets the n-th behaviour, then the last one."""

    behaviours: list[Behaviour]
    accepted: int = 0
    server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self.server is not None
        return int(self.server.sockets[0].getsockname()[1])

    def start(self) -> RawServer:
        self.server = BACKGROUND.run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        return self

    def stop(self) -> None:
        if self.server is not None:
            BACKGROUND.call(self.server.close)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behaviour = self.behaviours[min(self.accepted, len(self.behaviours) - 1)]
        self.accepted += 1
        try:
            await behaviour(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


@dataclass
class Relay:
    """Passes bytes on to `target`, each way `delay` seconds late.

    Attributes:
        turns: how often the client spoke after the server had: one per round trip.
        greetings: behaviours of the first connections, instead of passing them on.
    """

    target: int
    delay: float = 0.0
    greetings: list[Behaviour] = field(default_factory=list)
    accepted: int = 0
    turns: int = 0
    frozen: asyncio.Event = field(default_factory=asyncio.Event)
    server: asyncio.Server | None = None
    _server_spoke: bool = True
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    @property
    def port(self) -> int:
        assert self.server is not None
        return int(self.server.sockets[0].getsockname()[1])

    def start(self) -> Relay:
        self.server = BACKGROUND.run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        return self

    def stop(self) -> None:
        if self.server is not None:
            BACKGROUND.call(self.server.close)
        self.cut()

    def settle(self) -> None:
        """Wait until what is under way has arrived."""
        BACKGROUND.run(asyncio.sleep(4 * self.delay))

    def freeze(self) -> None:
        """Pass nothing on any more, and keep the connections open."""
        BACKGROUND.call(self.frozen.set)

    def thaw(self) -> None:
        BACKGROUND.call(self.frozen.clear)

    def cut(self) -> None:
        """Close every connection that passes through."""

        BACKGROUND.call(self.cut_soon)

    def cut_soon(self) -> None:
        """The same, called in the loop's thread."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        if self.accepted <= len(self.greetings):
            await self.greetings[self.accepted - 1](reader, writer)
            return
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.target)
        self._writers += [writer, there_writer]
        await asyncio.gather(
            self._pass(reader, there_writer, from_client=True),
            self._pass(there_reader, writer, from_client=False),
            return_exceptions=True,
        )

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, from_client: bool
    ) -> None:
        loop = asyncio.get_running_loop()
        while data := await reader.read(1 << 20):
            if self.frozen.is_set():
                continue
            if from_client and self._server_spoke:
                self.turns += 1
            self._server_spoke = not from_client
            if self.delay:
                loop.call_later(self.delay, self._write, writer, data)
            else:
                self._write(writer, data)
                await writer.drain()
        writer.close()

    @staticmethod
    def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
        if not writer.is_closing():
            writer.write(data)
