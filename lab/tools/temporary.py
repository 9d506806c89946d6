"""mktemp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.tools.call import split

if TYPE_CHECKING:
    from lab.tools.call import Call

_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789"


async def mktemp(call: Call) -> int:
    """`mktemp`: an empty file of the user's own in /tmp."""
    split(call.arguments, name="mktemp", refuse="mktemp: invalid option -- '{letter}'")
    call.world.serial += 1
    drawn = call.world.seed.bytes("mktemp", str(call.world.serial), size=10)
    name = "".join(_LETTERS[byte % len(_LETTERS)] for byte in drawn)
    path = f"/tmp/tmp.{name}"  # noqa: S108 a path on a host of the lab
    call.files.write(path, b"", call.user, mode=0o600)
    call.say(path)
    return 0
