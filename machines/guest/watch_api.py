"""Asks `/readyz` many times a second over new connections and tells how each ended.

Runs on the bastion beside a drill, as a second opinion about its outage: one JSON line on stdin
says whom to ask and with which certificates; each request is a line of stdout; it ends with stdin.
"""

from __future__ import annotations

import http.client
import json
import ssl
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

_EVERY: Final = 0.05
_LIMIT: Final = 1.0
_writing = threading.Lock()


def context_of(told: dict[str, Any], folder: Path) -> ssl.SSLContext:
    """TLS with the certificates that stdin gave; `folder` is for as long as this takes."""
    context = ssl.create_default_context(cadata=told["ca"])
    pair = folder / "pair.pem"
    pair.touch(mode=0o600)
    pair.write_text(told["certificate"] + told["key"])
    context.load_cert_chain(pair)
    return context


def ask_once(address: str, port: int, context: ssl.SSLContext) -> bool:
    """Whether `/readyz` is 200 and `ok`, connecting included, within a second."""
    end = time.monotonic() + _LIMIT
    connection = http.client.HTTPSConnection(address, port, timeout=_LIMIT, context=context)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        ready = answer.status == http.client.OK and answer.read() == b"ok"
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return ready and time.monotonic() <= end


def _tell(told: dict[str, Any], context: ssl.SSLContext) -> None:
    at = time.time()
    ready = ask_once(told["address"], told["port"], context)
    with _writing:
        sys.stdout.write(json.dumps({"at": at, "ready": ready}) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Ask until stdin ends."""
    told = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory() as folder:
        context = context_of(told, Path(folder))
    over = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        over.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    due = time.monotonic()
    while not over.wait(max(0.0, due - time.monotonic())):
        threading.Thread(target=_tell, args=(told, context), daemon=True).start()
        due += _EVERY


if __name__ == "__main__":
    main()
