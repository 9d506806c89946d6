"""Redirections: where a command's streams come from and go to."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.expansion import joined
from lab.filesystem import FileError
from lab.streams import Stdin, Streams
from lab.tools.network import knock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.shell import Shell
    from lab.syntax import Redirect


# How long the kernel repeats a lost SYN.
_PATIENCE = 127.0


@dataclass(slots=True)
class _File:
    """Where a stream goes; `append` also says that it was written to already."""

    path: str
    content: bytearray
    append: bool
    written: int = 0


@dataclass(frozen=True, slots=True)
class Opened:
    """Streams with the redirections applied, and the files that are written at the end."""

    streams: Streams
    files: tuple[_File, ...]

    def close(self, shell: Shell) -> None:
        """Write to the files what is not there yet."""
        for file in self.files:
            path, content = shell.absolute(file.path), bytes(file.content[file.written :])
            shell.host.files.write(path, content, shell.user, append=file.append)
            file.append, file.written = True, file.written + len(content)


async def opened(shell: Shell, redirects: Sequence[Redirect], streams: Streams) -> Opened | None:
    """Apply redirections from left to right; None when one fails, with bash's complaint said."""
    result = Streams(streams.stdin, streams.out, streams.err, streams.flush)
    files: list[_File] = []
    for redirect in redirects:
        target = await joined(shell, redirect.target, streams)
        try:
            file = _apply(shell, redirect, target, result)
        except FileError as error:
            result.err += f"{shell.name}: {target}: {error.reason}\n".encode()
            return None
        except TimeoutError as error:
            await asyncio.sleep(_PATIENCE)
            result.err += f"{shell.name}: connect: {error}\n".encode()
            result.err += f"{shell.name}: {target}: {error}\n".encode()
            return None
        except ConnectionError as error:
            result.err += f"{shell.name}: connect: {error}\n".encode()
            result.err += f"{shell.name}: {target}: {error}\n".encode()
            return None
        if file is not None:
            files.append(file)
    inner = Opened(result, tuple(files))
    if files:
        result.flush = lambda: inner.close(shell)
    return inner


def _apply(shell: Shell, redirect: Redirect, target: str, result: Streams) -> _File | None:
    if redirect.operator == "<<<":
        result.stdin = Stdin(target.encode() + b"\n")
        return None
    if redirect.operator == "<":
        result.stdin = Stdin(_input(shell, target))
        return None
    if redirect.operator == ">&":
        buffer, file = (result.out if target == "1" else result.err), None
    elif _knocked(shell, target):
        # What is written is sent, and nobody reads it.
        buffer, file = bytearray(), None
    else:
        buffer = bytearray()
        file = _File(target, buffer, redirect.operator == ">>")
        # Opening comes before running: what cannot be written keeps the command from starting.
        shell.host.files.write(
            shell.absolute(target), b"", shell.user, append=True, mode=0o666 & ~shell.umask
        )
    if redirect.fd == 1:
        result.out = buffer
    else:
        result.err = buffer
    return file


def _input(shell: Shell, target: str) -> bytes:
    if _knocked(shell, target):
        return b""
    return shell.host.files.read(shell.absolute(target), shell.user)


def _knocked(shell: Shell, target: str) -> bool:
    """Whether the target is a TCP port, which is then connected to."""
    device = re.fullmatch(r"/dev/tcp/([^/]+)/(\d+)", target)
    if device:
        knock(shell.world, shell.host, device.group(1), int(device.group(2)))
    return device is not None
