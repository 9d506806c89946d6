"""A site whose bastion has the administrator's kubeconfig, and an API of the test at the VIP."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import re
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fixtures.core.requests import KubeChange, KubeExec, KubeGet
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.kube import config
from selftests.remote.loop import BACKGROUND
from selftests.remote.pki import Authority, Pair, kubeconfig
from selftests.remote.stand import VIP

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.core.requests import Answer, KubeRequest
    from selftests.remote.conftest import Site

SERVER = f"https://{VIP}:6443"
ETCD = ("kube-system", "etcd-rke-cp01", "etcd")


@dataclass
class Asked:
    """One request as the API got it, and the way to answer."""

    head: bytes
    body: bytes
    writer: asyncio.StreamWriter

    @property
    def line(self) -> str:
        """`GET /api/v1/nodes`."""
        return self.head.split(b" HTTP/1.1", 1)[0].decode()

    async def say(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, body: bytes | Any, status: int = 200, extra: str = "") -> None:
        """Send a whole answer; what is not bytes is sent as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n{extra}\r\n"
        await self.say(head.encode() + content)

    async def upgrade(self, protocol: str = "v5.channel.k8s.io") -> None:
        """Agree to speak WebSocket."""
        key = re.search(rb"Sec-WebSocket-Key: (\S+)", self.head)
        assert key is not None
        guid = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key[1] + guid).digest()).decode()
        await self.say(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n".encode()
        )

    async def frame(self, data: bytes, opcode: int = 2, *, final: bool = True) -> None:
        """Send one frame."""
        size = len(data)
        length = bytes([size]) if size < 126 else b"\x7f" + size.to_bytes(8, "big")
        await self.say(bytes([opcode | (0x80 if final else 0)]) + length + data)

    async def status(self, value: Any) -> None:
        """Send a program's status."""
        await self.frame(b"\x03" + json.dumps(value).encode())

    async def goodbye(self) -> None:
        """Send a close frame."""
        await self.frame(b"\x03\xe8", opcode=8)


Handler = Callable[[Asked], Awaitable[None]]
SUCCESS = {"metadata": {}, "status": "Success"}


def exit_code(code: object) -> dict[str, Any]:
    """The status of a program that ended with that code."""
    causes = [{"reason": "ExitCode", "message": code}]
    return {
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "details": {"causes": causes},
    }


@dataclass
class KubeApi:
    """A TLS server that keeps connections and answers what it is told.

    Attributes:
        asked: every request, in the order of arrival.
        connections: how many were made.
        most: how many requests were being answered at once.
        met: set by the first request.
    """

    context: ssl.SSLContext
    handler: Handler
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    now: int = 0
    most: int = 0
    met: threading.Event = field(default_factory=threading.Event)
    server: Any = None

    def start(self) -> KubeApi:
        """Listen on loopback."""
        start = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.context)
        self.server = BACKGROUND.run(start)
        return self

    @property
    def port(self) -> int:
        return int(self.server.sockets[0].getsockname()[1])

    @property
    def lines(self) -> list[str]:
        """The request lines."""
        return [asked.line for asked in self.asked]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = re.search(rb"(?i)content-length: (\d+)", head)
                asked = Asked(head, await reader.readexactly(int(size[1]) if size else 0), writer)
                self.asked.append(asked)
                self.met.set()
                self.now += 1
                self.most = max(self.most, self.now)
                try:
                    await self.handler(asked)
                finally:
                    self.now -= 1


class KubeStand:
    """The site, its kubeconfig, and whom it leads to."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.authority = Authority()
        self.admin = self.authority.issue("system:admin")
        self.learnt: list[str] = []
        self.apis: list[KubeApi] = []
        self.give()

    @property
    def reading(self) -> str:
        """The command that reads the kubeconfig."""
        reading = config.reading(self.site.base)
        assert reading is not None
        return reading.command

    @property
    def readings(self) -> int:
        """How often it was read."""
        return self.site.bastion.commands.count(self.reading)

    def give(
        self,
        *,
        head: bytes = b"600 ubuntu regular file\n",
        content: bytes | None = None,
        server: str = SERVER,
        rc: int = 0,
        stderr: bytes = b"",
    ) -> None:
        """Put the kubeconfig there."""
        if content is None:
            content = kubeconfig(self.authority.certificate, self.admin, server)
        self.site.bastion.answers[self.reading] = (rc, head + content, stderr)

    def serve(self, handler: Handler, pair: Pair | None = None) -> KubeApi:
        """An API at the VIP."""
        pair = pair or self.authority.issue("kube-apiserver", [VIP])
        api = KubeApi(self.authority.server_context(pair), handler).start()
        self.apis.append(api)
        self.site.bastion.forwards[VIP, 6443] = api.port
        return api

    def asker(self, **limits: float) -> RemoteAsker:
        """Asks through the bastion."""
        link = self.site.link(**{"command": 5, **limits})
        return RemoteAsker(link.cluster, link, learn=self.learnt.append)

    def ask(
        self, request: KubeRequest, asker: RemoteAsker | None = None, **limits: float
    ) -> Answer:
        """The answer to one request."""
        return (asker or self.asker(**limits)).ask([request])[request]

    def get(
        self, path: str = "/api/v1/nodes", limit: float = 5, asker: RemoteAsker | None = None
    ) -> Answer:
        """The answer to a GET."""
        return self.ask(KubeGet(path, limit), asker)

    def change(self, method: str, path: str, body: Any = None, limit: float = 5) -> Answer:
        """The answer to a write."""
        document = None if body is None else json.dumps(body)
        return self.ask(KubeChange(method, path, limit, document))

    def execute(self, *argv: str, limit: float = 5, asker: RemoteAsker | None = None) -> Answer:
        """The answer to a program in the etcd container."""
        return self.ask(KubeExec(*ETCD, argv or ("etcdctl",), limit), asker)

    def close(self) -> None:
        """Stop listening."""
        for api in self.apis:
            BACKGROUND.call(api.server.close)


def answering(body: bytes | Any = b"{}", status: int = 200, extra: str = "") -> Handler:
    """Answers every request the same."""

    async def handler(asked: Asked) -> None:
        await asked.answer(body, status, extra)

    return handler


def saying(data: bytes) -> Handler:
    """Says these bytes and hangs up."""

    async def handler(asked: Asked) -> None:
        await asked.say(data)
        asked.writer.close()

    return handler


async def silent(_asked: Asked) -> None:
    """Never answers."""
    await asyncio.sleep(3600)


def files_of(folder: Path) -> bytes:
    """Everything that lies below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
