"""Nodes that are on their way to Ready: freshly joined workers, slow ones, and ones that flap."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lab.cluster import nodes
from lab.phase import Phase

if TYPE_CHECKING:
    from lab.cluster.work import Work
    from lab.objects import Store
    from lab.world import World


def begin(world: World, store: Store, work: Work) -> None:
    """In phase D the workers have joined just now: NotReady until their Cilium agents run.

    A node that a scenario has made unwell stays as it is.
    """
    late = dict(world.trouble.ready_after)
    if world.phase is Phase.D:
        for index, machine in enumerate(world.layout.workers):
            # One after the other, as the playbook joins them; a hundred do not take ten times.
            stagger = min(index, 4) * world.pace.cni / 4
            late.setdefault(machine.name, world.pace.cni + stagger)
    for name in nodes.healthy(store, late):
        nodes.not_ready(world, store, name)
        nodes.agent_down(world, store, name)
        arrive(world, store, work, name, late[name])
    for name, (up, down) in world.trouble.flapping.items():
        flap(world, store, work, name, up=up, down=down)


def arrive(world: World, store: Store, work: Work, name: str, wait: float) -> None:
    """After a while the node's agent runs, and then the node is Ready."""

    def act() -> None:
        nodes.agent_up(world, store, name)
        nodes.ready(world, store, name)

    work.soon(world, wait, ("arrive", name), act)


def flap(world: World, store: Store, work: Work, name: str, *, up: float, down: float) -> None:
    """Let the Ready node be NotReady and Ready in turn, for ever."""
    again = partial(_fall, world, store, work, name, up=up, down=down)
    work.soon(world, up, ("flap", name), again)


def _fall(world: World, store: Store, work: Work, name: str, *, up: float, down: float) -> None:
    nodes.not_ready(world, store, name, message="PLEG is not healthy", reason="KubeletNotReady")
    again = partial(_rise, world, store, work, name, up=up, down=down)
    work.soon(world, down, ("flap", name), again)


def _rise(world: World, store: Store, work: Work, name: str, *, up: float, down: float) -> None:
    nodes.ready(world, store, name)
    flap(world, store, work, name, up=up, down=down)
