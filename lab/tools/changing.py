"""Programs that change files: mkdir, touch, rm, mv, chmod, sync."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from lab.filesystem import IS_A_FOLDER, NO_SUCH_FILE, FileError, Kind
from lab.tools.call import UsageError, quoted, split
from lab.tools.files import INVALID

if TYPE_CHECKING:
    from lab.tools.call import Call

_NUMBERED = "--backup=numbered"


async def mkdir(call: Call) -> int:
    """`mkdir [-p] [-m MODE] PATHS…`."""
    options = split(call.arguments, flags=("-p",), valued=("-m",), name="mkdir", refuse=INVALID)
    default = 0o777 & ~call.shell.umask
    mode = int(options.get("-m") or f"{default:o}", 8)
    rc = 0
    for path in options.rest:
        try:
            _make(call, path, mode, parents="-p" in options)
        except FileError as error:
            call.complain(f"mkdir: cannot create directory {quoted(path)}: {error.reason}")
            rc = 1
    return rc


def _make(call: Call, path: str, mode: int, *, parents: bool) -> None:
    full = posixpath.normpath(call.path(path))
    try:
        entry = call.files.entry(full, call.user)
    except FileError as error:
        if error.reason != NO_SUCH_FILE:
            raise
    else:
        if parents and entry.kind is Kind.FOLDER:
            return
        raise FileError(path, "File exists")
    above = posixpath.dirname(full)
    if parents and not call.shell.exists(above):
        _make(call, above, 0o777 & ~call.shell.umask, parents=True)
    call.files.check_folder_of(full, call.user)
    call.files.folder(full, mode, call.user)


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


async def mv(call: Call) -> int:
    """`mv [-T] [-n] [--backup=numbered] SOURCE TARGET`."""
    known = ("-T", "-n", "-f", _NUMBERED)
    options = split(call.arguments, flags=known, name="mv", refuse=INVALID)
    if len(options.rest) != 2:
        raise UsageError("mv: missing file operand\nTry 'mv --help' for more information.")
    source, target = options.rest
    try:
        real, entry = call.files.resolve(call.path(source), call.user, follow=False)
    except FileError as error:
        call.complain(f"mv: cannot stat '{source}': {error.reason}")
        return 1
    there = posixpath.normpath(call.path(target))
    occupant = None
    if call.shell.exists(there):
        occupant = call.files.entry(there)
        if occupant.kind is Kind.FOLDER and "-T" not in options:
            there, occupant = posixpath.join(there, posixpath.basename(real)), None
    try:
        call.files.check_folder_of(real, call.user)
        call.files.check_folder_of(there, call.user)
    except FileError as error:
        call.complain(f"mv: cannot move '{source}' to '{target}': {error.reason}")
        return 1
    if occupant is not None:
        if _NUMBERED in options:
            # What is kept stands in nobody's way, a folder neither.
            call.files.move(there, _backup_of(call, there))
        elif occupant.kind is Kind.FOLDER and entry.kind is not Kind.FOLDER:
            call.complain(f"mv: cannot overwrite directory '{target}' with non-directory")
            return 1
        elif occupant.kind is Kind.FOLDER and call.files.children(there):
            call.complain(f"mv: cannot move '{source}' to '{target}': Directory not empty")
            return 1
        else:
            call.files.remove(there)
    call.files.move(real, there)
    return 0


def _backup_of(call: Call, path: str) -> str:
    """The name that GNU tools give what is replaced: one more than the highest number there."""
    folder, name = posixpath.split(path)
    taken = re.compile(rf"{re.escape(name)}\.~([1-9]\d*)~")
    numbers = [
        int(found[1]) for each in call.files.children(folder) if (found := taken.fullmatch(each))
    ]
    return f"{path}.~{max(numbers, default=0) + 1}~"


async def sync(_call: Call) -> int:
    """`sync [FILES…]`: what the lab writes is written."""
    return 0


async def chmod(call: Call) -> int:
    """`chmod MODE PATHS…` with an octal mode."""
    options = split(call.arguments, name="chmod", refuse=INVALID)
    rc = 0
    for path in options.rest[1:]:
        try:
            real, _ = call.files.resolve(call.path(path), call.user)
        except FileError as error:
            call.complain(f"chmod: cannot access '{path}': {error.reason}")
            rc = 1
            continue
        call.files.change(real, mode=int(options.rest[0], 8))
    return rc
