"""A Kubernetes client of a few lines: JSON over TLS with a client certificate."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import TYPE_CHECKING, Any, Final, Protocol

from .paths import TLS

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT: Final = 10.0

Json = dict[str, Any]


class ApiError(Exception):
    """The API answered with something else than 2xx. `status` is the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"HTTP {status}: {text[:300]}")
        self.status = status


class Api(Protocol):
    """What the kubelet and the server need of the Kubernetes API."""

    def request(
        self, method: str, path: str, body: Json | None = None, patch: str = "merge"
    ) -> Json:
        """The decoded answer of one call."""
        ...


class ApiServer:
    """One API server, asked with a client certificate of a folder: `system:apiserver`'s."""

    def __init__(
        self,
        host: str,
        port: int = 6443,
        *,
        folder: Path = TLS,
        client: str = "client-kube-apiserver",
    ) -> None:
        self._host = host
        self._port = port
        self._context = ssl.create_default_context(cafile=str(folder / "server-ca.crt"))
        self._context.load_cert_chain(folder / f"{client}.crt", folder / f"{client}.key")

    def request(
        self, method: str, path: str, body: Json | None = None, patch: str = "merge"
    ) -> Json:
        """The decoded answer; a body with PATCH is a `patch` ("merge" or "strategic-merge") patch.

        Raises:
            ApiError: another status than 2xx.
            OSError, http.client.HTTPException: no answer.
        """
        status, text = self._exchange(method, path, body, patch)
        if status >= http.client.MULTIPLE_CHOICES:
            raise ApiError(status, text)
        decoded: Json = json.loads(text) if text.startswith("{") else {}
        return decoded

    def ready(self) -> bool:
        """Whether `/readyz` is 200 and exactly `ok` just now."""
        try:
            return self._exchange("GET", "/readyz", None, "merge") == (http.client.OK, "ok")
        except (OSError, http.client.HTTPException):
            return False

    def _exchange(self, method: str, path: str, body: Json | None, patch: str) -> tuple[int, str]:
        connection = http.client.HTTPSConnection(
            self._host, self._port, timeout=_LIMIT, context=self._context
        )
        kind = f"application/{patch}-patch+json" if method == "PATCH" else "application/json"
        try:
            connection.request(
                method,
                path,
                body=None if body is None else json.dumps(body),
                headers={"Content-Type": kind, "Accept": "application/json"},
            )
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()
