"""coreutils and findutils that look at files."""

from __future__ import annotations

import hashlib
import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.filesystem import IS_A_FOLDER, PERMISSION_DENIED, FileError, Kind, ls_mode
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.filesystem import Entry
    from lab.tools.call import Call, Options

_INVALID = "{name}: invalid option -- '{letter}'\nTry '{name} --help' for more information."


def inputs(call: Call, paths: list[str]) -> tuple[list[tuple[str, bytes]], int]:
    """The contents of `paths`, or stdin without any; complaints and the status so far."""
    if not paths:
        return [("-", call.streams.stdin)], 0
    found: list[tuple[str, bytes]] = []
    rc = 0
    for path in paths:
        if path == "-":
            found.append((path, call.streams.stdin))
            continue
        try:
            found.append((path, call.files.read(call.path(path), call.user)))
        except FileError as error:
            call.complain(f"{call.name}: {path}: {error.reason}")
            rc = 1
    return found, rc


async def cat(call: Call) -> int:
    """`cat FILES…`."""
    options = split(call.arguments, flags=("-n", "-A"), name="cat", refuse=_INVALID)
    contents, rc = inputs(call, options.rest)
    for _, content in contents:
        call.write(content)
    return rc


async def head(call: Call) -> int:
    """`head [-n N|-c N] FILES…`."""
    return _ends(call, lambda lines, count: lines[:count], lambda data, count: data[:count])


async def tail(call: Call) -> int:
    """`tail [-n N|-c N] FILES…`."""
    return _ends(
        call,
        lambda lines, count: lines[-count:] if count else [],
        lambda data, count: data[-count:] if count else b"",
    )


def _ends(
    call: Call,
    lines: Callable[[list[bytes], int], list[bytes]],
    data: Callable[[bytes, int], bytes],
) -> int:
    words = [f"-n{word[1:]}" if word[1:].isdigit() else word for word in call.arguments]
    options = split(words, flags=("-q",), valued=("-n", "-c"), name=call.name, refuse=_INVALID)
    contents, rc = inputs(call, options.rest)
    for _, content in contents:
        size = options.get("-c")
        if size is not None:
            call.write(data(content, int(size)))
        else:
            call.write(
                b"".join(lines(content.splitlines(keepends=True), int(options.get("-n") or 10)))
            )
    return rc


async def wc(call: Call) -> int:
    """`wc [-l|-c|-w] FILES…`."""
    options = split(call.arguments, flags=("-l", "-c", "-w"), name="wc", refuse=_INVALID)
    contents, rc = inputs(call, options.rest)
    for path, content in contents:
        counts = {
            "-l": content.count(b"\n"),
            "-w": len(content.split()),
            "-c": len(content),
        }
        shown = [str(value) for flag, value in counts.items() if flag in options]
        shown = shown or [str(value) for value in counts.values()]
        call.say(" ".join([*shown, *([path] if path != "-" else [])]))
    return rc


async def sha256sum(call: Call) -> int:
    """`sha256sum FILES…`."""
    options = split(call.arguments, flags=("-b",), name="sha256sum", refuse=_INVALID)
    contents, rc = inputs(call, options.rest)
    for path, content in contents:
        call.say(f"{hashlib.sha256(content).hexdigest()}  {path}")
    return rc


async def readlink(call: Call) -> int:
    """`readlink [-f] PATHS…`."""
    options = split(call.arguments, flags=("-f", "-e"), name="readlink", refuse=_INVALID)
    rc = 0
    for path in options.rest:
        try:
            real, entry = call.files.resolve(
                call.path(path), call.user, follow="-f" in options or "-e" in options
            )
        except FileError:
            rc = 1
            continue
        if "-f" in options or "-e" in options:
            call.say(real)
        elif entry.kind is Kind.LINK:
            call.say(entry.target)
        else:
            rc = 1
    return rc


async def stat(call: Call) -> int:
    """`stat [-L] -c FORMAT PATHS…`."""
    options = split(
        call.arguments,
        flags=("-L", "--dereference"),
        valued=("-c", "--format", "--printf"),
        name="stat",
        refuse=_INVALID,
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
    if entry.kind is Kind.FILE and not _size(entry):
        kind = "regular empty file"
    values = {
        "a": f"{entry.mode:o}",
        "U": entry.owner,
        "G": entry.group,
        "F": kind,
        "n": path,
        "s": str(_size(entry)),
        "A": ls_mode(entry),
        "N": f"'{path}'",
        "Y": str(int(call.world.seed.born.timestamp())),
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


def _size(entry: Entry) -> int:
    return entry.size if entry.size is not None else len(entry.read())


async def ls(call: Call) -> int:
    """`ls [-l] [-a] [-d] [-1] PATHS…`."""
    options = split(
        call.arguments,
        flags=("-l", "-a", "-A", "-d", "-1", "-h", "-n"),
        name="ls",
        refuse=_INVALID,
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
    call.say(f"{ls_mode(entry)} 1 {entry.owner} {entry.group} {_size(entry)} {when} {name}{arrow}")


async def find(call: Call) -> int:
    """`find PATHS… [-maxdepth N] [-name GLOB] [-type f|d|l]`."""
    words = list(call.arguments)
    paths: list[str] = []
    while words and not words[0].startswith("-"):
        paths.append(words.pop(0))
    tests: dict[str, str] = {}
    while words:
        test = words.pop(0)
        if test == "-print":
            continue
        if test not in ("-maxdepth", "-mindepth", "-name", "-type"):
            raise UsageError(f"find: unknown predicate `{test}'")
        if not words:
            raise UsageError(f"find: missing argument to `{test}'")
        tests[test] = words.pop(0)
    rc = 0
    for path in paths or ["."]:
        rc = _find(call, path, tests) or rc
    return rc


def _find(call: Call, path: str, tests: dict[str, str]) -> int:
    try:
        real, _ = call.files.resolve(call.path(path), call.user, follow=False)
    except FileError as error:
        call.complain(f"find: ‘{path}’: {error.reason}")
        return 1
    rc = 0
    closed: list[str] = []
    kinds = {"f": Kind.FILE, "d": Kind.FOLDER, "l": Kind.LINK}
    for found in call.files.walk(real):
        if any(found.startswith(folder + "/") for folder in closed):
            continue
        shown = path + found[len(real) :]
        depth = found[len(real) :].count("/")
        entry = call.files.entry(found, "root", follow=False)
        if depth <= int(tests.get("-maxdepth", 99)) and depth >= int(tests.get("-mindepth", 0)):
            named = fnmatchcase(posixpath.basename(found), tests.get("-name", "*"))
            typed = "-type" not in tests or entry.kind is kinds.get(tests["-type"])
            if named and typed:
                call.say(shown)
        if entry.kind is Kind.FOLDER and not entry.allows(call.user, 5):
            closed.append(found)
            if depth < int(tests.get("-maxdepth", 99)):
                call.complain(f"find: ‘{shown}’: {PERMISSION_DENIED}")
                rc = 1
    return rc


async def mkdir(call: Call) -> int:
    """`mkdir [-p] [-m MODE] PATHS…`."""
    options = split(call.arguments, flags=("-p",), valued=("-m",), name="mkdir", refuse=_INVALID)
    rc = 0
    for path in options.rest:
        parent = posixpath.dirname(call.path(path))
        try:
            above = call.files.entry(parent, call.user)
            if not above.allows(call.user, 2):
                raise FileError(path, PERMISSION_DENIED)
        except FileError as error:
            call.complain(f"mkdir: cannot create directory ‘{path}’: {error.reason}")
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
    options = split(call.arguments, flags=("-r", "-f", "-R"), name="rm", refuse=_INVALID)
    rc = 0
    for path in options.rest:
        try:
            real, entry = call.files.resolve(call.path(path), call.user, follow=False)
            if entry.kind is Kind.FOLDER and not {"-r", "-R"} & set(options.values):
                raise FileError(path, IS_A_FOLDER)
            if not call.files.entry(posixpath.dirname(real)).allows(call.user, 2):
                raise FileError(path, PERMISSION_DENIED)
        except FileError as error:
            if "-f" in options and error.reason.startswith("No such"):
                continue
            call.complain(f"rm: cannot remove '{path}': {error.reason}")
            rc = 1
            continue
        call.files.remove(real)
    return rc
