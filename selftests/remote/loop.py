"""One background event loop for all servers of the tests."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end and give its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def call(self, function: Any, *args: Any) -> None:
        """Call in the loop's thread, and wait until it has been called."""

        async def wrapped() -> None:
            function(*args)

        self.run(wrapped())


BACKGROUND = BackgroundLoop()
