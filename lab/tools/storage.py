"""dd, df and findmnt: copying pieces of files, and what room there is."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from lab.filesystem import FileError
from lab.tools.call import UsageError, split
from lab.tools.files import INVALID

if TYPE_CHECKING:
    from lab.tools.call import Call

# What is free on a host of the lab, and how large its root file system is.
TOTAL = 103_865_303_040
_KNOWN = frozenset(
    {"if", "of", "bs", "ibs", "obs", "skip", "seek", "count", "iflag", "oflag", "conv", "status"}
)
_FLAGS = frozenset(
    {"skip_bytes", "count_bytes", "seek_bytes", "append", "notrunc", "fullblock", "fsync", "sync"}
)
_UNITS = {"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


async def dd(call: Call) -> int:
    """`dd [if=F] [of=F] [bs=N] [skip=N] [count=N] [iflag=…] [oflag=append] [conv=notrunc]`."""
    words = dict(word.partition("=")[::2] for word in call.arguments)
    flags = {
        flag
        for name in ("iflag", "oflag", "conv")
        for flag in words.get(name, "").split(",")
        if flag
    }
    unknown = sorted(set(words) - _KNOWN) or sorted(flags - _FLAGS)
    if unknown:
        raise UsageError(f"dd: unrecognized operand '{unknown[0]}'")
    block = _size(words.get("ibs") or words.get("bs") or "512")
    skip = _size(words.get("skip", "0")) * (1 if "skip_bytes" in flags else block)
    count = None
    if "count" in words:
        count = _size(words["count"]) * (1 if "count_bytes" in flags else block)
    try:
        copied = await _copy(call, words, skip, count, flags)
    except FileError as error:
        call.complain(f"dd: failed to open '{error.path}': {error.reason}")
        return 1
    if words.get("status") != "none":
        call.complain(f"{copied // block}+{int(copied % block > 0)} records in")
        call.complain(f"{copied // block}+{int(copied % block > 0)} records out")
        call.complain(f"{copied} bytes copied, 0.0021 s, {copied / 2100:.1f} MB/s")
    return 0


async def _copy(
    call: Call, words: dict[str, str], skip: int, count: int | None, flags: set[str]
) -> int:
    target = words.get("of")
    if target is not None:
        where = call.path(target)
        fresh = "append" not in flags and "notrunc" not in flags
        mode = 0o666 & ~call.shell.umask
        call.files.write(where, b"", call.user, append=not fresh, mode=mode)
    copied = 0
    source = words.get("if")
    if source is not None:
        content = call.files.read(call.path(source), call.user)[skip:]
        content = content if count is None else content[:count]
        _deliver(call, target, content)
        return len(content)
    async for chunk in call.streams.stdin.chunks():
        # What has arrived is in the file, also when the link breaks before the rest comes.
        _deliver(call, target, chunk)
        copied += len(chunk)
    return copied


def _deliver(call: Call, target: str | None, content: bytes) -> None:
    if target is None:
        call.write(content)
        return
    if call.host.name in call.world.trouble.damaged_copies and content:
        content = bytes([content[0] ^ 1]) + content[1:]
        call.world.trouble.damaged_copies.discard(call.host.name)
    call.files.write(call.path(target), content, call.user, append=True)


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([kKMG]?)", text)
    if not match:
        raise UsageError(f"dd: invalid number: '{text}'")
    return int(match.group(1)) * _UNITS[match.group(2)]


async def df(call: Call) -> int:
    """`df [-B1] [--output=avail[,…]] [-P] PATHS…`."""
    options = split(
        call.arguments,
        flags=("-B1", "-P", "-k"),
        valued=("--output", "-B", "--block-size"),
        name="df",
        refuse=INVALID,
    )
    unit = 1 if "-B1" in options or options.get("-B", "--block-size") == "1" else 1024
    free = call.host.free
    cells = {
        "source": ("Filesystem", "/dev/sda1"),
        "size": ("1B-blocks" if unit == 1 else "1K-blocks", str(TOTAL // unit)),
        "used": ("Used", str((TOTAL - free) // unit)),
        "avail": ("Avail", str(free // unit)),
        "pcent": ("Use%", f"{100 - 100 * free // TOTAL}%"),
        "target": ("Mounted on", "/"),
    }
    wanted = (options.get("--output") or ",".join(cells)).split(",")
    if unknown := [name for name in wanted if name not in cells]:
        raise UsageError(f"df: option --output: field '{unknown[0]}' unknown")
    rows: list[list[str]] = []
    rc = 0
    for path in options.rest or ["/"]:
        if call.shell.exists(path):
            rows.append([cells[name][1] for name in wanted])
        else:
            call.complain(f"df: {path}: No such file or directory")
            rc = 1
    if rows:
        rows.insert(0, [cells[name][0] for name in wanted])
    widths = (
        [max(len(row[column]) for row in rows) for column in range(len(wanted))] if rows else []
    )
    for row in rows:
        call.say(" ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    return rc


async def findmnt(call: Call) -> int:
    """`findmnt -n -o TARGET[,…] [-T PATH]`: what `/proc/mounts` says."""
    options = split(
        call.arguments,
        flags=("-n", "--noheadings", "-r", "-l"),
        valued=("-o", "--output", "-T", "--target", "-t", "--types"),
        name="findmnt",
        refuse="findmnt: invalid option -- '{letter}'",
    )
    columns = [name.upper() for name in (options.get("-o", "--output") or "TARGET").split(",")]
    known = {"SOURCE": 0, "TARGET": 1, "FSTYPE": 2, "OPTIONS": 3}
    if unknown := [name for name in columns if name not in known]:
        raise UsageError(f"findmnt: unknown column: {unknown[0]}")
    rows = [line.split() for line in call.files.read("/proc/mounts").decode().splitlines()]
    kinds = options.get("-t", "--types")
    if kinds is not None:
        rows = [row for row in rows if row[2] in kinds.split(",")]
    target = options.get("-T", "--target")
    if target is not None:
        path = posixpath.normpath(call.path(target))
        above = [row for row in rows if (path + "/").startswith(row[1].rstrip("/") + "/")]
        rows = above[-1:]
    if {"-n", "--noheadings"}.isdisjoint(options.values) and rows:
        call.say(" ".join(columns))
    for row in rows:
        call.say(" ".join(row[known[name]] for name in columns))
    return 0 if rows else 1
