"""Programs that change files: mkdir, touch, rm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.filesystem import IS_A_FOLDER, NO_SUCH_FILE, FileError, Kind
from lab.tools.call import quoted, split
from lab.tools.files import INVALID

if TYPE_CHECKING:
    from lab.tools.call import Call


async def mkdir(call: Call) -> int:
    """`mkdir [-p] [-m MODE] PATHS…`."""
    options = split(call.arguments, flags=("-p",), valued=("-m",), name="mkdir", refuse=INVALID)
    rc = 0
    for path in options.rest:
        try:
            call.files.check_folder_of(call.path(path), call.user)
        except FileError as error:
            call.complain(f"mkdir: cannot create directory {quoted(path)}: {error.reason}")
            rc = 1
            continue
        call.files.folder(call.path(path), int(options.get("-m") or "755", 8), call.user)
    return rc


async def touch(call: Call) -> int:
    """`touch PATHS…`."""
    rc = 0
    for path in call.arguments:
        try:
            call.files.write(call.path(path), b"", call.user, append=True)
        except FileError as error:
            call.complain(f"touch: cannot touch '{path}': {error.reason}")
            rc = 1
    return rc


async def rm(call: Call) -> int:
    """`rm [-r] [-f] PATHS…`."""
    options = split(call.arguments, flags=("-r", "-f", "-R"), name="rm", refuse=INVALID)
    rc = 0
    for path in options.rest:
        try:
            real, entry = call.files.resolve(call.path(path), call.user, follow=False)
            call.files.check_folder_of(real, call.user)
        except FileError as error:
            if "-f" in options and error.reason == NO_SUCH_FILE:
                continue
            call.complain(f"rm: cannot remove '{path}': {error.reason}")
            rc = 1
            continue
        if entry.kind is Kind.FOLDER and {"-r", "-R"}.isdisjoint(options.values):
            call.complain(f"rm: cannot remove '{path}': {IS_A_FOLDER}")
            rc = 1
            continue
        call.files.remove(real)
    return rc
