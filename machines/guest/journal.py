"""RKE2's journal lines (logrus on stderr) and its readiness message to systemd."""

from __future__ import annotations

import datetime
import json
import os
import socket
import sys
from typing import Final

# Taken out of the environment at once: systemctl and kwok would report their own readiness to it.
_NOTIFY: Final = os.environ.pop("NOTIFY_SOCKET", "")


def info(text: str) -> None:
    """One `level=info` line."""
    _line("info", text)


def warning(text: str) -> None:
    """One `level=warning` line."""
    _line("warning", text)


def error(text: str) -> None:
    """One `level=error` line; success of a reset is one, too."""
    _line("error", text)


def fatal(text: str) -> None:
    """One `level=fatal` line; the caller ends the program."""
    _line("fatal", text)


def _line(level: str, text: str) -> None:
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    message = json.dumps(text, ensure_ascii=False)
    sys.stderr.write(f'time="{now}" level={level} msg={message}\n')
    sys.stderr.flush()


def ready() -> None:
    """Tell systemd that the unit is up (`Type=notify`)."""
    if not _NOTIFY:
        return
    address = "\0" + _NOTIFY[1:] if _NOTIFY.startswith("@") else _NOTIFY
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.connect(address)
        channel.sendall(b"READY=1")
