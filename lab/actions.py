"""What operators and faults do to a machine, with the consequences the real one has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import servers
from lab.world import AGENT, KEEPALIVED, SERVER

if TYPE_CHECKING:
    from lab.host import Host
    from lab.world import World


def stop_unit(world: World, host: Host, name: str) -> None:
    """`systemctl stop`: keepalived gives the VIP away; rke2 leaves its containers running."""
    if name == SERVER:
        servers.stop(world, host)
        return
    held = world.holds_vip(host)
    host.units[name] = host.units[name].stopped()
    if name == KEEPALIVED:
        host.stuck_vip = held and host.name in world.trouble.vip_stays
    elif name == AGENT:
        host.processes -= servers.OF_THE_UNIT
    world.timeline.changed()


def start_unit(world: World, host: Host, name: str) -> None:
    """`systemctl start`: brings back what belongs to the unit."""
    host.units[name] = host.units[name].running(world.now(host), 4711)
    if name == KEEPALIVED:
        host.stuck_vip = False
    elif name == SERVER:
        host.processes |= servers.OF_THE_UNIT | servers.OF_THE_SERVER
    elif name == AGENT:
        host.processes |= servers.OF_AN_AGENT
    world.timeline.changed()


def kill_unit(world: World, host: Host, name: str) -> None:
    """SIGKILL to every process: keepalived leaves the VIP behind (measured: ka.out)."""
    held = name == KEEPALIVED and world.holds_vip(host)
    if name in (SERVER, AGENT):
        # Restart=always: systemd brings it back after RestartSec.
        start_unit(world, host, name)
        return
    host.units[name] = host.units[name].failed("signal")
    if held:
        host.stuck_vip = True
    world.timeline.changed()


def fail_unit(world: World, host: Host, name: str) -> None:
    """The main process ends with an error by itself."""
    stop_unit(world, host, name)
    host.units[name] = host.units[name].failed("exit-code")


def kill_all(world: World, host: Host) -> None:
    """`rke2-killall.sh`: unit, containers and mounts are gone."""
    if host.name in world.trouble.killall_leaves:
        return
    for name in (SERVER, AGENT):
        if name in host.units:
            stop_unit(world, host, name)
    host.processes -= servers.OF_THE_SERVER
    world.timeline.changed()


def stop_process(host: Host, *names: str) -> None:
    """End single processes (a static pod that crashed)."""
    host.processes -= set(names)
