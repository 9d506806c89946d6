"""A machine that restarts: what runs on it ends, its connections drop, what is enabled returns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from lab import actions, servers
from lab.host import Link
from lab.trouble import Reboot
from lab.world import AGENT, KEEPALIVED, SERVER

if TYPE_CHECKING:
    from lab.host import Host
    from lab.world import World

_GONE = ("/run", "/tmp")  # noqa: S108 paths on a host of the lab
_COME_BACK = frozenset({"enabled", "static"})


def reboot(world: World, host: Host) -> None:
    """Begin to shut down; whoever asked is answered just before."""
    if world.trouble.reboot.get(host.name) is Reboot.IGNORED:
        return
    if not world.timeline.runs:
        _down(world, host)
        _up(world, host)
        return
    world.timeline.later(world.pace.shutdown, lambda: _shut_down(world, host))


def _shut_down(world: World, host: Host) -> None:
    _down(world, host)
    wait = world.trouble.boot_takes.get(host.name, world.pace.boot)
    if world.trouble.reboot.get(host.name) is Reboot.GONE:
        wait = math.inf
    world.timeline.later(wait, lambda: _up(world, host))


def _down(world: World, host: Host) -> None:
    host.link = Link.DOWN
    if host.jobs.server is not None:
        host.jobs.server.cancel()
        host.jobs.server = None
    for task in host.jobs.services.values():
        task.cancel()
    for handle in host.jobs.timers.values():
        if handle is not None:
            handle.cancel()
    host.jobs.services.clear()
    host.jobs.timers.clear()
    host.units = {name: unit.stopped() for name, unit in host.units.items() if not unit.transient}
    host.processes.clear()
    host.stuck_vip = False
    world.containers.end_on(host)
    for folder in _GONE:
        for name in host.files.children(folder):
            host.files.remove(f"{folder}/{name}")


def _up(world: World, host: Host) -> None:
    world.serial += 1
    host.boot_id = world.seed.uuid("boot", host.name, str(world.serial))
    host.link = Link.UP
    for name, unit in list(host.units.items()):
        if unit.file_state not in _COME_BACK or unit.masked or name in (SERVER, AGENT):
            continue
        if name == KEEPALIVED:
            actions.start_unit(world, host, name)
        else:
            host.units[name] = unit.running(world.now(host), 400 + len(name))
    for name in (SERVER, AGENT):
        found = host.units.get(name)
        if found is None or found.file_state != "enabled" or found.masked:
            continue
        if not world.timeline.runs:
            actions.start_unit(world, host, name)
        elif name == SERVER:
            servers.start(world, host)
        else:
            _start_agent(world, host)
    world.timeline.changed()


def _start_agent(world: World, host: Host) -> None:
    host.units[AGENT] = replace(
        host.units[AGENT], active="activating", sub="start", started=world.now(host), pid=2510
    )
    boot = host.boot_id

    def started() -> None:
        if host.boot_id == boot and host.units[AGENT].active == "activating":
            actions.start_unit(world, host, AGENT)

    world.timeline.later(world.pace.supervisor, started)
