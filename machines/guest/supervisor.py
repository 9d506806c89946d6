"""The supervisor port 9345: TLS, `/ping`, and what joining servers and `rke2`'s commands ask."""

from __future__ import annotations

import base64
import hmac
import http.client
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .paths import TLS

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from pathlib import Path

PORT: Final = 9345
LOCAL: Final = f"https://127.0.0.1:{PORT}"
MEMBERS: Final = "/db/info"
AUTHORITY: Final = "/cacerts"
NETWORKS: Final = "/v1-rke2/config"
_SILENCE: Final = 10.0

Routes: TypeAlias = "Mapping[tuple[str, str], Callable[[Any], object]]"
"""Method and path -> what answers, given the decoded body; both are JSON."""


class RefusedError(RuntimeError):
    """The supervisor answered with something else than 200."""

    def __init__(self, where: str, status: int, text: str) -> None:
        super().__init__(f"{where}: HTTP {status} {text[:200]!r}")
        self.status = status
        self.text = text


class Supervisor:
    """Listens from `start` until the process ends, so a stop of the unit closes the port."""

    def __init__(self, token: str, routes: Routes, port: int = PORT) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(
            TLS / "serving-kube-apiserver.crt", TLS / "serving-kube-apiserver.key"
        )
        # RKE2 listens on every address as well: the VIP may arrive at any moment.
        self._server = _Server(("0.0.0.0", port), _Handler, context, _basic(token), routes)  # noqa: S104

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Serve in the background."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[BaseHTTPRequestHandler],
        context: ssl.SSLContext,
        authorization: str,
        routes: Routes,
    ) -> None:
        super().__init__(address, handler)
        self.authorization = authorization
        self.routes = routes
        self._context = context

    def get_request(self) -> tuple[socket.socket, Any]:
        # The handshake is left to the handler's thread: a bare TCP probe must not stall the others.
        connection, client = super().get_request()
        connection.settimeout(_SILENCE)
        return self._context.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        ), client

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: keepalived's TCP probe hangs up before the handshake, every two seconds."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/ping":
            self._answer(http.client.OK, "text/plain", b"pong")
        elif self.path == AUTHORITY:
            pem = (TLS / "server-ca.crt").read_bytes()
            self._answer(http.client.OK, "text/plain", pem)
        else:
            self._route("GET")

    def do_POST(self) -> None:
        self._route("POST")

    def _route(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        action = self.server.routes.get((method, self.path))
        if action is None:
            self._answer(http.client.NOT_FOUND, "text/plain", b"404 page not found\n")
            return
        sent = self.headers.get("Authorization", "")
        if not hmac.compare_digest(sent, self.server.authorization):
            self._answer(http.client.UNAUTHORIZED, "text/plain", b"Unauthorized\n")
            return
        try:
            answer = json.dumps(action(json.loads(body) if body else None)).encode()
        except (OSError, RuntimeError, http.client.HTTPException) as reason:
            self._answer(http.client.INTERNAL_SERVER_ERROR, "text/plain", f"{reason}\n".encode())
        else:
            self._answer(http.client.OK, "application/json", answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class's name
        """Keep the journal for what RKE2 itself would say."""

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def ask(
    server: str,
    method: str,
    path: str,
    token: str,
    *,
    body: object = None,
    limit: float = _SILENCE,
    authority: Path | None = None,
) -> Any:
    """The decoded answer of the supervisor at `server`, an https URL.

    `authority` is the file that certifies it; without one, this server's own.

    Raises:
        OSError, http.client.HTTPException: no answer.
        RefusedError: an answer other than 200.
    """
    context = ssl.create_default_context(cafile=str(authority or TLS / "server-ca.crt"))
    connection = _connection(server, context, limit)
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, body=sent, headers={"Authorization": _basic(token)})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != http.client.OK:
            raise RefusedError(f"{server}{path}", answer.status, text.strip())
        return json.loads(text)
    finally:
        connection.close()


def authority(server: str) -> str:
    """The certificate of the authority that the supervisor at `server` stands on, unverified.

    Raises:
        OSError, http.client.HTTPException: no answer.
    """
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = _connection(server, context, _SILENCE)
    try:
        connection.request("GET", AUTHORITY)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def members_of(server: str, token: str) -> list[dict[str, Any]]:
    """The etcd members, as the supervisor at `server` lists them.

    Raises:
        OSError, http.client.HTTPException, RefusedError: as `ask`.
    """
    members: list[dict[str, Any]] = ask(server, "GET", MEMBERS, token)
    return members


def _connection(server: str, context: ssl.SSLContext, limit: float) -> http.client.HTTPSConnection:
    host, _, port = server.removeprefix("https://").partition(":")
    return http.client.HTTPSConnection(host, int(port or PORT), timeout=limit, context=context)


def _basic(token: str) -> str:
    return "Basic " + base64.b64encode(f"server:{token}".encode()).decode()
