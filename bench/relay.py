"""A TCP relay in a process of its own: adds a round-trip time and counts connections.

One instrument for every contestant, outside all of them: what a contestant says of itself is not
measured. Lines on standard input are commands; each is answered with one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import IO

_CHUNK = 65536


@dataclass
class Relay:
    """Forwards to a port of this machine. `delay` is one way, in seconds, and may change."""

    target: int
    delay: float = 0.0
    connections: int = 0

    async def serve(self) -> asyncio.Server:
        """Start on a free port of the loopback interface."""
        return await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def _accept(self, near_in: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            far_in, far_out = await asyncio.open_connection("127.0.0.1", self.target)
        except ConnectionError:
            near_out.close()
            return
        for writer in (near_out, far_out):
            end: socket.socket = writer.get_extra_info("socket")
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.gather(self._forward(near_in, far_out), self._forward(far_in, near_out))

    async def _forward(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Each piece leaves `delay` after it came, whatever else is under way."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                if not piece:
                    return
                sink.write(piece)
                await sink.drain()

        delivery = asyncio.create_task(deliver())
        try:
            while piece := await source.read(_CHUNK):
                pieces.put_nowait((loop.time() + self.delay, piece))
            pieces.put_nowait((loop.time() + self.delay, b""))
            await delivery
        except ConnectionError:
            delivery.cancel()
        finally:
            sink.close()


async def _run(target: int) -> None:
    relay = Relay(target)
    server = await relay.serve()
    _say(port=server.sockets[0].getsockname()[1])
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        relay.delay = command.get("delay", relay.delay)
        _say(connections=relay.connections)
        if command.get("reset"):
            relay.connections = 0
    server.close()


def _say(**fields: int) -> None:
    print(json.dumps(fields), flush=True)


class RelayProcess:
    """The relay as its user sees it. Closing it ends the process."""

    def __init__(self, target: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.relay", str(target)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port: int = self._read()["port"]

    def set_round_trip(self, seconds: float) -> None:
        """Add this much to each round trip from now on."""
        self._tell(delay=seconds / 2)

    def take_connections(self) -> int:
        """Connections accepted since the last call."""
        return self._tell(reset=True)["connections"]

    def close(self) -> None:
        """End the process."""
        self._pipe(self._process.stdin).close()
        self._process.wait(timeout=10)
        self._pipe(self._process.stdout).close()

    def _tell(self, **command: float | bool) -> dict[str, int]:
        stdin = self._pipe(self._process.stdin)
        stdin.write(json.dumps(command) + "\n")
        stdin.flush()
        return self._read()

    def _read(self) -> dict[str, int]:
        answer: dict[str, int] = json.loads(self._pipe(self._process.stdout).readline())
        return answer

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


if __name__ == "__main__":
    _parser = argparse.ArgumentParser(description=__doc__)
    _parser.add_argument("target", type=int, help="port of this machine to forward to")
    asyncio.run(_run(_parser.parse_args().target))
