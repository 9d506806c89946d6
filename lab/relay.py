"""Adds latency to a connection: each chunk arrives half a round trip later, in order."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 16


def delayed(
    outer: socket.socket, delay: float, keep: Callable[[asyncio.Task[None]], None]
) -> socket.socket:
    """A socket that behaves as `outer`, only `delay` seconds away in each direction.

    Latency, not bandwidth: many chunks may be under way at once. `keep` is given the tasks that
    carry the bytes.
    """
    inner, ours = socket.socketpair()
    inner.setblocking(False)
    ours.setblocking(False)
    keep(asyncio.create_task(_carry(outer, ours, delay)))
    keep(asyncio.create_task(_carry(ours, outer, delay)))
    return inner


async def _carry(source: socket.socket, target: socket.socket, delay: float) -> None:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not data:
                with contextlib.suppress(OSError):
                    target.shutdown(socket.SHUT_WR)
                return
            await loop.sock_sendall(target, data)

    delivery = asyncio.create_task(deliver())
    try:
        while True:
            data = await loop.sock_recv(source, _CHUNK)
            queue.put_nowait((loop.time() + delay, data))
            if not data:
                break
        await delivery
    except OSError:
        delivery.cancel()
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
