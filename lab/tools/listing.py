"""Programs that look at files without reading them: stat, ls, find."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.filesystem import PERMISSION_DENIED, FileError, Kind, ls_mode
from lab.tools.call import UsageError, quoted, split
from lab.tools.files import INVALID

if TYPE_CHECKING:
    from lab.filesystem import Entry
    from lab.tools.call import Call, Options


async def stat(call: Call) -> int:
    """`stat [-L] -c FORMAT PATHS…`."""
    options = split(
        call.arguments,
        flags=("-L", "--dereference"),
        valued=("-c", "--format", "--printf"),
        name="stat",
        refuse=INVALID,
    )
    form = options.get("-c", "--format")
    if form is None:
        raise UsageError("stat: the lab prints with -c only")
    rc = 0
    for path in options.rest:
        try:
            entry = call.files.entry(
                call.path(path), call.user, follow="-L" in options or "--dereference" in options
            )
        except FileError as error:
            call.complain(f"stat: cannot statx '{path}': {error.reason}")
            rc = 1
            continue
        call.say(_formatted(call, form, path, entry))
    return rc


def _formatted(call: Call, form: str, path: str, entry: Entry) -> str:
    kind = str(entry.kind)
    if entry.kind is Kind.FILE and not entry.length:
        kind = "regular empty file"
    values = {
        "a": f"{entry.mode:o}",
        "U": entry.owner,
        "G": entry.group,
        "F": kind,
        "n": path,
        "s": str(entry.length),
        "A": ls_mode(entry),
        "N": f"'{path}'",
        "Y": str(int(entry.modified or call.world.seed.born.timestamp())),
        # A file system that does not know says 0.
        "W": str(int(entry.born or 0)),
        "u": "0" if entry.owner == "root" else "1000",
        "g": "0" if entry.group == "root" else "1000",
    }
    result, rest = "", form
    while "%" in rest:
        before, _, rest = rest.partition("%")
        result += before
        if rest[:1] not in values:
            call.mystery(f"stat %{rest[:1]}")
        result += values.get(rest[:1], "?")
        rest = rest[1:]
    return result + rest


async def ls(call: Call) -> int:
    """`ls [-l] [-a] [-d] [-1] PATHS…`."""
    options = split(
        call.arguments,
        flags=("-l", "-a", "-A", "-d", "-1", "-h", "-n"),
        name="ls",
        refuse=INVALID,
        rc=2,
    )
    rc = 0
    paths = options.rest or ["."]
    for path in paths:
        try:
            real, entry = call.files.resolve(call.path(path), call.user)
            if entry.kind is not Kind.FOLDER or "-d" in options:
                _list_one(call, options, path, entry)
                continue
            if not entry.allows(call.user, 4):
                call.complain(f"ls: cannot open directory '{path}': {PERMISSION_DENIED}")
                rc = 2
                continue
        except FileError as error:
            call.complain(f"ls: cannot access '{path}': {error.reason}")
            rc = 2
            continue
        if len(paths) > 1:
            call.say(f"{path}:")
        if "-l" in options:
            call.say("total 0")
        for name in call.files.children(real):
            if name.startswith(".") and not {"-a", "-A"} & set(options.values):
                continue
            child = call.files.entry(posixpath.join(real, name), "root", follow=False)
            _list_one(call, options, name, child)
    return rc


def _list_one(call: Call, options: Options, name: str, entry: Entry) -> None:
    if "-l" not in options:
        call.say(name)
        return
    when = call.world.seed.born.strftime("%b %e %H:%M")
    arrow = f" -> {entry.target}" if entry.kind is Kind.LINK else ""
    call.say(f"{ls_mode(entry)} 1 {entry.owner} {entry.group} {entry.length} {when} {name}{arrow}")


async def find(call: Call) -> int:
    """`find PATHS… [-maxdepth N] [-name GLOB] [-type f|d|l] [( -name GLOB -o -name GLOB … )]`."""
    words = list(call.arguments)
    paths: list[str] = []
    while words and not words[0].startswith(("-", "(")):
        paths.append(words.pop(0))
    tests: dict[str, str] = {}
    names: list[str] = []
    while words:
        test = words.pop(0)
        if test == "-print":
            continue
        if test == "(":
            names, words = _alternatives(words)
            continue
        if test not in ("-maxdepth", "-mindepth", "-name", "-type"):
            raise UsageError(f"find: unknown predicate `{test}'")
        if not words:
            raise UsageError(f"find: missing argument to `{test}'")
        tests[test] = words.pop(0)
    rc = 0
    for path in paths or ["."]:
        rc = _find(call, path, tests, names or [tests.get("-name", "*")]) or rc
    return rc


def _alternatives(words: list[str]) -> tuple[list[str], list[str]]:
    """The globs of `-name GLOB -o -name GLOB … )`, and what comes after it."""
    end = words.index(")") if ")" in words else 0
    inside = words[:end]
    well_formed = all(
        word == {0: "-name", 2: "-o"}.get(index % 3, word) for index, word in enumerate(inside)
    )
    if len(inside) % 3 != 2 or not well_formed:
        raise UsageError("find: the lab knows `( -name GLOB -o -name GLOB … )` only")
    return inside[1::3], words[end + 1 :]


def _find(call: Call, path: str, tests: dict[str, str], names: list[str]) -> int:
    try:
        real, _ = call.files.resolve(call.path(path), call.user, follow=False)
    except FileError as error:
        call.complain(f"find: {quoted(path)}: {error.reason}")
        return 1
    rc = 0
    closed: list[str] = []
    kinds = {"f": Kind.FILE, "d": Kind.FOLDER, "l": Kind.LINK}
    for found in call.files.walk(real):
        if any(found.startswith(folder + "/") for folder in closed):
            continue
        shown = path.rstrip("/") + found[len(real) :] if found != real else path
        depth = found[len(real) :].count("/")
        entry = call.files.entry(found, "root", follow=False)
        if depth <= int(tests.get("-maxdepth", 99)) and depth >= int(tests.get("-mindepth", 0)):
            named = any(fnmatchcase(posixpath.basename(found), name) for name in names)
            typed = "-type" not in tests or entry.kind is kinds.get(tests["-type"])
            if named and typed:
                call.say(shown)
        if entry.kind is Kind.FOLDER and not entry.allows(call.user, 5):
            closed.append(found)
            if depth < int(tests.get("-maxdepth", 99)):
                call.complain(f"find: {quoted(shown)}: {PERMISSION_DENIED}")
                rc = 1
    return rc
