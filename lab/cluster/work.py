"""What the controllers will do: each thing once, after a while, and only while the API serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Hashable

    from lab.host import Host
    from lab.world import World


class Work:
    """Things to do later, by key; nothing is polled."""

    def __init__(self) -> None:
        self._due: dict[Hashable, asyncio.TimerHandle] = {}
        self._stalled: dict[Hashable, Callable[[], None]] = {}

    def soon(self, world: World, wait: float, key: Hashable, action: Callable[[], None]) -> None:
        """Do it after `wait` seconds, unless the same key is waiting already."""
        if key in self._due or key in self._stalled:
            return

        def fire() -> None:
            self._due.pop(key, None)
            if server(world) is not None:
                action()
            else:
                self._stalled[key] = action

        handle = world.timeline.later(wait, fire)
        if handle is not None:
            self._due[key] = handle

    def drop(self, key: Hashable) -> None:
        """Forget it."""
        handle = self._due.pop(key, None)
        if handle is not None:
            handle.cancel()
        self._stalled.pop(key, None)

    def resume(self, world: World) -> None:
        """Go on with what an API that could not write held up."""
        if self._stalled and server(world) is not None:
            stalled, self._stalled = self._stalled, {}
            for key, action in stalled.items():
                self.soon(world, 0.0, key, action)


def server(world: World) -> Host | None:
    """The control plane whose API the controllers write to; None while there is none."""
    return next((host for host in world.control_planes if world.api_ready(host)), None)
