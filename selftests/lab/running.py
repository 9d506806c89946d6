"""A lab that runs in this process, and ways into it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import asyncssh

from lab.faults import FAULTS
from lab.phase import Phase
from lab.server import Lab, Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from pathlib import Path


@dataclass
class Running:
    """A lab and its bastion connection."""

    lab: Lab
    bastion: asyncssh.SSHClientConnection
    options: dict[str, Any]

    async def node(self, name: str) -> asyncssh.SSHClientConnection:
        """A connection to a node through the bastion."""
        address = self.lab.world.hosts[name].machine.address
        return await asyncssh.connect(address, tunnel=self.bastion, **self.options)


@asynccontextmanager
async def lab_at(
    reports: Path, phase: str, *faults: tuple[str, object], **settings: Any
) -> AsyncIterator[Running]:
    """A lab at that phase with these faults, connected to as an operator would."""
    async with (
        unconnected(reports, phase, *faults, **settings) as (lab, options),
        asyncssh.connect("127.0.0.1", lab.port, **options) as bastion,
    ):
        yield Running(lab, bastion, options)


@asynccontextmanager
async def unconnected(
    reports: Path, phase: str, *faults: tuple[str, object], **settings: Any
) -> AsyncIterator[tuple[Lab, dict[str, Any]]]:
    """The same without a connection, and the options to connect with."""
    lab = Lab(Settings(reports, phase=Phase.named(phase), **settings))
    for name, parameters in faults:
        FAULTS[name].apply(lab.world, parameters)
    await lab.start()
    options = {
        "username": "ubuntu",
        "client_keys": [str(lab.folder / "id_ed25519")],
        "known_hosts": str(lab.folder / "known_hosts"),
        "config": None,
        "agent_path": None,
        "login_timeout": 5,
    }
    try:
        yield lab, options
    finally:
        await lab.stop()


def run(test: Coroutine[Any, Any, None], limit: float = 20.0) -> None:
    """Run a test within a limit."""

    async def limited() -> None:
        await asyncio.wait_for(test, limit)

    asyncio.run(limited())
