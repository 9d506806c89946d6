"""What runs on a host beyond its units: transient services, timers, a server that starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True, slots=True)
class Service:
    """A one-shot service as `systemd-run` describes it.

    Attributes:
        name: with `.service`.
        argv: what it runs; the program is a path.
        remains: RemainAfterExit: it stays `active (exited)` until it is stopped.
        outputs: files that stdout and stderr are appended to; empty is the journal.
        again: Restart=on-failure: seconds until one that failed is started again.
    """

    name: str
    argv: tuple[str, ...]
    remains: bool = False
    outputs: tuple[str, str] = ("", "")
    again: float | None = None


@dataclass(slots=True)
class Jobs:
    """The work of one host that goes on by itself.

    Attributes:
        services: transient services that run now.
        timers: transient timers that wait.
        server: the start of rke2-server, and its restarts after it ended by itself.
    """

    services: dict[str, asyncio.Task[int]] = field(default_factory=dict)
    timers: dict[str, asyncio.TimerHandle | None] = field(default_factory=dict)
    server: asyncio.Task[int] | None = None
