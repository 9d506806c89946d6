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
    """`sed [-n] [-E] SCRIPT FILES…`: d, p and s; at a line, a range or /a pattern/, or `!` not."""
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
    edits = _sed_commands(script, extended=extended)
    contents, rc = await inputs(call, words)
    for _, content in contents:
        text = content.decode("utf-8", errors="surrogateescape")
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            _edit(call, edits, line, number, quiet="-n" in options)
    return 2 if rc else 0


def _edit(call: Call, edits: list[_Edit], line: str, number: int, *, quiet: bool) -> None:
    for edit in edits:
        left = edit.apply(call, line, number)
        if left is None:
            return
        line = left
    if not quiet:
        call.write(line)


_PART = r"(?:\\.|(?!(?P=by)).)*(?P=by)"
_SED = re.compile(
    r"\s*(?P<address>/(?:[^/\\]|\\.)*/|\d+,\d+|\d+|)\s*(?P<but>!?)"
    rf"(?P<command>[dp]|s(?P<by>[^\s\w\\]){_PART}{_PART}\w*)\s*(?:;|$)"
)


class _Edit:
    def __init__(self, address: str, but: str, command: str, *, extended: bool) -> None:
        self._but = bool(but)
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
        if command.startswith("s"):
            _, wanted, replacement, flags = re.split(rf"(?<!\\){re.escape(command[1])}", command)
            pattern = re.compile(posix(wanted, extended=extended))
            self._substitute = (pattern, re.sub(r"(?<!\\)&", r"\\g<0>", replacement), flags)

    def _selects(self, line: str, number: int) -> bool:
        if self._line is not None:
            chosen = number == self._line
        elif self._range is not None:
            chosen = number in self._range
        else:
            chosen = self._pattern is None or bool(self._pattern.search(line.rstrip("\n")))
        return chosen is not self._but

    def apply(self, call: Call, line: str, number: int) -> str | None:
        """What is left of the line; None if it is deleted."""
        if not self._selects(line, number):
            return line
        if self._command == "d":
            return None
        printed = self._command == "p"
        if self._substitute:
            body, end = line.rstrip("\n"), "\n" if line.endswith("\n") else ""
            body, changed = _substituted(body, *self._substitute)
            line = body + end
            printed = "p" in self._substitute[2] and changed
        if printed:
            call.write(line)
        return line


def _substituted(
    body: str, pattern: re.Pattern[str], replacement: str, flags: str
) -> tuple[str, bool]:
    """`s` with `g`, a number (that match), or both (from that match on)."""
    first = int(re.sub(r"\D", "", flags) or 1)
    matches = list(pattern.finditer(body))[first - 1 :]
    for match in reversed(matches if "g" in flags else matches[:1]):
        body = body[: match.start()] + match.expand(replacement) + body[match.end() :]
    return body, bool(matches)


def _sed_commands(script: str, *, extended: bool) -> list[_Edit]:
    edits: list[_Edit] = []
    at = 0
    while at < len(script) or not edits:
        match = _SED.match(script, at)
        if not match:
            raise UsageError(
                f"sed: -e expression #1, char {at + 1}: unknown command: `{script[at : at + 1]}'"
            )
        edits.append(_Edit(match["address"], match["but"], match["command"], extended=extended))
        at = match.end()
    return edits


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
