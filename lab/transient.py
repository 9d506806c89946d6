"""Transient systemd units: one-shot services and timers that outlive whoever asked for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from lab import journal
from lab.host import Unit
from lab.shell import Shell
from lab.streams import Journal, Streams

if TYPE_CHECKING:
    import asyncio

    from _typeshed import ReadableBuffer

    from lab.host import Host
    from lab.jobs import Service
    from lab.world import World

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_EXEC_FAILED = 203
_TERMINATED = 15


class Tap(bytearray):
    """A stream whose bytes are in a file, or as lines in the journal, once they are written."""

    def __init__(self, world: World, host: Host, service: Service, path: str) -> None:
        super().__init__()
        self._world = world
        self._host = host
        self._service = service
        self._path = path
        self._begun = b""

    def __iadd__(self, data: ReadableBuffer) -> Self:  # type: ignore[override]
        if self._path:
            self._host.files.write(self._path, bytes(data), "root", append=True)
            return self
        *lines, self._begun = (self._begun + bytes(data)).split(b"\n")
        program = self._service.argv[0].rpartition("/")[2]
        for line in lines:
            text = line.decode("utf-8", errors="replace")
            journal.write(self._world, self._host, self._service.name, text, program=program)
        return self


def start(world: World, host: Host, service: Service) -> asyncio.Task[int]:
    """Run it in the background; the task's result is its exit status."""
    host.units[service.name] = replace(
        _unit(service), active="activating", sub="start", started=world.now(host), pid=5120
    )
    task = world.timeline.run(_run(world, host, service))
    host.jobs.services[service.name] = task
    return task


def arm(world: World, host: Host, service: Service, seconds: float) -> None:
    """Start it after so many seconds unless its timer is stopped before."""
    host.units[service.name] = _unit(service).stopped()
    timer = f"{service.name.removesuffix('.service')}.timer"
    described = _unit(service).description
    host.units[timer] = Unit(timer, described, sub="waiting", file_state="transient")

    def fire() -> None:
        # RemainAfterElapse=no: the timer is gone once it has elapsed.
        host.units.pop(timer, None)
        host.jobs.timers.pop(timer, None)
        start(world, host, service)

    host.jobs.timers[timer] = world.timeline.later(seconds, fire)


def stop(host: Host, name: str) -> None:
    """`systemctl stop` of a transient unit; nothing is left of one that had not failed."""
    if name.endswith(".timer"):
        handle = host.jobs.timers.pop(name, None)
        if handle is not None:
            handle.cancel()
        host.units.pop(name, None)
        service = f"{name.removesuffix('.timer')}.service"
        if service in host.units and host.units[service].active == "inactive":
            forget(host, service)
        return
    task = host.jobs.services.pop(name, None)
    if task is not None and not task.done():
        task.cancel()
        # SIGTERM is a clean end for services, but not for Type=oneshot.
        host.units[name] = replace(host.units[name].failed("signal"), status=_TERMINATED)
    elif host.units[name].active != "failed":
        forget(host, name)


def forget(host: Host, name: str) -> None:
    """Unload it."""
    host.units.pop(name, None)
    host.jobs.services.pop(name, None)


def _unit(service: Service) -> Unit:
    return Unit(service.name, " ".join(service.argv), file_state="transient")


async def _run(world: World, host: Host, service: Service) -> int:
    variables = {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": "/root", "USER": "root"}
    shell = Shell(world, host, "root", variables, Journal(), name="systemd")
    out, err = (Tap(world, host, service, path) for path in service.outputs)
    streams = Streams(out=out, err=err)
    path = shell.find(service.argv[0])
    rc = _EXEC_FAILED
    if path is not None:
        rc = await shell.execute_path(path, service.argv, streams)
    if shell.journal.mysteries and world.log is not None:
        world.log.write(host.name, service.name, rc, shell.journal.mysteries)
    unit = host.units.get(service.name, _unit(service))
    if rc and service.again is not None:
        host.units[service.name] = replace(unit, sub="auto-restart", result="exit-code", pid=0)
        world.timeline.later(service.again, lambda: _once_more(world, host, service))
    elif rc:
        host.units[service.name] = replace(unit.failed("exit-code"), status=rc)
    elif service.remains:
        host.units[service.name] = replace(unit, active="active", sub="exited", pid=0)
    else:
        forget(host, service.name)
    return rc


def _once_more(world: World, host: Host, service: Service) -> None:
    """Start it again, unless somebody has stopped it meanwhile."""
    if service.name in host.units:
        start(world, host, service)
