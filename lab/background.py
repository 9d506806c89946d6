"""Commands in the background: `&`, `$!`, `kill`, `wait` and `trap … EXIT`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.streams import Exit

if TYPE_CHECKING:
    from lab.shell import Shell
    from lab.streams import Streams
    from lab.syntax import Chain


def begin(shell: Shell, chain: Chain, streams: Streams) -> None:
    """`CHAIN &`."""
    shell.journal.children.start(shell.world.timeline, _run(shell.child(), chain, streams))


async def _run(shell: Shell, chain: Chain, streams: Streams) -> int:
    try:
        await shell.run_chain(chain, streams)
    except Exit as leave:
        return leave.rc
    return shell.status


async def kill(shell: Shell, arguments: list[str], streams: Streams) -> int:
    """`kill [-SIGNAL] PIDS…`; `-0` only asks."""
    signal = arguments.pop(0) if arguments and arguments[0].startswith("-") else "-TERM"
    rc = 0
    if not arguments:
        streams.err += b"kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ...\n"
        return 2
    for word in arguments:
        if not word.isdigit() or not shell.journal.children.alive(int(word)):
            streams.err += f"{shell.name}: kill: ({word}) - No such process\n".encode()
            rc = 1
        elif signal != "-0":
            shell.journal.children.end(int(word))
    return rc


async def wait(shell: Shell, arguments: list[str], _streams: Streams) -> int:
    """`wait [PIDS…]`."""
    rc = 0
    for pid in map(int, arguments):
        rc = await shell.journal.children.rc_of(pid)
    if not arguments:
        for pid in shell.journal.children.pids:
            await shell.journal.children.rc_of(pid)
    return rc


async def trap(shell: Shell, arguments: list[str], _streams: Streams) -> int:
    """`trap LINE EXIT`: what the shell runs when it ends, however that comes."""
    if len(arguments) != 2 or arguments[1] not in {"EXIT", "0"}:
        shell.journal.mysteries.append(f"trap {' '.join(arguments[1:])}")
        return 1
    shell.exit_trap = "" if arguments[0] == "-" else arguments[0]
    return 0
