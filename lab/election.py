"""Which control planes have the VIP: keepalived's election, and how it takes its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from lab.host import Link

if TYPE_CHECKING:
    import asyncio

    from lab.host import Host
    from lab.world import World

_KEEPALIVED = "keepalived.service"


@dataclass(slots=True)
class Election:
    """The state of every keepalived beyond its unit.

    While the world stands still the master is the best at once. When time runs, a check script's
    result counts after its fall or rise, a silent master is missed after a while, and a higher
    priority takes over from a living master.

    Attributes:
        deaf: control planes that do not hear each other's advertisements.
    """

    deaf: frozenset[str] = frozenset()
    _masters: tuple[str, ...] = ()
    _believed: dict[str, bool] = field(default_factory=dict)
    _doubts: dict[str, asyncio.TimerHandle | None] = field(default_factory=dict)
    _move: asyncio.TimerHandle | None = None
    _runs: bool = False

    def begin(self, world: World) -> None:
        """Let time count from the present state on."""
        self._believed = {host.name: world.check_passes(host) for host in _taking_part(world)}
        self._masters = self._goal(world)
        self._runs = True

    def masters(self, world: World) -> tuple[str, ...]:
        """The control planes that announce the VIP now."""
        return self._masters if self._runs else self._goal(world)

    def priority(self, world: World, host: Host) -> int:
        """What the host advertises; 0 when it does not take part."""
        if host.vrrp is None or not host.active(_KEEPALIVED) or host.link is not Link.UP:
            return 0
        if self._believed.get(host.name, False) if self._runs else world.check_passes(host):
            return host.vrrp.priority
        # Without a weight a failing script puts the instance into FAULT; with one it only
        # lowers the priority, which may leave the VIP where the API is dead.
        return host.vrrp.priority + host.vrrp.weight if host.vrrp.weight else 0

    def react(self, world: World) -> None:
        """Take note of what has changed: begin what will follow, drop what no longer will."""
        self._notice_checks(world)
        # Who cannot go on gives the address back at once; the others only miss the advertisements.
        self._masters = tuple(
            name for name in self._masters if self.priority(world, world.hosts[name]) > 0
        )
        if self._goal(world) == self._masters:
            if self._move is not None:
                self._move.cancel()
            self._move = None
        elif self._move is None:
            wait = world.pace.preempt if self._masters else world.pace.takeover
            self._move = world.timeline.later(wait, lambda: self._settle(world))

    def _settle(self, world: World) -> None:
        self._move = None
        self._masters = self._goal(world)

    def _goal(self, world: World) -> tuple[str, ...]:
        """The masters once everybody has heard everybody."""
        able = [host for host in world.control_planes if self.priority(world, host) > 0]
        rivals = [host for host in able if not self._holds_back(host)]
        return tuple(
            host.name
            for host in rivals
            if not any(
                self.priority(world, other) > self.priority(world, host)
                for other in rivals
                if self._hears(host, other)
            )
        )

    def _holds_back(self, host: Host) -> bool:
        if host.vrrp is None or not host.vrrp.nopreempt or host.name in self._masters:
            return False
        return bool(self._masters)

    def _hears(self, host: Host, other: Host) -> bool:
        return not (host.name in self.deaf and other.name in self.deaf)

    def _notice_checks(self, world: World) -> None:
        taking_part = {host.name: host for host in _taking_part(world)}
        for name in set(self._believed) | set(self._doubts):
            if name not in taking_part:
                self._believed.pop(name, None)
                self._forget_doubt(name)
        for name, host in taking_part.items():
            if world.check_passes(host) == self._believed.get(name, False):
                self._forget_doubt(name)
            elif name not in self._doubts:
                wait = world.pace.fall if self._believed.get(name) else world.pace.rise
                self._doubts[name] = world.timeline.later(wait, partial(self._believe, world, host))

    def _believe(self, world: World, host: Host) -> None:
        self._doubts.pop(host.name, None)
        self._believed[host.name] = world.check_passes(host)

    def _forget_doubt(self, name: str) -> None:
        doubt = self._doubts.pop(name, None)
        if doubt is not None:
            doubt.cancel()


def _taking_part(world: World) -> list[Host]:
    return [host for host in world.control_planes if host.active(_KEEPALIVED)]
