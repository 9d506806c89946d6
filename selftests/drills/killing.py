"""A runner's plugin: strikes when a gate has written its n-th line of a step or a latch.

What the line announces is not sent yet. Told by the environment: `KILL_GATE`, `KILL_AT`, and
`KILL_NOTE`, the file that gets the step and its state when it has come to that. `KILL_WITH` is a
signal's name; `raise`, a defect of ours; `full`, a disk without room; or an order for the lab,
which `KILL_CONTROL` is the socket of: `cut` and the seconds it lasts, `stop`, `hold`.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
from itertools import count
from pathlib import Path
from typing import Any

from fixtures.applylog import ledger
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import Kind, Line
from fixtures.core.milestones import LOOKED_AFTER

_write = Ledger.append
_steps = count(1)


def pytest_configure() -> None:
    """Look at every line that is written."""
    if "KILL_GATE" in os.environ:
        Ledger.append = _append  # type: ignore[method-assign]


def _append(self: Ledger, kind: Kind, /, **fields: Any) -> Line:
    line = _write(self, kind, **fields)
    wanted, at = os.environ["KILL_GATE"], int(os.environ["KILL_AT"])
    told = kind in {Kind.STEP, Kind.LATCH} and fields.get("gate") == wanted
    own = told and fields["step"] != LOOKED_AFTER
    if own and next(_steps) == at:
        _strike(f"{fields['step']}: {fields['state']}")
    return line


def _strike(step: str) -> None:
    Path(os.environ["KILL_NOTE"]).write_text(step)
    means = os.environ["KILL_WITH"]
    if means.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, means))
    elif means == "raise":
        raise KeyError("boom")
    elif means == "full":
        ledger.write_all = _no_room
    else:
        _order(means)


def _no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _order(means: str) -> None:
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(os.environ["KILL_CONTROL"])
        control.sendall(means.encode())
        control.shutdown(socket.SHUT_WR)
        control.recv(1)
