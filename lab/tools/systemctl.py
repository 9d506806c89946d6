"""systemctl 255 (Ubuntu 24.04): show, is-active, is-enabled, status, start, stop, restart, kill."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab import actions
from lab.host import Unit
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.tools.call import Call

# `show -p` prints in the manager's order, not in the order asked for.
_PROPERTIES = (
    "Type",
    "Restart",
    "Result",
    "NRestarts",
    "ExecMainStartTimestamp",
    "ExecMainPID",
    "MainPID",
    "Id",
    "Names",
    "Description",
    "LoadState",
    "ActiveState",
    "SubState",
    "FragmentPath",
    "UnitFileState",
    "KillMode",
    "InvocationID",
)
_CHANGES = frozenset(
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
_ACTIVE = frozenset({"active", "reloading"})


async def systemctl(call: Call) -> int:
    """`systemctl [OPTIONS] VERB UNITS…`."""
    options = split(
        call.arguments,
        flags=(
            "--no-pager",
            "--quiet",
            "-q",
            "--now",
            "--value",
            "--full",
            "-l",
            "--no-legend",
            "--plain",
            "-a",
            "--all",
            "--failed",
            "--no-block",
        ),
        valued=(
            "-p",
            "--property",
            "-s",
            "--signal",
            "--kill-whom",
            "--kill-who",
            "-n",
            "--lines",
            "-t",
            "--type",
            "--state",
        ),
        refuse="systemctl: unrecognized option '{flag}'",
        name="systemctl",
    )
    verb, names = (options.rest or ["list-units"])[0], [_full(name) for name in options.rest[1:]]
    quiet = "-q" in options or "--quiet" in options
    if verb == "show":
        return _show(call, names, options.get("-p", "--property"), bare="--value" in options)
    if verb in ("is-active", "is-failed"):
        return _is(call, verb, names, quiet=quiet)
    if verb == "is-enabled":
        return _is_enabled(call, names, quiet=quiet)
    if verb == "status":
        return _status(call, names)
    if verb == "list-units":
        return _list(call)
    if verb in _CHANGES:
        return _change(call, verb, names, options.get("-s", "--signal"), now="--now" in options)
    raise UsageError(f"Unknown command verb '{verb}'.")


def _full(name: str) -> str:
    return name if "." in name else f"{name}.service"


def _unit(call: Call, name: str) -> Unit:
    known = call.host.units.get(name)
    if known is not None:
        return known
    absent = Unit(name, name, file_state="", load="not-found")
    return replace(absent, active="inactive", sub="dead")


def _show(call: Call, names: list[str], wanted: str | None, *, bare: bool) -> int:
    chosen = wanted.split(",") if wanted else list(_PROPERTIES)
    for unknown in set(chosen) - set(_PROPERTIES):
        call.mystery(f"systemctl property {unknown}")
    blocks: list[str] = []
    for name in names:
        unit = _unit(call, name)
        values = {
            "Type": "notify",
            "Restart": "always" if name.startswith("rke2") else "no",
            "Result": unit.result,
            "NRestarts": str(unit.restarts),
            "ExecMainStartTimestamp": f"{unit.started:%a %Y-%m-%d %H:%M:%S UTC}"
            if unit.started
            else "",
            "ExecMainPID": str(unit.pid),
            "MainPID": str(unit.pid),
            "Id": name,
            "Names": name,
            "Description": unit.description,
            "LoadState": unit.load,
            "ActiveState": unit.active,
            "SubState": unit.sub,
            "FragmentPath": _fragment(unit),
            "UnitFileState": unit.file_state,
            "KillMode": "process" if name.startswith("rke2") else "control-group",
            "InvocationID": call.world.seed.hex("invocation", call.host.name, name, digits=32)
            if unit.started
            else "",
        }
        blocks.append(
            "".join(
                f"{values[key]}\n" if bare else f"{key}={values[key]}\n"
                for key in _PROPERTIES
                if key in chosen
            )
        )
    call.write("\n".join(blocks))
    return 0


def _fragment(unit: Unit) -> str:
    if unit.load == "not-found":
        return ""
    folder = "/usr/local/lib" if unit.name.startswith("rke2") else "/usr/lib"
    return f"{folder}/systemd/system/{unit.name}"


def _is(call: Call, verb: str, names: list[str], *, quiet: bool) -> int:
    wanted = _ACTIVE if verb == "is-active" else {"failed"}
    rc = 4
    for name in names:
        unit = _unit(call, name)
        if not quiet:
            call.say(unit.active)
        if unit.active in wanted:
            rc = 0
        elif rc and unit.load != "not-found":
            rc = 3 if verb == "is-active" else 1
    return rc


def _is_enabled(call: Call, names: list[str], *, quiet: bool) -> int:
    rc = 1
    for name in names:
        unit = _unit(call, name)
        if unit.load == "not-found":
            call.say("not-found")
            rc = 4
        else:
            if not quiet:
                call.say(unit.file_state)
            rc = 0 if unit.file_state in ("enabled", "static") else rc
    return rc


def _status(call: Call, names: list[str]) -> int:
    rc = 0
    for name in names:
        unit = _unit(call, name)
        if unit.load == "not-found":
            call.complain(f"Unit {name} could not be found.")
            rc = 4
            continue
        dot = {"active": "●", "failed": "\N{MULTIPLICATION SIGN}"}.get(unit.active, "○")
        call.say(f"{dot} {name} - {unit.description}")
        preset = "enabled"
        call.say(f"     Loaded: loaded ({_fragment(unit)}; {unit.file_state}; preset: {preset})")
        since = f" since {unit.started:%a %Y-%m-%d %H:%M:%S UTC}" if unit.started else ""
        detail = unit.sub if unit.active == "active" else f"Result: {unit.result}"
        shown = f"{unit.active} ({detail})" if unit.active != "inactive" else "inactive (dead)"
        call.say(f"     Active: {shown}{since}")
        if unit.pid:
            call.say(f"   Main PID: {unit.pid}")
        rc = rc or (0 if unit.active in _ACTIVE else 3)
    return rc


def _list(call: Call) -> int:
    call.say("  UNIT LOAD ACTIVE SUB DESCRIPTION")
    for name, unit in sorted(call.host.units.items()):
        call.say(f"  {name} {unit.load} {unit.active} {unit.sub} {unit.description}")
    return 0


def _change(call: Call, verb: str, names: list[str], signal: str | None, *, now: bool) -> int:
    if call.user != "root":
        for name in names:
            call.complain(f"Failed to {verb} {name}: Interactive authentication required.")
            if verb in ("start", "stop", "restart"):
                call.complain(f"See system logs and 'systemctl status {name}' for details.")
        return 1
    rc = 0
    for name in names:
        unit = call.host.units.get(name)
        if unit is None:
            call.complain(f"Failed to {verb} {name}: Unit {name} not {_missing(verb)}.")
            rc = 5
        elif verb == "start" and unit.file_state == "masked":
            call.complain(f"Failed to start {name}: Unit {name} is masked.")
            rc = 1
        else:
            _apply(call, verb, name, signal)
            if now and verb in ("enable", "disable", "mask"):
                _apply(call, "start" if verb == "enable" else "stop", name, None)
    return rc


def _missing(verb: str) -> str:
    return "loaded" if verb in ("stop", "kill", "restart", "reload") else "found"


def _apply(call: Call, verb: str, name: str, signal: str | None) -> None:
    if verb in ("stop", "restart"):
        actions.stop_unit(call.world, call.host, name)
    if verb in ("start", "restart"):
        actions.start_unit(call.world, call.host, name)
    if verb == "kill":
        killed = (signal or "SIGTERM").upper().removeprefix("SIG") in ("KILL", "9")
        if killed:
            actions.kill_unit(call.world, call.host, name)
        else:
            actions.stop_unit(call.world, call.host, name)
    states = {"enable": "enabled", "disable": "disabled", "mask": "masked", "unmask": "enabled"}
    if verb in states:
        call.host.units[name] = replace(call.host.units[name], file_state=states[verb])
