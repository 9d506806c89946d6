"""Programs that run other commands: the shells and xargs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.streams import Stdin, Streams
from lab.tools.call import split

if TYPE_CHECKING:
    from lab.tools.call import Call


async def bash(call: Call) -> int:
    """`bash -c LINE [NAME ARGS…]`, `bash FILE` or a script on stdin."""
    options = split(
        call.arguments,
        flags=("-e", "-u", "-x", "-l", "--login", "--norc", "--noprofile", "-s"),
        valued=("-c", "-o"),
        refuse=call.name + ": {flag}: invalid option",
        name=call.name,
        rc=2,
        stop_at_first=True,
    )
    # A login shell changes the PATH; a plain child keeps the environment.
    shell = call.shell.child(
        name=f"{call.name}: line 1" if call.name == "bash" else f"{call.name}: 1"
    )
    shell.errexit = "-e" in options
    shell.pipefail = options.get("-o") == "pipefail"
    line = options.get("-c")
    if line is not None:
        shell.zero = options.rest[0] if options.rest else call.name
        shell.arguments = tuple(options.rest[1:])
        return await shell.run_line(line, call.streams)
    if options.rest and "-s" not in options:
        shell.arguments = tuple(options.rest[1:])
        return await shell.execute_path(options.rest[0], options.rest, call.streams)
    script = (await call.streams.stdin.read()).decode(errors="replace")
    return await shell.run_line(script, Streams(Stdin(), call.streams.out, call.streams.err))


async def dash(call: Call) -> int:
    """`sh`, as bash but for the texts."""
    return await bash(call)


async def xargs(call: Call) -> int:
    """`xargs [-r] [-n N] COMMAND …`."""
    options = split(
        call.arguments,
        flags=("-r", "-0", "-t"),
        valued=("-n", "-I", "-P"),
        name="xargs",
        stop_at_first=True,
    )
    text = (await call.streams.stdin.read()).decode(errors="surrogateescape")
    items = text.split("\0") if "-0" in options else text.split()
    items = [item for item in items if item]
    if not items and "-r" in options:
        return 0
    command = options.rest or ["echo"]
    placeholder = options.get("-I")
    if placeholder:
        batches = [[word.replace(placeholder, item) for word in command] for item in items]
    else:
        size = int(options.get("-n") or len(items) or 1)
        batches = [
            [*command, *items[start : start + size]] for start in range(0, len(items), size)
        ] or [command]
    failed = False
    for batch in batches:
        inner = Streams(Stdin(), call.streams.out, call.streams.err)
        failed = await call.shell.execute(batch, inner) != 0 or failed
    return 123 if failed else 0
