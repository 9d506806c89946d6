"""What happens later in the world, and who is told when it has changed."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class Timeline:
    """Runs what outlives the command that began it: timers, services, servers that start.

    Before `begin` the world stands still: faults and scenarios find every consequence at once.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._events: dict[asyncio.TimerHandle, Callable[[], None]] = {}
        self._watchers: list[Callable[[], None]] = []
        self.runs = False

    def begin(self) -> None:
        """Let time pass from now on."""
        self.runs = True

    def close(self) -> None:
        """Stop everything; nothing of this world happens any more."""
        self.runs = False
        for event in self._events:
            event.cancel()
        for task in self._tasks:
            task.cancel()
        self._watchers.clear()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` whenever the world has changed."""
        self._watchers.append(watcher)

    def changed(self) -> None:
        """Tell the watchers."""
        if self.runs:
            for watcher in list(self._watchers):
                watcher()

    def later(self, seconds: float, action: Callable[[], object]) -> asyncio.TimerHandle | None:
        """Do something after so many seconds; cancel it by the handle. None never happens."""
        if not self.runs or math.isinf(seconds):
            return None

        def fire() -> None:
            self._events.pop(handle, None)
            action()
            self.changed()

        handle = asyncio.get_running_loop().call_later(seconds, fire)
        self._events[handle] = fire
        return handle

    def hurry(self, beyond: float = 1.0) -> None:
        """Let what is due later than so many seconds from now happen at once, in its order."""
        horizon = asyncio.get_running_loop().time() + beyond
        for handle, fire in sorted(self._events.items(), key=lambda event: event[0].when()):
            if handle.when() > horizon and not handle.cancelled():
                handle.cancel()
                fire()

    def run(self, work: Coroutine[Any, Any, int]) -> asyncio.Task[int]:
        """Begin work that nobody's connection can end."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self.changed()

    async def pause(self, seconds: float) -> None:
        """Let time pass; what was changed until now is seen by all."""
        self.changed()
        if math.isinf(seconds):
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(seconds)
