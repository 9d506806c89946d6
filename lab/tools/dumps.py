"""od and xxd: bytes as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.tools.call import UsageError, split
from lab.tools.files import INVALID, inputs

if TYPE_CHECKING:
    from lab.tools.call import Call


async def od(call: Call) -> int:
    """`od -An -tx1 [-v] [-N COUNT] [FILE]`."""
    options = split(
        call.arguments,
        flags=("-v",),
        valued=("-A", "-t", "-N", "-w"),
        name="od",
        refuse=INVALID,
    )
    if options.get("-t") != "x1":
        raise UsageError("od: the lab prints with -tx1 only")
    contents, rc = await inputs(call, options.rest)
    data = b"".join(content for _, content in contents)
    if (count := options.get("-N")) is not None:
        data = data[: int(count)]
    width = int(options.get("-w") or 16)
    numbered = options.get("-A") != "n"
    for start in range(0, len(data), width):
        prefix = f"{start:07o}" if numbered else ""
        call.say(prefix + "".join(f" {byte:02x}" for byte in data[start : start + width]))
    if numbered:
        call.say(f"{len(data):07o}")
    return rc


async def xxd(call: Call) -> int:
    """`xxd -p [-c COLUMNS] [FILE]`."""
    options = split(
        call.arguments,
        flags=("-p", "-ps", "-plain"),
        valued=("-c", "-l", "-s"),
        name="xxd",
        refuse=INVALID,
    )
    if {"-p", "-ps", "-plain"}.isdisjoint(options.values):
        raise UsageError("xxd: the lab prints with -p only")
    contents, rc = await inputs(call, options.rest)
    data = b"".join(content for _, content in contents)[int(options.get("-s") or 0) :]
    if (length := options.get("-l")) is not None:
        data = data[: int(length)]
    width = int(options.get("-c") or 30) or len(data) or 1
    for start in range(0, len(data), width):
        call.say(data[start : start + width].hex())
    return rc
