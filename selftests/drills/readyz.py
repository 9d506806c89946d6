"""An API server that answers `/readyz` over TLS as a test says, and the certificates for it."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lab.pki import Pki
from lab.seed import Seed
from selftests.remote.loop import BACKGROUND

if TYPE_CHECKING:
    from pathlib import Path

    from lab.pki import Issued

OK = (200, b"ok")
VIP = "10.72.0.20"
PORT = 6443


@dataclass(frozen=True)
class Certificates:
    """Contexts of both sides; the server insists on the client's certificate."""

    server: ssl.SSLContext
    client: ssl.SSLContext
    foreign: ssl.SSLContext

    @classmethod
    def issue(cls, folder: Path) -> Certificates:
        pki = Pki(Seed(b"drills", datetime.now(UTC) - timedelta(hours=1)))

        def held(name: str, issued: Issued) -> Path:
            path = folder / name
            path.write_bytes(issued.certificate + issued.key)
            return path

        def serving(name: str, *, foreign: bool = False) -> ssl.SSLContext:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(held(name, pki.serving(name, (VIP,), foreign=foreign)))
            context.load_verify_locations(cadata=pki.client_ca.certificate.decode())
            context.verify_mode = ssl.CERT_REQUIRED
            return context

        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.load_verify_locations(cadata=pki.server_ca.certificate.decode())
        client.load_cert_chain(held("admin", pki.admin()))
        return cls(serving("server"), client, serving("foreign", foreign=True))


@dataclass
class ReadyzServer:
    """Answers each request with `answer`, over connections that it keeps.

    Attributes:
        held: while it is clear, requests wait for their answer.
        ending: what happens instead of waiting for the next request: "keep", "close" after the
            answer, or "drop" without an answer.
        requests: how many were received.
    """

    context: ssl.SSLContext
    answer: tuple[int, bytes] = OK
    ending: str = "keep"
    requests: int = 0
    held: asyncio.Event = field(default_factory=asyncio.Event)
    server: asyncio.Server | None = None
    _forgotten: list[asyncio.Event] = field(default_factory=list)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def port(self) -> int:
        assert self.server is not None
        return int(self.server.sockets[0].getsockname()[1])

    def start(self) -> ReadyzServer:
        self.release()
        self.server = BACKGROUND.run(
            asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.context)
        )
        return self

    def stop(self) -> None:
        if self.server is not None:
            BACKGROUND.call(self.server.close)
        self.drop()
        for event in self._forgotten:
            BACKGROUND.call(event.set)

    def hold(self) -> None:
        BACKGROUND.call(self.held.clear)

    def release(self) -> None:
        BACKGROUND.call(self.held.set)

    def forget(self) -> None:
        """Answer new requests, and those that wait now only at the end."""

        def replace() -> None:
            self._forgotten.append(self.held)
            self.held = asyncio.Event()
            self.held.set()

        BACKGROUND.call(replace)

    def drop(self) -> None:
        """Reset every connection."""

        def abort() -> None:
            for writer in self._writers:
                writer.transport.abort()
            self._writers.clear()

        BACKGROUND.call(abort)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await reader.readuntil(b"\r\n\r\n")
        assert request.startswith(b"GET /readyz HTTP/1.1\r\nHost: 10.72.0.20:6443\r\n")
        self.requests += 1
        await self.held.wait()
        ending = self.ending
        if ending == "drop":
            return False
        status, body = self.answer
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        return ending == "keep" and b"Connection: keep-alive" in request
