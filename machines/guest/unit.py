"""What `rke2 server` and `rke2 agent` share: their end, their patience, their rounds."""

from __future__ import annotations

import contextlib
import http.client
import signal
import threading
import time
from typing import TYPE_CHECKING, Final, NoReturn

from . import containers, journal
from .api import ApiError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from types import FrameType

TICK: Final = 2.0
"""Seconds between two looks at what should run."""

UNANSWERED: Final = (ApiError, OSError, http.client.HTTPException)
"""What a question to the API raises when it is not answered as it should."""

_SELDOM: Final = 5


def end_on_signals() -> None:
    """SIGTERM and SIGINT end the process with rc 0; containers go on, the kubelet does not."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)


def patiently(what: str, action: Callable[[], None]) -> None:
    """Try it until the API takes it."""
    while True:
        try:
            action()
        except UNANSWERED as reason:
            journal.info(f"Waiting to {what}: {reason}")
            time.sleep(TICK / 2)
        else:
            return


def watch(
    kubelet: subprocess.Popen[bytes], often: Callable[[], None], seldom: Callable[[], None]
) -> int:
    """Look after the node, every fifth time thoroughly, until its kubelet ends; our exit status."""
    rounds = 0
    while kubelet.poll() is None:
        often()
        if rounds % _SELDOM == 0:
            seldom()
        rounds += 1
        time.sleep(TICK)
    journal.fatal(f"Kubelet exited with status {kubelet.returncode}")
    return 1


@contextlib.contextmanager
def containers_kept() -> Iterator[None]:
    """Inside, a container that has a manifest and does not run is started."""
    stopping = threading.Event()
    threading.Thread(target=_keep_containers, args=(stopping,), daemon=True).start()
    try:
        yield
    finally:
        stopping.set()


def _keep_containers(stopping: threading.Event) -> None:
    while True:
        containers.start_dead()
        if stopping.wait(TICK):
            return


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    journal.info(f"Received signal {signal.Signals(number).name}, stopping the kubelet")
    raise SystemExit(0)
