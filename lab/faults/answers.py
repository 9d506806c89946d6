"""Faults of single answers: hanging, flooding, broken, cut; they end up as wire-level replies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lab.faults.registry import cut_of, fault, pattern_of
from lab.replies import BLOCK, LOCALE_WARNING, Noise, Reply

if TYPE_CHECKING:
    from lab.world import World


@fault("command-hangs", "commands that match never end on the host (a glob)")
def command_hangs(world: World, host: str = "*", command: str = "") -> None:
    """A process in uninterruptible sleep."""
    world.replies.append(Reply(pattern_of(command), host=host, after=math.inf))


@fault("command-slow", "commands that match answer nothing for so many seconds, then fail")
def command_slow(world: World, host: str = "*", command: str = "", seconds: float = 1.0) -> None:
    """Ends with rc 1 and no output."""
    world.replies.append(Reply(pattern_of(command), host=host, after=float(seconds), rc=1))


@fault("flood", "commands that match print so many bytes on stdout instead of an answer, and rc 0")
def flood(world: World, host: str, bytes: int, command: str = "") -> None:  # noqa: A002
    """More than anyone should keep."""
    count = max(1, bytes // len(BLOCK))
    world.replies.append(Reply(pattern_of(command), host=host, stdout=BLOCK, repeat=count))


@fault("stderr-flood", "commands that match also print so many bytes on stderr")
def stderr_flood(world: World, host: str, bytes: int, command: str = "") -> None:  # noqa: A002
    """The answer on stdout is right; the stream beside it must be drained."""
    world.noises.append(Noise(host, pattern_of(command), bytes))


@fault("invalid-utf8", "commands that match print bytes that are not UTF-8, and rc 0")
def invalid_utf8(world: World, host: str = "*", command: str = "") -> None:
    """A parser that decodes blindly would raise."""
    world.replies.append(
        Reply(pattern_of(command), host=host, stdout=b'{"members": "\xff\xfe\x80"}\n')
    )


@fault("stderr-noise", "commands that match also print locale warnings (or text) on stderr")
def stderr_noise(world: World, host: str, text: str = "", command: str = "") -> None:
    """A `2>&1` before json.loads breaks."""
    said = f"{text}\n".encode() if text else LOCALE_WARNING
    world.noises.append(Noise(host, pattern_of(command), len(said), said))


@fault("exit-status", "commands that match print nothing and end with this status")
def exit_status(world: World, host: str = "*", command: str = "", rc: int = 255) -> None:
    """255 is also what OpenSSH says of itself (pytest-testinfra#528)."""
    world.replies.append(Reply(pattern_of(command), host=host, rc=rc))


@fault("command-killed", "commands that match die of a signal")
def command_killed(world: World, host: str = "*", command: str = "", signal: str = "KILL") -> None:
    """No exit status at all: out of memory."""
    world.replies.append(Reply(pattern_of(command), host=host, signal=signal))


@fault("link-cut", "the link breaks in the middle of commands that match: `bastion` or `node`")
def link_cut(
    world: World, host: str = "*", command: str = "", where: str = "bastion", times: int = 1
) -> None:
    """Half an answer, then nothing."""
    cut = cut_of(where)
    world.replies.append(
        Reply(pattern_of(command), host=host, stdout=b'{"header":{', cut=cut, times=times)
    )
