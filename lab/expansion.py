"""Expands shell words: variables, substitutions, field splitting, tilde and globs."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.filesystem import FileError, Kind
from lab.syntax import Text, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.shell import Shell
    from lab.streams import Streams
    from lab.syntax import Piece, Word

_GLOB = frozenset("*?[")


async def fields(shell: Shell, words: Sequence[Word], streams: Streams) -> list[str]:
    """The arguments these words become: each may be none, one or several."""
    result: list[str] = []
    for word in words:
        result.extend(await _fields(shell, _tilde(shell, word), streams))
    return result


async def joined(shell: Shell, word: Word, streams: Streams) -> str:
    """One word as one string, as in an assignment: neither split nor globbed."""
    return "".join([await _value(shell, piece, streams) for piece in _tilde(shell, word)])


def _tilde(shell: Shell, word: Word) -> Word:
    first = word[0] if word else None
    if not isinstance(first, Text) or first.quoted or first.text != "~":
        return word
    following = word[1] if len(word) > 1 else None
    if following is None or (isinstance(following, Text) and following.text == "/"):
        return (Text(shell.variables.get("HOME", "/"), quoted=True), *word[1:])
    return word


async def _value(shell: Shell, piece: Piece, streams: Streams) -> str:
    if isinstance(piece, Text):
        return piece.text
    if isinstance(piece, Variable):
        return _variable(shell, piece)
    return await shell.substitute(piece.script, streams)


def _variable(shell: Shell, piece: Variable) -> str:
    special = {
        "?": str(shell.status),
        "#": str(len(shell.arguments)),
        "!": shell.journal.children.newest,
        "@": " ".join(shell.arguments),
        "*": " ".join(shell.arguments),
        "0": shell.zero,
    }
    if piece.name in special:
        return special[piece.name]
    if piece.name.isdigit():
        index = int(piece.name)
        found = "".join(shell.arguments[index - 1 : index])
    else:
        found = shell.variables.get(piece.name, "")
    return found or piece.fallback or ""


async def _fields(shell: Shell, word: Word, streams: Streams) -> list[str]:
    found: list[str] = []
    current: str | None = None
    pattern = False
    for piece in word:
        value = await _value(shell, piece, streams)
        if isinstance(piece, Text) or piece.quoted:
            pattern = pattern or (not piece.quoted and not _GLOB.isdisjoint(value))
            current = (current or "") + value
            continue
        for index, part in enumerate(re.split(r"[ \t\n]+", value)):
            if index and current is not None:
                found.append(current)
                current = None
            if part:
                current = (current or "") + part
    if current is not None:
        found.extend(_glob(shell, current) if pattern else [current])
    return found


def _glob(shell: Shell, pattern: str) -> list[str]:
    """The paths that match, sorted; the pattern itself when none does."""
    absolute = pattern.startswith("/")
    found = [""]
    for part in pattern.strip("/").split("/"):
        found = [path for base in found for path in _below(shell, base, part, absolute=absolute)]
    return sorted(found) or [pattern]


def _below(shell: Shell, base: str, part: str, *, absolute: bool) -> list[str]:
    prefix = base.rstrip("/") + "/" if base or absolute else ""
    names = [part]
    if not _GLOB.isdisjoint(part):
        folder = base or ("/" if absolute else shell.cwd)
        try:
            real, entry = shell.host.files.resolve(folder, shell.user)
        except FileError:
            return []
        if entry.kind is not Kind.FOLDER or not entry.allows(shell.user, 4):
            return []
        names = [
            name
            for name in shell.host.files.children(real)
            if fnmatchcase(name, part) and (part[0] == "." or name[0] != ".")
        ]
    return [prefix + name for name in names if shell.exists(prefix + name)]
