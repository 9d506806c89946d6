"""A world in which time passes, a tenth as long as in a lab that is started."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.commands import Chunk, CommandLog, Ended, run
from lab.faults import FAULTS
from lab.streams import Stdin
from selftests.lab.world import KUBECTL, Said, world_at

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lab.world import World

SERVER = "rke2-server.service"
DB = "/var/lib/rancher/rke2/server/db"


@dataclass
class Living:
    """A world that lives, and what operators do to it."""

    world: World

    async def raw(self, host: str, line: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Run a command line as ubuntu: status, stdout, stderr."""
        log = _Mysteries()
        out, err, rc = b"", b"", 255
        async for piece in run(self.world, self.world.hosts[host], line, log, Stdin(stdin)):
            if isinstance(piece, Ended):
                rc = piece.rc
            elif isinstance(piece, Chunk) and piece.error:
                err += piece.data
            elif isinstance(piece, Chunk):
                out += piece.data
        assert log.found == [], f"{line}: {log.found}"
        return rc, out, err

    async def ask(self, host: str, line: str, stdin: bytes = b"") -> Said:
        """The same as text."""
        rc, out, err = await self.raw(host, line, stdin)
        return Said(rc, out.decode(errors="replace"), err.decode(errors="replace"), known=True)

    async def must(self, host: str, line: str, stdin: bytes = b"") -> str:
        """The output of a command that has to end with 0."""
        said = await self.ask(host, line, stdin)
        assert said.rc == 0, f"{host}: {line}: {said.err}"
        return said.out

    async def kubectl(self, host: str, words: str) -> Said:
        """kubectl on a control plane."""
        return await self.ask(host, f"{KUBECTL} {words}")

    async def until(self, holds: Callable[[], bool], limit: float = 3.0) -> None:
        """Wait for the world to be so."""
        news = asyncio.Event()
        self.world.timeline.watch(news.set)
        async with asyncio.timeout(limit):
            while not holds():
                news.clear()
                await news.wait()

    def holders(self) -> list[str]:
        """Who has the VIP."""
        return [host.name for host in self.world.holders()]

    def ready(self, name: str) -> bool:
        """Whether that control plane's API says `ok`."""
        return self.world.api_ready(self.world.hosts[name])

    async def stop(self, *names: str) -> None:
        """Take servers away, containers and all."""
        for name in names:
            await self.must(name, f"sudo -n systemctl stop {SERVER}")
            await self.must(name, "sudo -n /usr/local/bin/rke2-killall.sh")

    async def start(self, name: str) -> None:
        """Begin to start a server."""
        await self.must(name, f"sudo -n systemctl --no-block start {SERVER}")

    async def save(self, name: str = "before") -> str:
        """Save a snapshot on rke-cp01; its path."""
        said = await self.ask("rke-cp01", f"sudo -n rke2 etcd-snapshot save --name {name}")
        assert said.rc == 0
        line = next(line for line in said.err.splitlines() if line.endswith(' saved."'))
        return f"{DB}/snapshots/{line.split()[-2]}"

    async def reset(self, path: str) -> Said:
        """Reset rke-cp01 from that snapshot."""
        flag = f"--cluster-reset-restore-path={path}"
        return await self.ask("rke-cp01", f"sudo -n rke2 server --cluster-reset {flag}")


def live(
    test: Callable[[Living], Awaitable[None]],
    *faults: str | tuple[str, object],
    factor: float = 0.1,
    phase: str = "c",
    nodes: int = 6,
) -> None:
    """Run a test in a living world, of phase C unless it says which."""

    async def lived() -> None:
        world = world_at(phase, nodes=nodes)
        FAULTS["pace"].apply(world, factor)
        for fault in faults:
            name, parameters = (fault, None) if isinstance(fault, str) else fault
            FAULTS[name].apply(world, parameters)
        world.begin()
        try:
            await asyncio.wait_for(test(Living(world)), 20.0)
        finally:
            world.timeline.close()

    asyncio.run(lived())


class _Mysteries(CommandLog):
    """Keeps what the lab did not know."""

    def __init__(self) -> None:
        self.found: list[str] = []
        super().__init__(Path(os.devnull))

    def write(self, host: str, command: str, rc: int | None, mysteries: list[str]) -> None:
        del host, command, rc
        self.found += mysteries
        self.close()
