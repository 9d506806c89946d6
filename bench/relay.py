"""A TCP relay in a process of its own that counts connections.

One instrument for every contestant, outside all of them: what a contestant says of itself is not
measured. Each line on standard input is answered with the connections since the last one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import IO

_CHUNK = 65536


@dataclass
class Relay:
    """Forwards to a port of this machine."""

    target: int
    connections: int = 0

    async def serve(self) -> asyncio.Server:
        """Start on a free port of the loopback interface."""
        return await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except ConnectionError:
            writer.close()
            return
        await asyncio.gather(_forward(reader, far_writer), _forward(far_reader, writer))


async def _forward(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    end: socket.socket = sink.get_extra_info("socket")
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(ConnectionError):
        while (piece := await source.read(_CHUNK)) and not sink.is_closing():
            sink.write(piece)
            await sink.drain()
    sink.close()


async def _run(target: int) -> None:
    relay = Relay(target)
    server = await relay.serve()
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(relay.connections, flush=True)
        relay.connections = 0
    server.close()


class RelayProcess:
    """The relay as its user sees it. Closing it ends the process."""

    def __init__(self, target: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.relay", str(target)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = self._number()

    def take_connections(self) -> int:
        """Connections accepted since the last call."""
        stdin = _pipe(self._process.stdin)
        stdin.write("\n")
        stdin.flush()
        return self._number()

    def close(self) -> None:
        """End the process."""
        _pipe(self._process.stdin).close()
        self._process.wait(timeout=10)
        _pipe(self._process.stdout).close()

    def _number(self) -> int:
        return int(_pipe(self._process.stdout).readline())


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


if __name__ == "__main__":
    _parser = argparse.ArgumentParser(description=__doc__)
    _parser.add_argument("target", type=int, help="port of this machine to forward to")
    asyncio.run(_run(_parser.parse_args().target))
