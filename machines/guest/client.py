"""The commands that ask the local supervisor: their token, and their words when it fails."""

from __future__ import annotations

import http.client
import os
from typing import Any, Final

from . import journal, supervisor
from .paths import TOKEN

LIMIT: Final = 120.0
"""Seconds after which the real tool gives up, too."""


class FatalError(Exception):
    """What the real tool says last, after `Error: `; it ends with rc 1."""


def ask(method: str, path: str, body: object = None) -> Any:
    """The supervisor's decoded answer.

    Raises:
        FatalError: there is none, in the words of the real tool.
    """
    token = _token()
    url = f"{supervisor.LOCAL}{path}"
    try:
        return supervisor.ask(supervisor.LOCAL, method, path, token, body=body, limit=LIMIT)
    except ConnectionRefusedError:
        raise FatalError(
            f'failed to get CA certs: Get "{supervisor.LOCAL}/cacerts": '
            f"dial tcp 127.0.0.1:{supervisor.PORT}: connect: connection refused"
        ) from None
    except TimeoutError:
        raise FatalError(
            f'{method.capitalize()} "{url}": context deadline exceeded '
            "(Client.Timeout exceeded while awaiting headers)"
        ) from None
    except supervisor.RefusedError as refusal:
        if refusal.status == http.client.UNAUTHORIZED:
            raise FatalError("see server log for details: not authorized") from None
        raise FatalError(
            f"see server log for details: Internal error occurred: {refusal.text}"
        ) from None
    except (OSError, http.client.HTTPException) as reason:
        raise FatalError(f'{method.capitalize()} "{url}": {reason}') from None


def fail(reason: FatalError) -> int:
    """Say it as the real tool does; its exit status."""
    journal.fatal(f"Error: {reason}")
    return 1


def _token() -> str:
    try:
        return TOKEN.read_text().strip().split(":")[-1]
    except OSError as reason:
        why = os.strerror(reason.errno or 0).lower()
        raise FatalError(f"open {TOKEN}: {why}") from None
