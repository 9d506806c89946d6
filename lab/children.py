"""The processes that one command line left in the background, by pid."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from lab.timeline import Timeline

_FIRST_PID = 41_000
_KILLED, _NOT_A_CHILD = 143, 127


class Children:
    """The background commands of one command line, by pid; the newest is `$!`."""

    def __init__(self) -> None:
        self._tasks: dict[int, asyncio.Task[int]] = {}

    @property
    def newest(self) -> str:
        """What `$!` stands for; empty before the first one."""
        return str(max(self._tasks)) if self._tasks else ""

    def start(self, timeline: Timeline, work: Coroutine[Any, Any, int]) -> None:
        """Begin a command; the end of the shell does not end it."""
        self._tasks[_FIRST_PID + len(self._tasks)] = timeline.run(work)

    def alive(self, pid: int) -> bool:
        """Whether that command runs."""
        return pid in self._tasks and not self._tasks[pid].done()

    def end(self, pid: int) -> None:
        """Let the command die of a signal."""
        self._tasks[pid].cancel()

    async def rc_of(self, pid: int) -> int:
        """How that command ended, once it has."""
        if pid not in self._tasks:
            return _NOT_A_CHILD
        await asyncio.wait({self._tasks[pid]})
        return _KILLED if self._tasks[pid].cancelled() else self._tasks[pid].result()

    @property
    def pids(self) -> list[int]:
        """All of them, the oldest first."""
        return list(self._tasks)
