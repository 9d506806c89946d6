"""date, sleep and timeout."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC
from typing import TYPE_CHECKING

from lab.filesystem import NO_SUCH_FILE
from lab.tools.call import UsageError, quoted, split

if TYPE_CHECKING:
    from lab.tools.call import Call

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


async def date(call: Call) -> int:
    """`date [-u] [+FORMAT]`."""
    options = split(
        call.arguments,
        flags=("-u", "--utc", "-R", "-Is", "--iso-8601=seconds"),
        name="date",
        refuse="date: invalid option -- '{letter}'\nTry 'date --help' for more information.",
    )
    now = call.world.now(call.host).astimezone(UTC)
    wanted = next((word[1:] for word in options.rest if word.startswith("+")), None)
    if wanted is None:
        iso = "-Is" in options or "--iso-8601=seconds" in options
        call.say(now.isoformat(timespec="seconds") if iso else f"{now:%a %b %e %H:%M:%S UTC %Y}")
        return 0
    nanoseconds = f"{now.microsecond * 1000 + 137:09}"
    seconds = str(int(now.timestamp()))
    call.say(now.strftime(wanted.replace("%N", nanoseconds).replace("%s", seconds)))
    return 0


async def sleep(call: Call) -> int:
    """`sleep TIME…`, in real time."""
    if not call.arguments:
        raise UsageError("sleep: missing operand\nTry 'sleep --help' for more information.")
    await asyncio.sleep(sum(duration("sleep", word) for word in call.arguments))
    return 0


async def timeout(call: Call) -> int:
    """`timeout [-k TIME] TIME COMMAND …`; 124 when the time is over."""
    options = split(
        call.arguments,
        flags=("--preserve-status", "--foreground", "-v"),
        valued=("-k", "-s", "--kill-after", "--signal"),
        name="timeout",
        rc=125,
        stop_at_first=True,
    )
    if len(options.rest) < 2:
        raise UsageError("timeout: missing operand", 125)
    limit, command = duration("timeout", options.rest[0]), options.rest[1:]
    if call.shell.find(command[0]) is None:
        call.complain(f"timeout: failed to run command {quoted(command[0])}: {NO_SUCH_FILE}")
        return 127
    try:
        async with asyncio.timeout(limit or None):
            return await call.shell.execute(command, call.streams)
    except TimeoutError:
        return 124


def duration(name: str, text: str) -> float:
    """Seconds of `3`, `0.5s` or `2m`."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)", text)
    if not match:
        rc = 125 if name == "timeout" else 1
        raise UsageError(f"{name}: invalid time interval {quoted(text)}", rc)
    return float(match.group(1)) * _UNITS[match.group(2)]
