"""systemctl 255 (Ubuntu 24.04): what it tells of units; what it changes is in `unit_changes`."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.filesystem import FileError
from lab.host import Unit
from lab.tools.call import UsageError, split
from lab.tools.power import restart
from lab.tools.unit_changes import CHANGES, change

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.tools.call import Call, Options

# `show -p` prints in the manager's order, not in the order asked for.
_PROPERTIES = (
    "Type",
    "Restart",
    "Result",
    "NRestarts",
    "ExecMainStartTimestamp",
    "ExecMainPID",
    "ExecMainStatus",
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
_ACTIVE = frozenset({"active", "reloading"})
_SERVERS = frozenset({"rke2-server.service", "rke2-agent.service"})


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
    if verb == "reboot":
        return restart(call)
    if verb in CHANGES:
        return await change(call, verb, names, options)
    if verb not in _QUERIES:
        raise UsageError(f"Unknown command verb '{verb}'.")
    return _QUERIES[verb](call, names, options)


def _full(name: str) -> str:
    # A pattern is taken as it is.
    return name if "." in name or any(sign in name for sign in "*?[") else f"{name}.service"


def _unit(call: Call, name: str) -> Unit:
    known = call.host.units.get(name)
    if known is not None:
        return known
    absent = Unit(name, name, file_state="", load="not-found")
    return replace(absent, active="inactive", sub="dead")


def _show(call: Call, names: list[str], options: Options) -> int:
    wanted, bare = options.get("-p", "--property"), "--value" in options
    chosen = wanted.split(",") if wanted else list(_PROPERTIES)
    for unknown in set(chosen) - set(_PROPERTIES):
        call.mystery(f"systemctl property {unknown}")
    blocks: list[str] = []
    for name in names:
        unit = _unit(call, name)
        values = {
            "Type": "oneshot" if unit.transient else "notify",
            "Restart": "always" if name in _SERVERS else "no",
            "Result": unit.result,
            "NRestarts": str(unit.restarts),
            "ExecMainStartTimestamp": f"{unit.started:%a %Y-%m-%d %H:%M:%S UTC}"
            if unit.started
            else "",
            "ExecMainPID": str(unit.pid),
            "ExecMainStatus": str(unit.status),
            "MainPID": str(unit.pid),
            "Id": name,
            "Names": name,
            "Description": unit.description,
            "LoadState": "masked" if unit.masked else unit.load,
            "ActiveState": unit.active,
            "SubState": unit.sub,
            "FragmentPath": _fragment(unit),
            "UnitFileState": "masked" if unit.masked else unit.file_state,
            "KillMode": "process" if name in _SERVERS else "control-group",
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
    if unit.masked:
        return f"/etc/systemd/system/{unit.name}"
    if unit.transient:
        return f"/run/systemd/transient/{unit.name}"
    folder = "/usr/local/lib" if unit.name in _SERVERS else "/usr/lib"
    return f"{folder}/systemd/system/{unit.name}"


def _quiet(options: Options) -> bool:
    return "-q" in options or "--quiet" in options


def _is(call: Call, names: list[str], options: Options) -> int:
    verb, quiet = options.rest[0], _quiet(options)
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


def _is_enabled(call: Call, names: list[str], options: Options) -> int:
    rc, quiet = 1, _quiet(options)
    for name in names:
        unit = _unit(call, name)
        if unit.load == "not-found":
            call.say("not-found")
            rc = 4
        else:
            if not quiet:
                call.say("masked" if unit.masked else unit.file_state)
            enabled = unit.file_state in ("enabled", "static", "transient") and not unit.masked
            rc = 0 if enabled else rc
    return rc


def _status(call: Call, names: list[str], _options: Options) -> int:
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


def _list(call: Call, _names: list[str], options: Options) -> int:
    patterns = options.rest[1:] or ["*"]
    units = [
        unit
        for name, unit in sorted(call.host.units.items())
        if any(fnmatchcase(name, pattern) for pattern in patterns)
        and ("--all" in options or "-a" in options or unit.active != "inactive")
    ]
    rows = [
        (unit.name, "masked" if unit.masked else unit.load, unit.active, unit.sub) for unit in units
    ]
    legend = "--no-legend" not in options
    if legend:
        rows.insert(0, ("UNIT", "LOAD", "ACTIVE", "SUB"))
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    described = [*(["DESCRIPTION"] if legend else []), *(unit.description for unit in units)]
    margin = "" if "--plain" in options else "  "
    for row, text in zip(rows, described, strict=True):
        cells = " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        call.say(f"{margin}{cells} {text}")
    return 0


def _cat(call: Call, names: list[str], _options: Options) -> int:
    rc = 0
    for name in names:
        unit = _unit(call, name)
        if unit.masked:
            call.say(f"# Unit {name} is masked.")
            continue
        folder = f"/etc/systemd/system/{name}.d"
        dropped = [
            posixpath.join(folder, each)
            for each in call.files.children(folder)
            if each.endswith(".conf")
        ]
        try:
            texts = [
                f"# {path}\n{call.files.read(path, call.user).decode()}"
                for path in (_fragment(unit), *dropped)
            ]
        except FileError:
            call.complain(f"No files found for {name}.")
            rc = 1
            continue
        call.write("\n".join(texts))
    return rc


_QUERIES: dict[str, Callable[[Call, list[str], Options], int]] = {
    "cat": _cat,
    "is-active": _is,
    "is-enabled": _is_enabled,
    "is-failed": _is,
    "list-units": _list,
    "show": _show,
    "status": _status,
}
