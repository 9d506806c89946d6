"""The TLS front of the control planes' APIs: certificates of the design, HTTP by aiohttp."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import tempfile
from importlib import import_module
from typing import TYPE_CHECKING

from lab import apiexec, apilists, apipaths, apiserver
from lab.apirules import forbidden
from lab.pki import Client, client_of
from lab.tools.curl import certificate_names

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from aiohttp import web

    from lab.apiexec import Execution
    from lab.apipaths import Target
    from lab.apirules import ApiRule
    from lab.commands import CommandLog
    from lab.host import Host
    from lab.hosts import Stage
    from lab.objects import Object
    from lab.statuses import Answer
    from lab.world import World

# X509_V_FLAG_NO_CHECK_TIME. kube-apiserver takes any client certificate in the handshake and
# answers 401 to an expired one; OpenSSL would break the handshake off.
_NO_CHECK_TIME = 0x200000
_TOO_BUSY = (429, 503)


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
                try:
                    return await self._answer(name, request)
                except ConnectionError:
                    # The client is gone; nobody sees this.
                    return web.Response()

            # What a client has given up waiting for is given up here, too.
            self._servers[name] = web.Server(handle, access_log=None, handler_cancellation=True)
        return self._servers[name]

    async def _answer(self, name: str, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        line = f"{request.method} {request.path_qs}"
        rules = [rule for rule in self._stage.world.api_rules if rule.applies(line)]
        for rule in rules:
            await rule.wait()
        world = self._stage.world
        host, client = world.hosts[name], _client(request)
        if any(rule.compacts for rule in rules):
            apilists.forget(world.objects_of(host))
        answer = _decreed(rules, request, client)
        if answer is None:
            target = apipaths.target(request.path_qs)
            pod = _program(world, host, target, client)
            if target is not None and pod is not None:
                upgrade = request.headers.get("Upgrade", "")
                answer = apiexec.refusal(world, pod, target, upgrade)
                if answer is None:
                    execution = apiexec.Execution(world, host, pod, target)
                    return await self._execute(name, request, execution, rules)
            answer = answer or apiserver.answer(
                world, host, request.method, request.path_qs, client, body=body
            )
        self._log.write(
            name, line, answer.status, [] if answer.known else [f"API {request.path_qs}"]
        )
        return await self._send(request, answer, rules)

    async def _execute(
        self, name: str, request: web.BaseRequest, execution: Execution, rules: list[ApiRule]
    ) -> web.StreamResponse:
        from aiohttp import web  # noqa: PLC0415

        socket = web.WebSocketResponse(protocols=apiexec.PROTOCOLS)
        await socket.prepare(request)
        cut = any(rule.cuts for rule in rules)
        try:
            await execution.serve(socket, status=not cut)
        finally:
            self._log.write(name, execution.line, execution.rc, execution.mysteries)
        if cut and request.transport is not None:
            request.transport.close()
        else:
            await socket.close()
        return socket

    async def _send(
        self, request: web.BaseRequest, answer: Answer, rules: list[ApiRule]
    ) -> web.StreamResponse:
        from aiohttp import web  # noqa: PLC0415

        body = answer.body.encode()
        headers = {
            "Audit-Id": self._stage.world.seed.uuid("audit", request.path_qs),
            "Content-Type": answer.content_type,
            "Content-Length": str(len(body)),
        }
        if answer.status in _TOO_BUSY:
            headers["Retry-After"] = "1"
        response = web.StreamResponse(status=answer.status, headers=headers)
        await response.prepare(request)
        if any(rule.cuts for rule in rules) and request.transport is not None:
            await response.write(body[: len(body) // 2])
            request.transport.close()
            return response
        drip = max((rule.drip for rule in rules), default=0.0)
        for piece in [bytes([byte]) for byte in body] if drip else [body]:
            await response.write(piece)
            await asyncio.sleep(drip)
        await response.write_eof()
        return response

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


def _decreed(
    rules: list[ApiRule], request: web.BaseRequest, client: Client | None
) -> Answer | None:
    """What a rule makes of the request, whatever the model says."""
    for rule in rules:
        target = apipaths.target(request.path_qs)
        if rule.forbids and target is not None and client is not None:
            return forbidden(target, request.method, client)
        if rule.answer is not None:
            return rule.answer
    return None


def _program(
    world: World, host: Host, target: Target | None, client: Client | None
) -> Object | None:
    """The pod in which a program is to run; None for every other request."""
    if target is None or (target.resource.kind, target.part) != ("Pod", "exec"):
        return None
    if client is None or not client.valid or not world.etcd_serves(host):
        return None
    return world.objects_of(host).get("Pod", target.namespace, target.name)


def _client(request: web.BaseRequest) -> Client | None:
    transport = request.transport
    connection = transport.get_extra_info("ssl_object") if transport else None
    der = connection.getpeercert(binary_form=True) if connection else None
    return client_of(ssl.DER_cert_to_PEM_cert(der).encode()) if der else None
