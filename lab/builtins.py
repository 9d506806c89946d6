"""The commands that belong to the shell itself."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from lab.background import kill, trap, wait
from lab.filesystem import NOT_A_FOLDER, PERMISSION_DENIED, FileError, Kind
from lab.streams import Exit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lab.shell import Shell
    from lab.streams import Streams


async def _nothing(_shell: Shell, _arguments: list[str], _streams: Streams) -> int:
    return 0


async def _exit(shell: Shell, arguments: list[str], _streams: Streams) -> int:
    raise Exit(int(arguments[0]) & 255 if arguments else shell.status)


async def _exec(shell: Shell, arguments: list[str], streams: Streams) -> int:
    if not arguments:
        return 0
    raise Exit(await shell.execute(arguments, streams))


async def _cd(shell: Shell, arguments: list[str], streams: Streams) -> int:
    wanted = arguments[0] if arguments else shell.variables["HOME"]
    path = posixpath.normpath(shell.absolute(wanted))
    problem = _why_not_enter(shell, path)
    if problem:
        streams.err += f"{shell.name}: cd: {wanted}: {problem}\n".encode()
        return 1
    shell.cwd = shell.variables["PWD"] = path
    return 0


async def _pwd(shell: Shell, _arguments: list[str], streams: Streams) -> int:
    streams.out += f"{shell.cwd}\n".encode()
    return 0


def _why_not_enter(shell: Shell, path: str) -> str | None:
    try:
        entry = shell.host.files.entry(path, shell.user)
    except FileError as error:
        return error.reason
    if entry.kind is not Kind.FOLDER:
        return NOT_A_FOLDER
    return None if entry.allows(shell.user, 1) else PERMISSION_DENIED


async def _export(shell: Shell, arguments: list[str], _streams: Streams) -> int:
    shell.variables |= dict(word.split("=", 1) for word in arguments if "=" in word)
    return 0


async def _unset(shell: Shell, arguments: list[str], _streams: Streams) -> int:
    for name in arguments:
        shell.variables.pop(name, None)
    return 0


async def _set(shell: Shell, arguments: list[str], _streams: Streams) -> int:
    words = iter(arguments)
    for word in words:
        on = word.startswith("-")
        letters = word[1:]
        if "e" in letters:
            shell.errexit = on
        if letters.endswith("o"):
            option = next(words, "")
            shell.pipefail = on if option == "pipefail" else shell.pipefail
            shell.errexit = on if option == "errexit" else shell.errexit
    return 0


async def _read(shell: Shell, arguments: list[str], streams: Streams) -> int:
    line = await streams.stdin.line()
    name = arguments[-1] if arguments else "REPLY"
    shell.variables[name] = line.rstrip(b"\n").decode(errors="replace")
    return 0 if line.endswith(b"\n") else 1


async def _umask(shell: Shell, arguments: list[str], streams: Streams) -> int:
    if not arguments:
        streams.out += f"{shell.umask:04o}\n".encode()
        return 0
    try:
        shell.umask = int(arguments[0], 8)
    except ValueError:
        streams.err += f"{shell.name}: umask: {arguments[0]}: octal number out of range\n".encode()
        return 1
    return 0


async def _shift(shell: Shell, _arguments: list[str], _streams: Streams) -> int:
    shell.arguments = shell.arguments[1:]
    return 0


async def _command(shell: Shell, arguments: list[str], streams: Streams) -> int:
    if arguments and not arguments[0].startswith("-"):
        return await shell.execute(arguments, streams)
    return _find(shell, arguments, streams, "{path}")


async def _type(shell: Shell, arguments: list[str], streams: Streams) -> int:
    return _find(shell, arguments, streams, "{name} is {path}")


def _find(shell: Shell, arguments: list[str], streams: Streams, form: str) -> int:
    rc = 1
    for name in arguments:
        if name.startswith("-"):
            continue
        path = name if name in BUILTINS else shell.find(name)
        if path:
            streams.out += (form.format(name=name, path=path) + "\n").encode()
            rc = 0
        elif "is" in form:
            streams.err += f"{shell.name}: type: {name}: not found\n".encode()
    return rc


BUILTINS: dict[str, Callable[[Shell, list[str], Streams], Awaitable[int]]] = {
    ":": _nothing,
    "cd": _cd,
    "command": _command,
    "exec": _exec,
    "exit": _exit,
    "export": _export,
    "kill": kill,
    "pwd": _pwd,
    "read": _read,
    "set": _set,
    "shift": _shift,
    "trap": trap,
    "type": _type,
    "umask": _umask,
    "unset": _unset,
    "wait": wait,
}
