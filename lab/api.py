"""The TLS front of the control planes' APIs: certificates of the design, HTTP by aiohttp."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import tempfile
from importlib import import_module
from typing import TYPE_CHECKING

from lab import apiserver
from lab.pki import Client, client_of
from lab.tools.curl import certificate_names

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from aiohttp import web

    from lab.commands import CommandLog
    from lab.hosts import Stage

# X509_V_FLAG_NO_CHECK_TIME. kube-apiserver takes any client certificate in the handshake and
# answers 401 to an expired one; OpenSSL would break the handshake off.
_NO_CHECK_TIME = 0x200000


class ApiFront:
    """Speaks TLS and HTTP on sockets that lead to a control plane's port 6443.

    Args:
        stage: holds the current world.
        log: API calls the lab does not know are recorded there.
        folder: for the moment in which `ssl` reads a key from a file.
    """

    def __init__(self, stage: Stage, log: CommandLog, folder: Path) -> None:
        self._stage = stage
        self._log = log
        self._folder = folder
        self._contexts: dict[tuple[str, tuple[str, ...], bool], ssl.SSLContext] = {}
        self._servers: dict[str, Callable[[], asyncio.Protocol]] = {}

    def warm_up(self) -> None:
        """Import what the first request would otherwise wait for."""
        import_module("aiohttp.web")

    async def serve(self, name: str, sock: socket.socket) -> None:
        """Serve one connection to that control plane's API."""
        keep = asyncio.create_task(self._handshake(name, sock))
        keep.add_done_callback(lambda task: task.exception())

    async def _handshake(self, name: str, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            await asyncio.get_running_loop().connect_accepted_socket(
                self._server(name), sock, ssl=self._context(name)
            )

    def _server(self, name: str) -> Callable[[], asyncio.Protocol]:
        if name not in self._servers:
            # Imported when the first connection comes: it takes as long as the whole lab's start.
            from aiohttp import web  # noqa: PLC0415

            async def handle(request: web.BaseRequest) -> web.StreamResponse:
                return await self._answer(name, request)

            self._servers[name] = web.Server(handle, access_log=None)
        return self._servers[name]

    async def _answer(self, name: str, request: web.BaseRequest) -> web.Response:
        from aiohttp import web  # noqa: PLC0415

        body = await request.read()
        world = self._stage.world
        answer = apiserver.answer(
            world, world.hosts[name], request.method, request.path_qs, _client(request), body=body
        )
        self._log.write(
            name,
            f"{request.method} {request.path_qs}",
            answer.status,
            [] if answer.known else [f"API {request.path_qs}"],
        )
        kind, _, charset = answer.content_type.partition("; charset=")
        return web.Response(
            status=answer.status,
            body=answer.body.encode(),
            content_type=kind,
            charset=charset or None,
            headers={"Audit-Id": world.seed.uuid("audit", request.path_qs)},
        )

    def _context(self, name: str) -> ssl.SSLContext:
        world = self._stage.world
        host = world.hosts[name]
        names = host.certificate_names or certificate_names(host)
        key = (name, names, host.certificate_foreign)
        if key not in self._contexts:
            issued = world.pki.serving(name, names, foreign=host.certificate_foreign)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.verify_mode = ssl.CERT_OPTIONAL
            context.verify_flags = ssl.VerifyFlags(_NO_CHECK_TIME)
            context.load_verify_locations(cadata=world.pki.client_ca.certificate.decode())
            with tempfile.NamedTemporaryFile(dir=self._folder) as file:
                file.write(issued.certificate + issued.key)
                file.flush()
                context.load_cert_chain(file.name)
            self._contexts[key] = context
        return self._contexts[key]


def _client(request: web.BaseRequest) -> Client | None:
    transport = request.transport
    connection = transport.get_extra_info("ssl_object") if transport else None
    der = connection.getpeercert(binary_form=True) if connection else None
    return client_of(ssl.DER_cert_to_PEM_cert(der).encode()) if der else None
