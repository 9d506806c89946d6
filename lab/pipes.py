"""Joins an SSH channel to a socket inside this process, with backpressure both ways."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.sshlib import asyncssh

if TYPE_CHECKING:
    from asyncssh import SSHTCPChannel


class Pipe(asyncssh.SSHTCPSession[bytes]):
    """A direct-tcpip channel whose other end is a socket of this process."""

    def __init__(self, transport: asyncio.Transport, far: _Far) -> None:
        self._transport = transport
        self._far = far
        self._held: list[bytes] | None = None

    @property
    def closed(self) -> bool:
        """Whether either end is gone."""
        return self._transport.is_closing()

    def hold(self) -> None:
        """Nobody answers at the address: bytes are lost on the way and sent again later."""
        if self._held is None:
            self._held = []
            self._transport.pause_reading()

    def release(self) -> None:
        """The peer is reached again: what was held arrives."""
        held, self._held = self._held, None
        if held is not None and not self.closed:
            self._transport.resume_reading()
            for data in held:
                self._transport.write(data)

    def reset(self) -> None:
        """Whoever has the address now knows nothing of this connection: RST."""
        self._far.reset()
        self._transport.abort()

    def connection_made(self, chan: SSHTCPChannel[bytes]) -> None:
        """The channel is open: what the socket already sent goes out first."""
        self._far.attach(chan)

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Bytes from the SSH client."""
        del datatype
        if self._held is not None:
            self._held.append(data)
            return
        self._transport.write(data)

    def eof_received(self) -> bool:
        """The client will send no more."""
        if self._transport.can_write_eof() and not self._transport.is_closing():
            self._transport.write_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is gone."""
        del exc
        self._transport.close()

    def pause_writing(self) -> None:
        """The client does not read fast enough."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._transport.resume_reading()


@dataclass(frozen=True, slots=True)
class Stream:
    """A connection to an API, and through which address it was made."""

    pipe: Pipe
    source: str
    address: str
    host: str


class _Far(asyncio.Protocol):
    """The socket's end: hands what it receives to the channel."""

    def __init__(self) -> None:
        self._channel: SSHTCPChannel[bytes] | None = None
        self._early: list[bytes] = []
        self._ended = False

    def attach(self, channel: SSHTCPChannel[bytes]) -> None:
        self._channel = channel
        for data in self._early:
            channel.write(data)
        self._early.clear()
        if self._ended:
            channel.close()

    def data_received(self, data: bytes) -> None:
        if self._channel is None:
            self._early.append(data)
        elif not self._channel.is_closing():
            self._channel.write(data)

    def eof_received(self) -> bool:
        if self._channel is not None and not self._channel.is_closing():
            self._channel.write_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._ended = True
        if self._channel is not None:
            self._channel.close()

    def reset(self) -> None:
        """Break the channel off."""
        if self._channel is not None:
            self._channel.abort()

    def pause_writing(self) -> None:
        if self._channel is not None:
            self._channel.pause_reading()

    def resume_writing(self) -> None:
        if self._channel is not None:
            self._channel.resume_reading()


class Mute(asyncssh.SSHTCPSession[bytes]):
    """A peer that accepts and never says anything."""


async def pair() -> tuple[Pipe, socket.socket]:
    """A pipe and the socket at its other end."""
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    protocol = _Far()
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: protocol, sock=near)
    return Pipe(transport, protocol), far
