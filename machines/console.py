"""Progress lines: what is being done, and how long it took."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEARTBEAT: Final = 15.0


def say(text: str) -> None:
    """Print one line at once, also into a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def step(text: str) -> Iterator[None]:
    """Announce `text`, say every 15 s that it still goes on, and close with its seconds."""
    started = time.monotonic()
    done = threading.Event()

    def heartbeat() -> None:
        while not done.wait(_HEARTBEAT):
            say(f"    … {text}: {time.monotonic() - started:.0f} s so far")

    say(f"  {text}")
    watcher = threading.Thread(target=heartbeat, daemon=True)
    watcher.start()
    outcome = "failed after"
    try:
        yield
        outcome = "done in"
    finally:
        done.set()
        watcher.join()
        say(f"    {outcome} {time.monotonic() - started:.1f} s")
