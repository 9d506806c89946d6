"""How kubectl finds its API server: kubeconfig, certificate, connection, and what may go wrong."""

from __future__ import annotations

import asyncio
import re
from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab.filesystem import NO_SUCH_FILE, FileError
from lab.pki import client_of
from lab.world import Door

if TYPE_CHECKING:
    from lab.host import Host
    from lab.pki import Client
    from lab.tools.call import Call, Options


# kubectl's own time-out for finding out what the server offers.
_PATIENCE = 32.0


@dataclass(frozen=True, slots=True)
class Api:
    """The API server that answers, and whom it takes us for."""

    host: Host
    client: Client


@dataclass(frozen=True, slots=True)
class _Config:
    server: str = "http://localhost:8080"
    certificate: bytes | None = None


async def connect(call: Call, options: Options) -> Api | None:
    """Reach the API server and authenticate; None when that fails, with kubectl's complaint."""
    config = _read(call, options)
    if config is None:
        return None
    server = options.get("--server", "-s") or config.server
    url = urlsplit(server)
    name, port = url.hostname or "localhost", url.port or 443
    address = "127.0.0.1" if name == "localhost" else name
    reached = call.world.connect(call.host, address, port)
    if reached.door is not Door.OPEN or reached.host is None:
        await _no_connection(call, server, f"{name}:{port}", reached.door)
        return None
    if reached.host.api_hangs:
        await asyncio.sleep(_PATIENCE)
        call.complain("Unable to connect to the server: net/http: TLS handshake timeout")
        return None
    if config.certificate is None:
        call.write("Please enter Username: ")
        call.complain("error: EOF")
        return None
    client = client_of(config.certificate)
    if not client.valid:
        call.complain("error: You must be logged in to the server (Unauthorized)")
        return None
    return Api(reached.host, client)


def _read(call: Call, options: Options) -> _Config | None:
    named = options.get("--kubeconfig")
    path = named or call.shell.variables.get("KUBECONFIG")
    if not path:
        return _Config()
    try:
        text = call.files.read(call.path(path), call.user).decode()
    except FileError as error:
        absent = error.reason == NO_SUCH_FILE
        if absent and not named:
            # A path of the environment that is not there is as good as none.
            return _Config()
        what = "stat" if absent else f'error loading config file "{path}": open'
        call.complain(f"error: {what} {path}: {error.reason.lower()}")
        return None
    data = _value(text, "client-certificate-data")
    return _Config(_value(text, "server") or _Config().server, b64decode(data) if data else None)


async def _no_connection(call: Call, server: str, place: str, door: Door) -> None:
    if door is Door.DROPPED:
        await asyncio.sleep(_PATIENCE)
        call.complain(f"Unable to connect to the server: dial tcp {place}: i/o timeout")
        return
    dialled = place.replace("localhost", "127.0.0.1")
    reason = "connection refused" if door is Door.REFUSED else "no route to host"
    at = call.world.now(call.host)
    for index in range(5):
        call.complain(
            f"E{at:%m%d %H:%M:%S}.{100000 + index * 731}   12825 memcache.go:265] "
            '"Unhandled Error" err="couldn\'t get current server API group list: '
            f'Get \\"{server}/api?timeout=32s\\": dial tcp {dialled}: connect: {reason}"'
        )
    if door is Door.REFUSED:
        call.complain(
            f"The connection to the server {place} was refused - did you specify the right host "
            "or port?"
        )
    else:
        call.complain(f"Unable to connect to the server: dial tcp {place}: connect: {reason}")


def _value(text: str, key: str) -> str | None:
    match = re.search(rf"^\s*{re.escape(key)}:\s*(\S+)", text, re.MULTILINE)
    return match.group(1) if match else None
