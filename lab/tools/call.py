"""What a program of the lab sees of its process: arguments, streams, host, and who runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lab.filesystem import FileSystem
    from lab.host import Host
    from lab.shell import Shell
    from lab.streams import Streams
    from lab.world import World


class UsageError(Exception):
    """An argument the real tool refuses, or that the lab's tool does not know."""

    def __init__(self, text: str, rc: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.rc = rc


def quoted(text: str) -> str:
    """Text in the quotation marks that GNU tools print in a UTF-8 locale."""
    return f"\u2018{text}\u2019"


@dataclass(frozen=True, slots=True)
class Call:
    """One program that runs."""

    shell: Shell
    argv: tuple[str, ...]
    streams: Streams

    @property
    def name(self) -> str:
        """The program's name without folders."""
        return self.argv[0].rpartition("/")[2]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Everything after the name."""
        return self.argv[1:]

    @property
    def host(self) -> Host:
        """Where it runs."""
        return self.shell.host

    @property
    def world(self) -> World:
        """The lab's state."""
        return self.shell.world

    @property
    def user(self) -> str:
        """Who runs it."""
        return self.shell.user

    @property
    def files(self) -> FileSystem:
        """The host's files."""
        return self.shell.host.files

    def say(self, text: str) -> None:
        """One line on stdout."""
        self.write(text + "\n")

    def write(self, text: str | bytes) -> None:
        """Text on stdout as it is."""
        self.streams.out += (
            text if isinstance(text, bytes) else text.encode(errors="surrogateescape")
        )

    def complain(self, text: str) -> None:
        """One line on stderr."""
        self.streams.err += f"{text}\n".encode()

    def mystery(self, what: str) -> None:
        """Record that the lab met something it does not know."""
        self.shell.journal.mysteries.append(what)

    def path(self, path: str) -> str:
        """A path as seen from the working directory."""
        return self.shell.absolute(path)


@dataclass(slots=True)
class Options:
    """Arguments after `split`: flags with their values, and the rest.

    `values` keeps the last value of a flag; a flag without a value has an empty one.
    """

    values: dict[str, str]
    rest: list[str]

    def __contains__(self, flag: str) -> bool:
        return flag in self.values

    def get(self, *flags: str) -> str | None:
        """The value of the first of these flags that was given."""
        return next((self.values[flag] for flag in flags if flag in self.values), None)


def split(
    arguments: Sequence[str],
    *,
    flags: Collection[str] = (),
    valued: Collection[str] = (),
    refuse: str = "{name}: unrecognized option '{flag}'",
    name: str = "",
    rc: int = 1,
    clustered: bool = True,
    stop_at_first: bool = False,
) -> Options:
    """Sort arguments as getopt does: `-abc`, `-nVALUE`, `--long=VALUE`, `--`.

    Args:
        arguments: everything after the program's name.
        flags: known flags without a value, with their dashes.
        valued: known flags with a value.
        refuse: the tool's text for a flag that is not known; `{flag}`, `{name}` and `{letter}`.
        name: the program's, for that text.
        rc: the tool's exit status then.
        clustered: short flags may be written together (`-it`); kubectl and ip do without.
        stop_at_first: the first argument that is no flag ends the flags (sudo, timeout, env).

    Raises:
        UsageError: a flag the lab does not know.
    """
    values: dict[str, str] = {}
    rest: list[str] = []
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        if argument == "--":
            rest += queue
            break
        if not argument.startswith("-") or argument == "-":
            rest.append(argument)
            if stop_at_first:
                rest += queue
                break
            continue
        flag, mark, value = argument.partition("=")
        if argument in flags:
            values[argument] = ""
        elif mark and flag in valued:
            values[flag] = value
        elif argument in valued:
            if not queue:
                raise UsageError(f"{name}: option requires an argument -- '{argument.lstrip('-')}'")
            values[argument] = queue.pop(0)
        elif (
            not argument.startswith("--")
            and clustered
            and _cluster(argument, flags, valued, values, queue)
        ):
            continue
        elif not argument.startswith("--") and argument[:2] in valued:
            values[argument[:2]] = argument[2:]
        else:
            raise UsageError(refuse.format(name=name, flag=flag, letter=flag.lstrip("-")[:1]), rc)
    return Options(values, rest)


def _cluster(
    argument: str,
    flags: Collection[str],
    valued: Collection[str],
    values: dict[str, str],
    queue: list[str],
) -> bool:
    found: dict[str, str] = {}
    letters = argument[1:]
    for index, letter in enumerate(letters):
        flag = "-" + letter
        if flag in flags:
            found[flag] = ""
        elif flag in valued:
            following = letters[index + 1 :]
            if not following and not queue:
                return False
            found[flag] = following or queue.pop(0)
            break
        else:
            return False
    values.update(found)
    return True
