"""journalctl 255: what units wrote, as text or as JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.journal import Line
    from lab.tools.call import Call

_SPANS = {"sec": 1, "s": 1, "min": 60, "m": 60, "hour": 3600, "h": 3600}


async def journalctl(call: Call) -> int:
    """`journalctl -u UNIT [-n N] [--since=@EPOCH] [-o short|cat|json] [--no-pager]`."""
    options = split(
        call.arguments,
        flags=("--no-pager", "-q", "--quiet", "-r", "-e", "-b", "-a", "--all"),
        valued=("-u", "--unit", "-n", "--lines", "-o", "--output", "--since", "--until", "-p"),
        refuse="journalctl: invalid option -- '{letter}'",
        name="journalctl",
    )
    form = options.get("-o", "--output") or "short"
    if form not in ("short", "cat", "json"):
        raise UsageError(f"Unknown output format '{form}'.")
    name = options.get("-u", "--unit") or ""
    name = name if not name or "." in name else f"{name}.service"
    lines = [line for line in call.host.journal if name in ("", line.unit)]
    for option, keeps in (("--since", True), ("--until", False)):
        if (text := options.get(option)) is not None:
            edge = _moment(call, text)
            lines = [line for line in lines if (line.at >= edge) == keeps]
    if (count := options.get("-n", "--lines")) is not None:
        lines = lines[-int(count) :] if int(count) else []
    if call.user != "root" and not call.host.sudo:
        lines = []
    for line in lines:
        call.say(_shown(call, line, form))
    if not lines and form != "json" and {"-q", "--quiet"}.isdisjoint(options.values):
        call.say("-- No entries --")
    return 0


def _moment(call: Call, text: str) -> datetime:
    if re.fullmatch(r"@\d+(\.\d+)?", text):
        return datetime.fromtimestamp(float(text[1:]), UTC)
    if match := re.fullmatch(r"-(\d+) ?(\w+?)s?", text):
        seconds = _SPANS.get(match.group(2))
        if seconds:
            return call.world.now(call.host) - timedelta(seconds=seconds * int(match.group(1)))
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S UTC"):
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise UsageError(f"Failed to parse timestamp: {text}")


def _shown(call: Call, line: Line, form: str) -> str:
    if form == "cat":
        return line.message
    if form == "short":
        return (
            f"{line.at:%b %d %H:%M:%S} {call.host.name} {line.program}[{line.pid}]: {line.message}"
        )
    seed, host = call.world.seed, call.host
    by_systemd = line.program == "systemd"
    invocation = seed.hex("invocation", host.name, line.unit, digits=32)
    return json.dumps(
        {
            "__REALTIME_TIMESTAMP": str(int(line.at.timestamp() * 1_000_000)),
            "_BOOT_ID": host.boot_id.replace("-", ""),
            "_MACHINE_ID": host.machine_id,
            "_HOSTNAME": host.name,
            "_TRANSPORT": "journal" if by_systemd else "stdout",
            "_PID": str(line.pid),
            "_SYSTEMD_UNIT": "init.scope" if by_systemd else line.unit,
            **(
                {"UNIT": line.unit, "INVOCATION_ID": invocation}
                if by_systemd
                else {"_SYSTEMD_INVOCATION_ID": invocation}
            ),
            "SYSLOG_IDENTIFIER": line.program,
            "PRIORITY": str(line.priority),
            "MESSAGE": line.message,
        }
    )
