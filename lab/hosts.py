"""The lab's machines over SSH: the bastion on a loopback port, the nodes behind it.

The bastion accepts `direct-tcpip` channels to LAN addresses; port 22 of a node is that node's own
SSH server on a socket inside this process, port 6443 a control plane's API.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Protocol

from lab import layout
from lab.commands import CommandLog, Ended, LinkCut, run
from lab.host import Link, Ssh
from lab.keys import host_key, user_key
from lab.pipes import Mute, Stream, pair
from lab.relay import delayed
from lab.replies import Cut
from lab.sshlib import asyncssh
from lab.streams import Stdin
from lab.world import API_PORT, SSH_PORT, Door, World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from asyncssh import SSHServerConnection, SSHServerProcess

    from lab.api import ApiFront
    from lab.host import Host

# OpenSSH's MaxSessions; the eleventh session of a connection is refused.
_MAX_SESSIONS = 10
_OPEN_FAILED = 2
_CHUNK = 1 << 16
_BANNER = "OpenSSH_9.6p1 Ubuntu-3ubuntu13.14"
_INTERACTIVE = (
    "This is a host of the embedded lab: it runs commands (ssh HOST COMMAND), no interactive "
    "shell.\r\n"
)


class Stage(Protocol):
    """Who holds the world; it is another one after each phase that is applied."""

    world: World


class _Server(asyncssh.SSHServer):
    """One connection to one host."""

    def __init__(self, fleet: Fleet, name: str) -> None:
        self._fleet = fleet
        self._name = name
        self._sessions = 0

    def connection_made(self, conn: SSHServerConnection) -> None:
        self._conn = conn
        self._fleet.connections[conn] = self._name

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._fleet.connections.pop(self._conn, None)

    def begin_auth(self, username: str) -> bool:
        del username
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        world = self._fleet.stage.world
        if username != layout.USER or world.hosts[self._name].ssh is Ssh.NO_KEY_ACCEPTED:
            return False
        return key.public_data == self._fleet.user_key.public_data

    def session_requested(self) -> asyncssh.SSHServerProcess[bytes]:
        if self._sessions >= _MAX_SESSIONS:
            raise asyncssh.ChannelOpenError(_OPEN_FAILED, "open failed")
        self._sessions += 1
        return asyncssh.SSHServerProcess(self._process, None, 3, False)

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Awaitable[asyncssh.SSHTCPSession[bytes]]:
        del orig_host, orig_port
        return self._fleet.open(self._name, dest_host, dest_port)

    async def _process(self, process: SSHServerProcess[bytes]) -> None:
        host = self._fleet.stage.world.hosts[self._name]
        work = asyncio.create_task(self._fleet.execute(host, process, self._conn))
        gone = asyncio.create_task(process.wait_closed())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._sessions -= 1
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)


class Fleet:
    """All machines of one lab, reachable through one port.

    Args:
        stage: holds the current world.
        log: where commands are recorded.
        front: the TLS front of the APIs.
        rtt: seconds that a round trip to the bastion takes beyond loopback's own.
    """

    def __init__(self, stage: Stage, log: CommandLog, front: ApiFront, rtt: float) -> None:
        self.stage = stage
        self.connections: dict[SSHServerConnection, str] = {}
        self.user_key = asyncssh.import_public_key(user_key(stage.world.seed).public)
        self._log = log
        self._front = front
        self._rtt = rtt
        self._tasks: set[asyncio.Task[None]] = set()
        self._options: dict[tuple[str, int], asyncssh.SSHServerConnectionOptions] = {}
        self._listener: socket.socket | None = None
        self._api_streams: list[Stream] = []

    async def listen(self) -> int:
        """Open the bastion's port on loopback; the port."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        listener.setblocking(False)
        self._listener = listener
        await self._options_of(self.stage.world.bastion)
        self._keep(asyncio.create_task(self._accept(listener)))
        return int(listener.getsockname()[1])

    async def close(self) -> None:
        """Drop every connection and close the port."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in list(self.connections):
            connection.abort()
        if self._listener is not None:
            self._listener.close()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listener)
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._keep(asyncio.create_task(self._serve_bastion(client)))

    async def _serve_bastion(self, client: socket.socket) -> None:
        world = self.stage.world
        bastion = world.bastion
        if world.bastion_allowance is not None:
            if world.bastion_allowance <= 0:
                await self._turn_away(client, reset=world.bastion_resets)
                return
            world.bastion_allowance -= 1
        if bastion.link is Link.DOWN or bastion.ssh is Ssh.REFUSED:
            await self._turn_away(client, reset=True)
            return
        if bastion.ssh is Ssh.SILENT or bastion.link is Link.DROPPED:
            await self._turn_away(client, reset=False)
            return
        inner = delayed(client, self._rtt / 2, self._keep) if self._rtt else client
        await self._serve(bastion, inner)

    async def _turn_away(self, client: socket.socket, *, reset: bool) -> None:
        # On loopback a dropped SYN cannot be played: a connection that is accepted and left
        # alone, or reset at once, is what the client can tell of a rate limit.
        if reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.close()
            return
        loop = asyncio.get_running_loop()
        with contextlib.closing(client), contextlib.suppress(OSError):
            while await loop.sock_recv(client, 4096):
                pass

    async def _serve(self, host: Host, sock: socket.socket) -> None:
        options = await self._options_of(host)
        with contextlib.suppress(asyncssh.Error, OSError):
            await asyncssh.run_server(sock, options=options)

    async def _options_of(self, host: Host) -> asyncssh.SSHServerConnectionOptions:
        key = (host.name, host.key_generation)
        if key not in self._options:
            pair_of_keys = host_key(self.stage.world.seed, *key)
            self._options[key] = await asyncssh.SSHServerConnectionOptions.construct(
                server_factory=lambda: _Server(self, host.name),
                server_host_keys=[asyncssh.import_private_key(pair_of_keys.private)],
                server_version=_BANNER,
                kex_algs=["curve25519-sha256", "ecdh-sha2-nistp256"],
                encryption_algs=["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr"],
                compression_algs=["none"],
                encoding=None,
                line_editor=False,
                password_auth=False,
                kbdint_auth=False,
                gss_host=None,
                login_timeout=120,
                keepalive_interval=0,
            )
        return self._options[key]

    async def open(self, source: str, address: str, port: int) -> asyncssh.SSHTCPSession[bytes]:
        """What a direct-tcpip channel from a host meets.

        Raises:
            ChannelOpenError: refused or unreachable, with OpenSSH's texts.
        """
        world = self.stage.world
        reached = world.connect(world.hosts[source], address, port)
        if reached.door is Door.DROPPED:
            await asyncio.get_running_loop().create_future()
        if reached.door is not Door.OPEN or reached.host is None:
            reason = "No route to host" if reached.door is Door.NO_ROUTE else "Connection refused"
            raise asyncssh.ChannelOpenError(_OPEN_FAILED, reason)
        host = reached.host
        if port == SSH_PORT and host.ssh is not Ssh.SILENT:
            pipe, far = await pair()
            self._keep(asyncio.create_task(self._serve(host, far)))
            return pipe
        if port == API_PORT and not host.api_hangs:
            pipe, far = await pair()
            await self._front.serve(host.name, far)
            self._api_streams.append(Stream(pipe, source, address, host.name))
            return pipe
        return Mute()

    def follow(self) -> None:
        """Let open connections feel what has become of the address they were made to."""
        world = self.stage.world
        for connection, name in list(self.connections.items()):
            if world.hosts[name].link is Link.DOWN:
                connection.abort()
        self._api_streams = [stream for stream in self._api_streams if not stream.pipe.closed]
        for stream in self._api_streams:
            reached = world.connect(world.hosts[stream.source], stream.address, API_PORT)
            if reached.host is None or reached.door is Door.DROPPED:
                stream.pipe.hold()
            elif reached.door is Door.OPEN and reached.host.name == stream.host:
                stream.pipe.release()
            else:
                stream.pipe.reset()

    async def execute(
        self, host: Host, process: SSHServerProcess[bytes], connection: SSHServerConnection
    ) -> None:
        """Run the process's command and send what it prints."""
        line = process.command
        if line is None:
            process.stdout.write(_INTERACTIVE.encode())
            process.exit(1)
            return
        ended = Ended(255)
        try:
            stdin = Stdin(source=_received(process))
            async for piece in run(self.stage.world, host, line, self._log, stdin):
                if isinstance(piece, Ended):
                    ended = piece
                    continue
                stream = process.stderr if piece.error else process.stdout
                stream.write(piece.data)
                await stream.drain()
        except LinkCut as cut:
            self._cut(cut.where, connection)
            return
        if ended.signal:
            process.exit_with_signal(ended.signal)
        else:
            process.exit(ended.rc)

    def _cut(self, where: Cut, connection: SSHServerConnection) -> None:
        doomed = [connection] if where is Cut.NODE else list(self.connections)
        for victim in doomed:
            victim.abort()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _received(process: SSHServerProcess[bytes]) -> AsyncIterator[bytes]:
    while chunk := await process.stdin.read(_CHUNK):
        yield chunk
