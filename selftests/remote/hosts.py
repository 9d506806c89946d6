"""SSH servers that behave, and misbehave, as a test says."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncssh

from selftests.remote.loop import BACKGROUND

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FOREVER = 3600
USER = "ubuntu"


@dataclass
class Gauge:
    """How many commands run at once, over all hosts that share it."""

    now: int = 0
    most: int = 0


@dataclass
class SshHost:
    """One SSH server and what it saw.

    Attributes:
        crowded: so many sessions are refused before one is opened.
        forwards: address and port asked for -> local port, or a reason for the refusal, or None
            for a connection that never comes about.
        offers: fingerprints of the keys it was shown, in order.
        commands: command lines it was sent.
    """

    host_keys: list[asyncssh.SSHKey]
    accepted: list[asyncssh.SSHKey]
    forwards: dict[tuple[str, int], int | asyncssh.ChannelOpenError | None] = field(
        default_factory=dict
    )
    runs_commands: bool = True
    takes_keys: bool = True
    answers_auth: bool = True
    crowded: int = 0
    after_refusal: str = "nothing"
    behaviours: dict[str, Callable[[], object]] = field(default_factory=dict)
    answers: dict[str, tuple[int, bytes, bytes]] = field(default_factory=dict)
    connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)
    offers: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    gauge: Gauge = field(default_factory=Gauge)
    signals: deque[str] = field(default_factory=deque)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[object]] = field(default_factory=set)
    server: asyncssh.SSHAcceptor | None = None

    @property
    def port(self) -> int:
        assert self.server is not None
        return self.server.get_port()

    def start(self) -> SshHost:
        self.server = BACKGROUND.run(self._listen(0))
        return self

    def restart(self) -> None:
        """Listen on the same port again, with what is configured now."""
        port = self.port
        self.stop()
        self.server = BACKGROUND.run(self._listen(port))

    def stop(self) -> None:
        for task in list(self.tasks):
            BACKGROUND.call(task.cancel)
        if self.server is not None:
            BACKGROUND.call(self.server.close)
            BACKGROUND.run(self.server.wait_closed())

    def drop_connections(self) -> None:
        """Cut every connection without a word."""

        def cut() -> None:
            for connection in self.connections:
                connection.abort()

        BACKGROUND.call(cut)

    async def _listen(self, port: int) -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            port,
            server_factory=lambda: _Server(self),
            server_host_keys=self.host_keys,
            encoding=None,
            line_editor=False,
            login_timeout=FOREVER,
        )


class _Server(asyncssh.SSHServer):
    def __init__(self, host: SshHost) -> None:
        self._host = host
        self._connection: Any = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._host.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return self._host.takes_keys

    def password_auth_supported(self) -> bool:
        return not self._host.takes_keys

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        self._host.offers.append(key.get_fingerprint())
        if not self._host.answers_auth:
            await asyncio.sleep(FOREVER)
        accepted = username == USER and key in self._host.accepted
        if not accepted and self._host.after_refusal == "disconnect":
            self._connection.disconnect(
                asyncssh.DISC_NO_MORE_AUTH_METHODS_AVAILABLE, "Too many\x1b[31m\r\n failures"
            )
        if not accepted and self._host.after_refusal == "hang up":
            self._connection.abort()
        return accepted

    def session_requested(self) -> Any:
        if self._host.crowded:
            self._host.crowded -= 1
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "open failed")
        if not self._host.runs_commands:
            return _NoCommands()
        process = asyncssh.SSHServerProcess(self._serve, None, 0, allow_scp=False)
        return self._connection.create_server_channel(encoding=None), process

    async def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Any:
        target = self._host.forwards.get((dest_host, dest_port), _REFUSED)
        if target is None:
            await asyncio.sleep(FOREVER)
        if isinstance(target, asyncssh.ChannelOpenError):
            raise target
        return await self._connection.forward_connection("127.0.0.1", target)

    async def _serve(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        host = self._host
        command = process.command or ""
        host.commands.append(command)
        task = asyncio.current_task()
        assert task is not None
        host.tasks.add(task)
        host.gauge.now += 1
        host.gauge.most = max(host.gauge.most, host.gauge.now)
        host.started.set()
        try:
            await self._behave(process, command)
        except (asyncssh.SignalReceived, asyncssh.BreakReceived) as signal:
            host.signals.append(getattr(signal, "signal", "break"))
        except (BrokenPipeError, ConnectionError, asyncssh.Error):
            pass
        finally:
            host.gauge.now -= 1
            host.tasks.discard(task)

    async def _behave(self, process: asyncssh.SSHServerProcess[bytes], command: str) -> None:
        host = self._host
        word, _, rest = command.partition(" ")
        if command in host.behaviours:
            host.behaviours[command]()
            await asyncio.sleep(FOREVER)
        elif command in host.answers:
            rc, stdout, stderr = host.answers[command]
            process.stdout.write(stdout)
            process.stderr.write(stderr)
            process.exit(rc)
        elif word == "hold":
            await host.hold.wait()
            process.exit(0)
        elif word == "cut":
            process.stdout.write(b"half")
            await process.stdout.drain()
            self._connection.abort()
        elif word in _COMMANDS:
            await _COMMANDS[word](process, rest)
        else:
            process.stderr.write(f"sh: 1: {word}: not found\n".encode())
            process.exit(127)


Process: TypeAlias = asyncssh.SSHServerProcess[bytes]


async def _out(process: Process, size: str) -> None:
    await _both(process, f"{size} 0")


async def _err(process: Process, size: str) -> None:
    await _both(process, f"0 {size}")


async def _both(process: Process, sizes: str) -> None:
    stdout, stderr = map(int, sizes.split())
    await _flood(process, stdout, stderr)
    process.exit(0)


async def _exit(process: Process, code: str) -> None:
    process.stdout.write(b"out\n")
    process.stderr.write(b"err\n")
    process.exit(int(code))


async def _kill(process: Process, name: str) -> None:
    process.exit_with_signal(name)


async def _vanish(process: Process, _: str) -> None:
    process.stdout.write(b"half")
    process.channel.close()


async def _cat(process: Process, _: str) -> None:
    process.stdout.write(await process.stdin.read())
    process.exit(0)


async def _hang(process: Process, _: str) -> None:
    process.stdout.write(b"half")
    await process.stdin.read()
    await asyncio.sleep(FOREVER)


async def _sleep(process: Process, seconds: str) -> None:
    await asyncio.sleep(float(seconds))
    process.exit(0)


async def _spin(process: Process, _: str) -> None:
    while True:
        process.stdout.write(b"x" * 32768)
        await process.stdout.drain()


async def _wait_for_signal(process: Process, _: str) -> None:
    while True:
        await process.stdin.read(1)
        await asyncio.sleep(0.01)


_COMMANDS: dict[str, Callable[[Process, str], Awaitable[None]]] = {
    "out": _out,
    "err": _err,
    "both": _both,
    "exit": _exit,
    "kill": _kill,
    "vanish": _vanish,
    "cat": _cat,
    "hang": _hang,
    "sleep": _sleep,
    "spin": _spin,
    "wait-for-signal": _wait_for_signal,
}


async def _flood(process: asyncssh.SSHServerProcess[bytes], stdout: int, stderr: int) -> None:
    async def pour(writer: asyncssh.SSHWriter[bytes], count: int) -> None:
        while count > 0:
            size = min(count, 1 << 18)
            writer.write(b"\xff" * size)
            count -= size
            await writer.drain()

    await asyncio.gather(pour(process.stdout, stdout), pour(process.stderr, stderr))


class _NoCommands(asyncssh.SSHServerSession[bytes]):
    def exec_requested(self, command: str) -> bool:
        return False


_REFUSED = asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "Connection refused")
