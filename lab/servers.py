"""rke2-server as it starts, joins, fails and starts again (facts/real-run, Restore and Quorum)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from lab import databases, journal, layout, membership
from lab.trouble import Rejoin
from lab.world import SERVER

if TYPE_CHECKING:
    import asyncio

    from lab.host import Host
    from lab.trouble import Murmur
    from lab.world import World

# What the unit itself runs. `KillMode=process`: the containers outlive it, etcd and the API too.
OF_THE_UNIT = frozenset({"supervisor", "kubelet", "containerd"})
WITH_THE_API = frozenset(
    {"kube-apiserver", "kube-controller-manager", "kube-scheduler", "cloud-controller-manager"}
)
OF_THE_SERVER = WITH_THE_API | {"etcd", "kube-proxy"}
OF_AN_AGENT = frozenset({"kubelet", "containerd", "kube-proxy"})
_UP = "rke2 is up and running"


def start(world: World, host: Host) -> asyncio.Task[int]:
    """`systemctl start rke2-server`; the task ends when the unit is active, with status 0."""
    running = host.jobs.server
    if running is not None and not running.done():
        return running
    host.units[SERVER] = replace(
        host.units[SERVER],
        active="activating",
        sub="start",
        result="success",
        restarts=0,
        started=world.now(host),
        pid=4711,
    )
    journal.write(world, host, SERVER, f"Starting {SERVER} - {_name(host)}...", program="systemd")
    task = world.timeline.run(_keep_starting(world, host))
    host.jobs.server = task
    world.timeline.changed()
    return task


def stop(world: World, host: Host) -> None:
    """`systemctl stop rke2-server`: supervisor and kubelet end, the containers go on."""
    if host.jobs.server is not None:
        host.jobs.server.cancel()
        host.jobs.server = None
    if host.units[SERVER].active != "inactive":
        journal.write(
            world, host, SERVER, f"Stopping {SERVER} - {_name(host)}...", program="systemd"
        )
        journal.write(world, host, SERVER, f"Stopped {SERVER} - {_name(host)}.", program="systemd")
    host.units[SERVER] = host.units[SERVER].stopped()
    host.processes -= OF_THE_UNIT
    world.timeline.changed()


async def _keep_starting(world: World, host: Host) -> int:
    while not await _start_once(world, host):
        host.processes -= OF_THE_UNIT | OF_THE_SERVER
        unit = host.units[SERVER]
        journal.write(
            world,
            host,
            SERVER,
            f"{SERVER}: Main process exited, code=exited, status=1/FAILURE",
            program="systemd",
        )
        journal.write(
            world, host, SERVER, f"{SERVER}: Failed with result 'exit-code'.", program="systemd"
        )
        host.units[SERVER] = replace(
            unit, active="activating", sub="auto-restart", result="exit-code", pid=0
        )
        await world.timeline.pause(world.pace.restart)
        host.units[SERVER] = replace(
            unit, active="activating", sub="start", restarts=unit.restarts + 1
        )
    return 0


async def _start_once(world: World, host: Host) -> bool:
    pace, timeline = world.pace, world.timeline
    version = f"Starting rke2 {layout.RKE2} (c4f306e6)"
    journal.logrus(world, host, "info", version)
    await timeline.pause(pace.supervisor)
    if databases.found(host) is None:
        # Without a database RKE2 takes it for a rejoin and ends the static pods first.
        host.processes -= OF_THE_SERVER
    host.processes |= OF_THE_UNIT
    journal.logrus(
        world, host, "error", "Sending HTTP/2.0 503 response to 127.0.0.1:47170: starting"
    )
    await timeline.pause(pace.etcd)
    if host.name in world.trouble.start_fails:
        journal.logrus(
            world, host, "fatal", "starting kubernetes: preparing server: failed to start"
        )
        return False
    if not await membership.take_up(world, host):
        return False
    journal.logrus(world, host, "info", "Connection to etcd is ready")
    journal.logrus(world, host, "info", "ETCD server is now running")
    while not world.etcd_serves(host) or membership.learns(world, host):
        await timeline.pause(pace.join)
    await timeline.pause(pace.api)
    host.processes |= OF_THE_SERVER
    journal.logrus(world, host, "info", "Kube API server is now running")
    if world.trouble.rejoin.get(host.name) is Rejoin.NEVER_READY:
        await timeline.pause(math.inf)
    await timeline.pause(pace.ready)
    journal.logrus(world, host, "info", _UP)
    journal.write(world, host, SERVER, f"Started {SERVER} - {_name(host)}.", program="systemd")
    host.units[SERVER] = replace(host.units[SERVER], active="active", sub="running")
    _afterwards(world, host)
    timeline.changed()
    return True


def _afterwards(world: World, host: Host) -> None:
    world.timeline.later(world.pace.flag, lambda: host.files.remove(databases.RESET_FLAG))
    for murmur in world.trouble.journal.get(host.name, ()):
        world.timeline.run(_repeat(world, host, murmur))


async def _repeat(world: World, host: Host, murmur: Murmur) -> int:
    said = 0
    while not murmur.times or said < murmur.times:
        if murmur.unit == "etcd":
            journal.etcd(world, host, murmur.text)
        else:
            journal.write(world, host, SERVER, murmur.text)
        said += 1
        await world.timeline.pause(murmur.every)
    return 0


def _name(host: Host) -> str:
    return host.units[SERVER].description
