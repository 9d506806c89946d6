"""The supervisor port 9345: TLS, `/ping`, and the member list that a joining server asks for."""

from __future__ import annotations

import base64
import hmac
import http.client
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from .paths import TLS

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

PORT: Final = 9345
_MEMBERS: Final = "/db/info"
_SILENCE: Final = 10.0


class Supervisor:
    """Listens from `start` until the process ends, so a stop of the unit closes the port."""

    def __init__(
        self, token: str, members: Callable[[], list[dict[str, Any]]], port: int = PORT
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(
            TLS / "serving-kube-apiserver.crt", TLS / "serving-kube-apiserver.key"
        )
        # RKE2 listens on every address as well: the VIP may arrive at any moment.
        self._server = _Server(("0.0.0.0", port), _Handler, context, _basic(token), members)  # noqa: S104

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
        members: Callable[[], list[dict[str, Any]]],
    ) -> None:
        super().__init__(address, handler)
        self.authorization = authorization
        self.members = members
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
        elif self.path != _MEMBERS:
            self._answer(http.client.NOT_FOUND, "text/plain", b"404 page not found\n")
        elif not hmac.compare_digest(
            self.headers.get("Authorization", ""), self.server.authorization
        ):
            self._answer(http.client.UNAUTHORIZED, "text/plain", b"Unauthorized\n")
        else:
            self._members()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class's name
        """Keep the journal for what RKE2 itself would say."""

    def _members(self) -> None:
        try:
            body = json.dumps({"members": self.server.members()}).encode()
        except (OSError, RuntimeError) as reason:
            self._answer(http.client.SERVICE_UNAVAILABLE, "text/plain", f"{reason}\n".encode())
        else:
            self._answer(http.client.OK, "application/json", body)

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def members_of(server: str, token: str) -> list[dict[str, Any]]:
    """The etcd members, as the supervisor at `server` (an https URL) lists them.

    Raises:
        OSError, http.client.HTTPException: no answer.
        RuntimeError: an answer other than 200.
    """
    host, _, port = server.removeprefix("https://").partition(":")
    context = ssl.create_default_context(cafile=str(TLS / "server-ca.crt"))
    connection = http.client.HTTPSConnection(
        host, int(port or PORT), timeout=_SILENCE, context=context
    )
    try:
        connection.request("GET", _MEMBERS, headers={"Authorization": _basic(token)})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{server}{_MEMBERS}: HTTP {answer.status} {body[:200]!r}")
        members: list[dict[str, Any]] = json.loads(body)["members"]
        return members
    finally:
        connection.close()


def _basic(token: str) -> str:
    return "Basic " + base64.b64encode(f"server:{token}".encode()).decode()
