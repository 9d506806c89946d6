"""A site with an rke2.yaml and an API server of the test behind the VIP."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from fixtures.core.requests import ApiGet
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.kubeconfig import READ
from selftests.remote.loop import BACKGROUND
from selftests.remote.pki import Authority, Pair, kubeconfig

if TYPE_CHECKING:
    from fixtures.core.requests import Answer
    from selftests.remote.conftest import Site

VIP = "10.72.0.20"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


class Api:
    """A TLS server that answers what it is told."""

    def __init__(self, context: ssl.SSLContext | None, handler: Handler) -> None:
        self.heads: list[bytes] = []
        self._handler = handler
        start = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.server = BACKGROUND.run(start)

    @property
    def port(self) -> int:
        return int(self.server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            await self._handler(head, writer)
            writer.close()
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass


def saying(answer: bytes) -> Handler:
    async def handler(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return handler


class Stand:
    """A site whose cp01 has an rke2.yaml and whose VIP leads to a server of the test."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.authority = Authority()
        self.admin = self.authority.issue("system:admin")
        self.learnt: list[str] = []
        self.servers: list[Api] = []
        self.give_kubeconfig()

    def give_kubeconfig(self, content: bytes | None = None) -> None:
        content = kubeconfig(self.authority.certificate, self.admin) if content is None else content
        self.site.cp01.answers[READ] = (0, content, b"")

    def serve(self, handler: Handler, pair: Pair | None = None) -> Api:
        pair = pair or self.authority.issue("kube-apiserver", [VIP])
        return self.lead_to(Api(self.authority.server_context(pair), handler))

    def lead_to(self, api: Api) -> Api:
        self.servers.append(api)
        self.site.bastion.forwards[VIP, 6443] = api.port
        return api

    def asker(self, **limits: float) -> RemoteAsker:
        link = self.site.link(**limits)
        return RemoteAsker(link.cluster, link, learn=self.learnt.append)

    def get(self, asker: RemoteAsker | None = None, limit: float = 2.0) -> Answer:
        request = ApiGet(VIP, "/readyz", limit)
        return (asker or self.asker(command=5)).ask([request])[request]
