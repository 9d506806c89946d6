"""systemd-run 255: one-shot services and timers under a name of the caller's choice."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab import transient
from lab.jobs import Service
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.tools.call import Call

_FLAGS = frozenset({"--quiet", "-q", "--no-block", "--collect", "-G"})
_QUIET = frozenset({"--quiet", "-q"})
_VALUED = frozenset({"--unit", "-u", "--property", "-p", "--on-active", "--timer-property"})
# Settings without a consequence in the lab; the rest is read below.
_WITHOUT_EFFECT = frozenset({"TimeoutStartSec", "EnvironmentFile", "AccuracySec"})
_RESTARTS = frozenset({"no", "on-failure"})
_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(slots=True)
class _Asked:
    flags: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    argv: list[str] = field(default_factory=list)


async def systemd_run(call: Call) -> int:
    """`systemd-run [--quiet] [--no-block] --unit=NAME [--on-active=T] [-p K=V…] -- ARGV…`."""
    asked = _parse(call)
    if not asked.argv:
        raise UsageError("Command line to execute required.")
    if call.user != "root":
        kind = "timer" if "--on-active" in asked.values else "service"
        call.complain(
            f"Failed to start transient {kind} unit: Interactive authentication required."
        )
        return 1
    name = asked.values.get("--unit", "run-u71").removesuffix(".service")
    path = call.shell.find(asked.argv[0])
    if path is None:
        call.complain(f"Failed to find executable {asked.argv[0]}: No such file or directory")
        return 1
    service = Service(
        f"{name}.service",
        (path, *asked.argv[1:]),
        remains=asked.properties.get("RemainAfterExit") in ("yes", "true", "1"),
        outputs=(_file(asked, "StandardOutput"), _file(asked, "StandardError")),
        again=_again(asked),
    )
    units = [service.name, *([f"{name}.timer"] if "--on-active" in asked.values else [])]
    for unit in units:
        if unit in call.host.units:
            kind = unit.rpartition(".")[2]
            call.complain(
                f"Failed to start transient {kind} unit: Unit {unit} was already loaded or has a "
                "fragment file."
            )
            return 1
    if len(units) > 1:
        return _arm(call, asked, service)
    return await _start(call, asked, service)


def _arm(call: Call, asked: _Asked, service: Service) -> int:
    transient.arm(call.world, call.host, service, _seconds(asked.values["--on-active"]))
    if _QUIET.isdisjoint(asked.flags):
        call.complain(f"Running timer as unit: {service.name.removesuffix('.service')}.timer")
        call.complain(f"Will run service as unit: {service.name}")
    return 0


async def _start(call: Call, asked: _Asked, service: Service) -> int:
    task = transient.start(call.world, call.host, service)
    if _QUIET.isdisjoint(asked.flags):
        call.complain(f"Running as unit: {service.name}")
    if "--no-block" in asked.flags:
        return 0
    try:
        # Whoever waits may go away; the service does not.
        rc = await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.cancelled():
            raise
        rc = 1
    if rc == 0:
        return 0
    call.complain(
        f"Job for {service.name} failed because the control process exited with error code."
    )
    call.complain(
        f'See "systemctl status {service.name}" and "journalctl -xeu {service.name}" for details.'
    )
    return 1


def _parse(call: Call) -> _Asked:
    asked = _Asked()
    words = list(call.arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        flag, mark, value = word.partition("=")
        if not word.startswith("-"):
            words.insert(0, word)
            break
        if word in _FLAGS:
            asked.flags.add(word)
            continue
        if flag not in _VALUED or not (mark or words):
            raise UsageError(f"systemd-run: unrecognized option '{flag}'")
        value = value if mark else words.pop(0)
        if flag in ("--property", "-p", "--timer-property"):
            key, _, setting = value.partition("=")
            _check(call, key, setting)
            asked.properties[key] = setting
        else:
            asked.values["--unit" if flag == "-u" else flag] = value
    asked.argv = words
    return asked


def _check(call: Call, key: str, setting: str) -> None:
    if key in _WITHOUT_EFFECT or key == "RemainAfterExit" or (key, setting) == ("Type", "oneshot"):
        return
    if (key == "Restart" and setting in _RESTARTS) or key == "RestartSec":
        return
    if key in ("StandardOutput", "StandardError") and setting.startswith("append:/"):
        return
    call.mystery(f"systemd-run property {key}={setting}")


def _again(asked: _Asked) -> float | None:
    if asked.properties.get("Restart") != "on-failure":
        return None
    return _seconds(asked.properties.get("RestartSec", "100ms"))


def _file(asked: _Asked, stream: str) -> str:
    return asked.properties.get(stream, "").removeprefix("append:")


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text)
    if not match or match.group(2) not in _UNITS:
        raise UsageError(f"Failed to parse timer value: {text}")
    return float(match.group(1)) * _UNITS[match.group(2)]
