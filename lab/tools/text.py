"""grep, sed and the small filters, as far as one-liners use them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.tools.call import UsageError, split
from lab.tools.files import inputs

if TYPE_CHECKING:
    from lab.tools.call import Call

_CLASSES = {
    "[:space:]": r"\s",
    "[:digit:]": "0-9",
    "[:alpha:]": "a-zA-Z",
    "[:alnum:]": "a-zA-Z0-9",
    "[:blank:]": r" \t",
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:xdigit:]": "0-9a-fA-F",
}


def posix(pattern: str, *, extended: bool) -> str:
    """A POSIX regular expression as Python's `re` wants it."""
    for name, characters in _CLASSES.items():
        pattern = pattern.replace(name, characters)
    if extended:
        return pattern
    # In basic expressions the bare characters are literal and the escaped ones special.
    return re.sub(
        r"\\([(){}|+?])|([(){}|+?])",
        lambda match: match.group(1) or "\\" + match.group(2),
        pattern,
    )


async def grep(call: Call) -> int:
    """`grep [-E|-F] [-i] [-v] [-q] [-c] [-o] [-w] [-x] [-n] PATTERN FILES…`; 1 without a match."""
    options = split(
        call.arguments,
        flags=(
            "-E",
            "-F",
            "-i",
            "-v",
            "-q",
            "-c",
            "-o",
            "-w",
            "-x",
            "-n",
            "-s",
            "-h",
            "-r",
            "-a",
            "--color=never",
        ),
        valued=("-e", "-m"),
        name="grep",
        refuse="grep: invalid option -- '{letter}'\n"
        "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.",
        rc=2,
    )
    words = list(options.rest)
    wanted = options.get("-e")
    if wanted is None:
        if not words:
            raise UsageError(
                "Usage: grep [OPTION]... PATTERNS [FILE]...\n"
                "Try 'grep --help' for more information.",
                2,
            )
        wanted = words.pop(0)
    pattern = re.escape(wanted) if "-F" in options else posix(wanted, extended="-E" in options)
    if "-x" in options:
        pattern = f"^(?:{pattern})$"
    if "-w" in options:
        pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
    matcher = re.compile(pattern, re.IGNORECASE if "-i" in options else 0)
    contents, rc = await inputs(call, words)
    matched = 0
    for path, content in contents:
        prefix = f"{path}:" if len(words) > 1 and "-h" not in options else ""
        text = content.decode("utf-8", errors="surrogateescape")
        count = 0
        for number, line in enumerate(text.splitlines(), 1):
            hit = matcher.search(line)
            if bool(hit) == ("-v" in options):
                continue
            count += 1
            if "-q" in options or "-c" in options:
                continue
            numbered = f"{number}:" if "-n" in options else ""
            shown = [m.group() for m in matcher.finditer(line)] if "-o" in options else [line]
            call.write("".join(f"{prefix}{numbered}{part}\n" for part in shown))
        if "-c" in options:
            call.say(f"{prefix}{count}")
        matched += count
    if rc:
        return 2 if not (matched and "-q" in options) else 0
    return 0 if matched else 1


async def sed(call: Call) -> int:
    """`sed [-n] [-E] SCRIPT FILES…` with the commands d, p, s and line or /pattern/ addresses."""
    options = split(
        call.arguments,
        flags=("-n", "-E", "-r"),
        valued=("-e",),
        name="sed",
        refuse="sed: invalid option -- '{letter}'\nUsage: sed [OPTION]... {{script}} [file]...",
    )
    words = list(options.rest)
    script = options.get("-e")
    if script is None:
        if not words:
            raise UsageError("Usage: sed [OPTION]... {script} [input-file]...")
        script = words.pop(0)
    extended = "-E" in options or "-r" in options
    edit = _sed_command(script, extended=extended)
    contents, rc = await inputs(call, words)
    for _, content in contents:
        text = content.decode("utf-8", errors="surrogateescape")
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            edit.apply(call, line, number, quiet="-n" in options)
    return 2 if rc else 0


class _Edit:
    def __init__(self, address: str, command: str, *, extended: bool) -> None:
        self._line = int(address) if address.isdigit() else None
        self._range = None
        if re.fullmatch(r"\d+,\d+", address):
            first, last = address.split(",")
            self._range = range(int(first), int(last) + 1)
        self._pattern = (
            re.compile(posix(address[1:-1], extended=extended)) if address.startswith("/") else None
        )
        self._command = command
        self._substitute: tuple[re.Pattern[str], str, str] | None = None
        if command.startswith("s") and len(command) > 1:
            parts = re.split(rf"(?<!\\){re.escape(command[1])}", command[2:])
            if len(parts) != 3:
                raise UsageError(
                    f"sed: -e expression #1, char {len(command)}: unterminated `s' command"
                )
            replacement = re.sub(r"(?<!\\)&", r"\\g<0>", parts[1])
            pattern = re.compile(posix(parts[0], extended=extended))
            self._substitute = (pattern, replacement, parts[2])

    def _selects(self, line: str, number: int) -> bool:
        if self._line is not None:
            return number == self._line
        if self._range is not None:
            return number in self._range
        return self._pattern is None or bool(self._pattern.search(line.rstrip("\n")))

    def apply(self, call: Call, line: str, number: int, *, quiet: bool) -> None:
        selected = self._selects(line, number)
        printed = selected and self._command == "p"
        if selected and self._command == "d":
            return
        if selected and self._substitute:
            pattern, replacement, flags = self._substitute
            body, end = line.rstrip("\n"), "\n" if line.endswith("\n") else ""
            body, changed = pattern.subn(replacement, body, count=0 if "g" in flags else 1)
            line = body + end
            printed = "p" in flags and changed > 0
        if printed:
            call.write(line)
        if not quiet:
            call.write(line)


def _sed_command(script: str, *, extended: bool) -> _Edit:
    match = re.fullmatch(r"\s*(/(?:[^/\\]|\\.)*/|\d+,\d+|\d+|)\s*(d|p|s.+)\s*", script)
    if not match:
        raise UsageError(f"sed: -e expression #1, char 1: unknown command: `{script[:1]}'")
    return _Edit(match.group(1), match.group(2), extended=extended)


async def cut(call: Call) -> int:
    """`cut -d C -f LIST`."""
    options = split(call.arguments, flags=("-s",), valued=("-d", "-f", "-c"), name="cut")
    fields = options.get("-f")
    if fields is None or not re.fullmatch(r"[\d,]+", fields):
        raise UsageError("cut: you must specify a list of bytes, characters, or fields")
    delimiter = options.get("-d") or "\t"
    contents, rc = await inputs(call, options.rest)
    for _, content in contents:
        for line in content.decode(errors="surrogateescape").splitlines():
            parts = line.split(delimiter)
            chosen = [parts[int(n) - 1] for n in fields.split(",") if int(n) <= len(parts)]
            call.say(delimiter.join(chosen) if len(parts) > 1 else line)
    return rc


async def sort(call: Call) -> int:
    """`sort [-u] [-r] [-n]`."""
    options = split(call.arguments, flags=("-u", "-r", "-n"), name="sort", rc=2)
    contents, rc = await inputs(call, options.rest)
    lines = [line for _, content in contents for line in content.decode().splitlines()]
    if "-u" in options:
        lines = list(dict.fromkeys(lines))
    lines.sort(
        key=(
            lambda line: (
                float(match.group()) if (match := re.match(r"\s*-?\d+", line)) else 0.0,
                line,
            )
        )
        if "-n" in options
        else (lambda line: (0.0, line)),
        reverse="-r" in options,
    )
    call.write("".join(f"{line}\n" for line in lines))
    return rc


async def uniq(call: Call) -> int:
    """`uniq [-c]`."""
    options = split(call.arguments, flags=("-c",), name="uniq")
    contents, rc = await inputs(call, options.rest)
    groups: list[tuple[str, int]] = []
    for line in (line for _, content in contents for line in content.decode().splitlines()):
        if groups and groups[-1][0] == line:
            groups[-1] = (line, groups[-1][1] + 1)
        else:
            groups.append((line, 1))
    for line, count in groups:
        call.say(f"{count:7} {line}" if "-c" in options else line)
    return rc


async def tr(call: Call) -> int:
    """`tr [-d] SET [SET]` without ranges."""
    options = split(call.arguments, flags=("-d", "-s"), name="tr")
    text = (await call.streams.stdin.read()).decode(errors="surrogateescape")
    sets = [word.replace("\\n", "\n").replace("\\t", "\t") for word in options.rest]
    if any("-" in word or "[" in word for word in sets) or not sets:
        raise UsageError("tr: missing operand")
    if "-d" in options:
        call.write("".join(letter for letter in text if letter not in sets[0]))
        return 0
    target = sets[1].ljust(len(sets[0]), sets[1][-1])
    call.write(text.translate(str.maketrans(sets[0], target[: len(sets[0])])))
    return 0
