"""A container's log as containerd writes it: `/var/log/pods/<ns>_<pod>_<uid>/<name>/0.log`."""

from __future__ import annotations

import os
import signal
import time
from typing import IO, TYPE_CHECKING, Any, Final

from .containers import uid
from .paths import LOGS

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST: Final = 16 * 1024


def place(manifest: dict[str, Any]) -> Path:
    """Where the log of a pod's only container is."""
    metadata = manifest["metadata"]
    pod = f"{metadata['namespace']}_{metadata['name']}_{uid(manifest)}"
    return LOGS / pod / str(manifest["spec"]["containers"][0]["name"]) / "0.log"


def capture(manifest: dict[str, Any]) -> None:
    """Let a child write what this process says from here on; it ends when all of it is written."""
    path = place(manifest)
    path.parent.mkdir(parents=True, exist_ok=True)
    reading, writing = os.pipe()
    if os.fork() == 0:
        # A stop signals the whole unit: the last words are still to come then.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.close(writing)
        with os.fdopen(reading, "rb") as said, path.open("ab") as log:
            copy(said, log)
        os._exit(0)
    os.close(reading)
    for stream in (1, 2):
        os.dup2(writing, stream)
    os.close(writing)


def copy(said: IO[bytes], log: IO[bytes]) -> None:
    """Each line with its time; one that is too long in parts, all but the last marked `P`."""
    while line := said.readline(_LONGEST):
        part = "F" if line.endswith(b"\n") else "P"
        seconds, rest = divmod(time.time_ns(), 10**9)
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        log.write(f"{now}.{rest:09d}Z stderr {part} ".encode() + line.rstrip(b"\n") + b"\n")
        log.flush()
