"""`test` and `[`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.filesystem import FileError, Kind
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.tools.call import Call

_KINDS = {"-f": Kind.FILE, "-d": Kind.FOLDER, "-L": Kind.LINK, "-h": Kind.LINK}
_PERMISSIONS = {"-r": 4, "-w": 2, "-x": 1}
_COMPARISONS = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
}


async def test(call: Call) -> int:
    """`test EXPRESSION` with one operator, and `!`."""
    return 0 if _holds(call, list(call.arguments)) else 1


async def bracket(call: Call) -> int:
    """`[ EXPRESSION ]`."""
    if not call.arguments or call.arguments[-1] != "]":
        raise UsageError("[: missing `]'", 2)
    return 0 if _holds(call, list(call.arguments[:-1])) else 1


def _holds(call: Call, words: list[str]) -> bool:
    if words[:1] == ["!"]:
        return not _holds(call, words[1:])
    if not words:
        return False
    if len(words) == 1:
        return bool(words[0])
    if len(words) == 2:
        return _unary(call, words[0], words[1])
    if len(words) == 3:
        return _binary(words[0], words[1], words[2])
    raise UsageError(f"{call.name}: too many arguments", 2)


def _unary(call: Call, operator: str, operand: str) -> bool:
    if operator in ("-z", "-n"):
        return bool(operand) == (operator == "-n")
    try:
        entry = call.files.entry(call.path(operand), call.user, follow=operator not in ("-L", "-h"))
    except FileError:
        return False
    if operator == "-e":
        return True
    if operator == "-s":
        return bool(entry.length)
    if operator in _KINDS:
        return entry.kind is _KINDS[operator]
    if operator in _PERMISSIONS:
        return entry.allows(call.user, _PERMISSIONS[operator])
    raise UsageError(f"{call.name}: {operator}: unary operator expected", 2)


def _binary(left: str, operator: str, right: str) -> bool:
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    if operator in _COMPARISONS:
        try:
            return bool(_COMPARISONS[operator](int(left), int(right)))
        except ValueError:
            raise UsageError("test: integer expression expected", 2) from None
    raise UsageError(f"test: {operator}: binary operator expected", 2)
