"""systemctl's verbs that change units: start, stop, restart, kill, enable, mask, reset-failed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab import actions, servers, transient
from lab.filesystem import Entry, Kind
from lab.world import SERVER

if TYPE_CHECKING:
    from lab.tools.call import Call, Options

CHANGES = frozenset(
    {
        "start",
        "stop",
        "restart",
        "kill",
        "enable",
        "disable",
        "mask",
        "unmask",
        "daemon-reload",
        "reset-failed",
        "reload",
    }
)
_ETC = "/etc/systemd/system"


async def change(call: Call, verb: str, names: list[str], options: Options) -> int:
    """Make the change to each unit; the exit status."""
    if call.user != "root":
        for name in names:
            call.complain(f"Failed to {verb} {name}: Interactive authentication required.")
            if verb in ("start", "stop", "restart"):
                call.complain(f"See system logs and 'systemctl status {name}' for details.")
        return 1
    rc = 0
    for name in _matched(call, names):
        unit = call.host.units.get(name)
        if unit is None:
            call.complain(f"Failed to {verb} {name}: Unit {name} not {_missing(verb)}.")
            rc = 5 if verb != "reset-failed" else 1
        elif verb in ("start", "restart") and unit.masked:
            call.complain(f"Failed to {verb} {name}: Unit {name} is masked.")
            rc = 1
        else:
            rc = await _apply(call, verb, name, options) or rc
            if "--now" in options and verb in ("enable", "disable", "mask"):
                now = "start" if verb == "enable" else "stop"
                rc = await _apply(call, now, name, options) or rc
    call.world.timeline.changed()
    return rc


def _matched(call: Call, names: list[str]) -> list[str]:
    """Patterns stand for the loaded units they match, which may be none."""
    found: list[str] = []
    for name in names:
        if any(sign in name for sign in "*?["):
            found += [unit for unit in call.host.units if fnmatchcase(unit, name)]
        else:
            found.append(name)
    return found


def _missing(verb: str) -> str:
    return "loaded" if verb in ("stop", "kill", "restart", "reload", "reset-failed") else "found"


async def _apply(call: Call, verb: str, name: str, options: Options) -> int:
    if verb == "restart":
        rc = await _stop(call, name)
        return rc or await _start(call, name, options)
    if verb == "start":
        return await _start(call, name, options)
    if verb == "stop":
        return await _stop(call, name)
    if verb == "kill":
        signal = (options.get("-s", "--signal") or "SIGTERM").upper().removeprefix("SIG")
        act = actions.kill_unit if signal in ("KILL", "9") else actions.stop_unit
        act(call.world, call.host, name)
    elif verb == "mask":
        _mask(call, name)
    elif verb == "unmask":
        _unmask(call, name)
    elif verb == "reset-failed":
        _reset_failed(call, name)
    elif verb in ("enable", "disable"):
        state = f"{verb}d"
        call.host.units[name] = replace(call.host.units[name], file_state=state)
    return 0


async def _stop(call: Call, name: str) -> int:
    world, host = call.world, call.host
    if name == SERVER and host.name in world.trouble.stop_takes:
        await world.timeline.pause(world.trouble.stop_takes[host.name])
    if host.units[name].transient:
        transient.stop(host, name)
    elif name == SERVER and host.name in world.trouble.stop_fails:
        call.complain(f"Job for {name} failed because a timeout was exceeded.")
        call.complain(f'See "systemctl status {name}" and "journalctl -xeu {name}" for details.')
        return 1
    else:
        actions.stop_unit(world, host, name)
    return 0


async def _start(call: Call, name: str, options: Options) -> int:
    world, host = call.world, call.host
    if host.units[name].active == "active":
        return 0
    if name != SERVER or not world.timeline.runs:
        actions.start_unit(world, host, name)
        return 0
    task = servers.start(world, host)
    if "--no-block" in options:
        return 0
    try:
        # The job goes on when whoever waits for it is gone.
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.cancelled():
            raise
        call.complain(f"Job for {name} canceled.")
        return 1


def _mask(call: Call, name: str) -> None:
    path = f"{_ETC}/{name}"
    if not call.host.units[name].masked:
        call.files.put(path, Entry(Kind.LINK, 0o777, target="/dev/null"))
        call.complain(f"Created symlink {path} \u2192 /dev/null.")
    call.host.units[name] = replace(call.host.units[name], masked=True)


def _unmask(call: Call, name: str) -> None:
    path = f"{_ETC}/{name}"
    if call.host.units[name].masked:
        call.files.remove(path)
        call.complain(f'Removed "{path}".')
    call.host.units[name] = replace(call.host.units[name], masked=False)


def _reset_failed(call: Call, name: str) -> None:
    unit = call.host.units[name]
    if unit.active != "failed":
        return
    if unit.transient:
        transient.forget(call.host, name)
    else:
        call.host.units[name] = replace(unit.stopped(), restarts=0)
