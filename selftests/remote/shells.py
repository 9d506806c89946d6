"""SSH servers that really run what they are told, in a home folder of their own."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncssh

from selftests.remote import hosts
from selftests.remote.hosts import SshHost

if TYPE_CHECKING:
    from asyncssh import SSHServerProcess

_BLOCK = 65536


@dataclass
class ShellHost(SshHost):
    """Runs each command with `/bin/sh` and a `sudo` that changes nobody.

    Attributes:
        home: the account's home folder.
        cut_after: the connection is cut once a command has read or written so many bytes.
    """

    home: Path = Path()
    cut_after: int | None = None

    def __post_init__(self) -> None:
        tools = self.home / "bin"
        tools.mkdir(parents=True, exist_ok=True)
        sudo = tools / "sudo"
        sudo.write_text('#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n')
        sudo.chmod(0o755)

    async def _listen(self, port: int) -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            port,
            server_factory=lambda: _Server(self),
            server_host_keys=self.host_keys,
            encoding=None,
            line_editor=False,
        )


class _Server(hosts._Server):
    async def _behave(self, process: SSHServerProcess[bytes], command: str) -> None:
        host: Any = self._host
        environment = {"HOME": str(host.home), "PATH": f"{host.home}/bin:/usr/bin:/bin"}
        pipes = asyncio.subprocess.PIPE
        running = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", command),
            stdin=pipes,
            stdout=pipes,
            stderr=pipes,
            cwd=host.home,
            env=environment,
        )
        assert running.stdin
        assert running.stdout
        assert running.stderr
        try:
            feeding = asyncio.create_task(self._pass(process.stdin, running.stdin))
            await self._pass(running.stdout, process.stdout)
            await self._pass(running.stderr, process.stderr)
            process.exit(await running.wait())
            feeding.cancel()
        finally:
            running.stdin.close()
            with contextlib.suppress(ProcessLookupError):
                running.terminate()

    async def _pass(self, reader: Any, writer: Any) -> None:
        host: Any = self._host
        count = 0
        while data := await reader.read(_BLOCK):
            with contextlib.suppress(BrokenPipeError, ConnectionError):
                writer.write(data)
                await writer.drain()
            count += len(data)
            if host.cut_after is not None and count >= host.cut_after:
                host.cut_after = None
                self._connection.abort()
                return
        if isinstance(writer, asyncio.StreamWriter):
            writer.close()
