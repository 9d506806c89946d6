"""Programs that read files: cat, head, tail, wc, sha256sum, readlink."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import TYPE_CHECKING

from lab.filesystem import FileError, Kind
from lab.tools.call import split

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.tools.call import Call

INVALID = "{name}: invalid option -- '{letter}'\nTry '{name} --help' for more information."


async def inputs(call: Call, paths: list[str]) -> tuple[list[tuple[str, bytes]], int]:
    """The contents of `paths`, or stdin without any; complaints and the status so far."""
    if not paths:
        return [("-", await call.streams.stdin.read())], 0
    found: list[tuple[str, bytes]] = []
    rc = 0
    for path in paths:
        if path == "-":
            found.append((path, await call.streams.stdin.read()))
            continue
        try:
            found.append((path, call.files.read(call.path(path), call.user)))
        except FileError as error:
            what = f"can't read {path}" if call.name == "sed" else path
            call.complain(f"{call.name}: {what}: {error.reason}")
            rc = 1
    return found, rc


async def cat(call: Call) -> int:
    """`cat FILES…`."""
    options = split(call.arguments, flags=("-n", "-A"), name="cat", refuse=INVALID)
    contents, rc = await inputs(call, options.rest)
    for _, content in contents:
        call.write(content)
    return rc


async def head(call: Call) -> int:
    """`head [-n N|-c N] FILES…`."""
    return await _ends(call, lambda lines, count: lines[:count], lambda data, count: data[:count])


async def tail(call: Call) -> int:
    """`tail [-n N|-c N] FILES…`."""
    return await _ends(
        call,
        lambda lines, count: lines[-count:] if count else [],
        lambda data, count: data[-count:] if count else b"",
    )


async def _ends(
    call: Call,
    lines: Callable[[list[bytes], int], list[bytes]],
    data: Callable[[bytes, int], bytes],
) -> int:
    # `-32` alone is a number of lines; behind `-c` or `-n` it is that option's value.
    words = [
        f"-n{word[1:]}" if word[1:].isdigit() and before not in {"-c", "-n"} else word
        for before, word in pairwise(["", *call.arguments])
    ]
    options = split(words, flags=("-q",), valued=("-n", "-c"), name=call.name, refuse=INVALID)
    size = options.get("-c")
    if call.name == "head" and size is not None and not options.rest:
        # It takes no more than that, so that whoever shares the input gets the rest.
        call.write(await call.streams.stdin.take(int(size)))
        return 0
    contents, rc = await inputs(call, options.rest)
    for _, content in contents:
        if size is not None:
            call.write(data(content, int(size)))
        else:
            call.write(
                b"".join(lines(content.splitlines(keepends=True), int(options.get("-n") or 10)))
            )
    return rc


async def wc(call: Call) -> int:
    """`wc [-l|-c|-w] FILES…`."""
    options = split(call.arguments, flags=("-l", "-c", "-w"), name="wc", refuse=INVALID)
    contents, rc = await inputs(call, options.rest)
    for path, content in contents:
        counts = {
            "-l": content.count(b"\n"),
            "-w": len(content.split()),
            "-c": len(content),
        }
        shown = [str(value) for flag, value in counts.items() if flag in options]
        shown = shown or [str(value) for value in counts.values()]
        call.say(" ".join([*shown, *([path] if path != "-" else [])]))
    return rc


async def sha256sum(call: Call) -> int:
    """`sha256sum FILES…`."""
    options = split(call.arguments, flags=("-b",), name="sha256sum", refuse=INVALID)
    contents, rc = await inputs(call, options.rest)
    for path, content in contents:
        call.say(f"{hashlib.sha256(content).hexdigest()}  {path}")
    return rc


async def readlink(call: Call) -> int:
    """`readlink [-f] PATHS…`."""
    options = split(call.arguments, flags=("-f", "-e"), name="readlink", refuse=INVALID)
    rc = 0
    for path in options.rest:
        try:
            real, entry = call.files.resolve(
                call.path(path), call.user, follow="-f" in options or "-e" in options
            )
        except FileError:
            rc = 1
            continue
        if "-f" in options or "-e" in options:
            call.say(real)
        elif entry.kind is Kind.LINK:
            call.say(entry.target)
        else:
            rc = 1
    return rc
