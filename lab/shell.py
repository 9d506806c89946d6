"""Runs command lines on one host: expansion, redirections, pipes, and finding what to run.

Texts and exit codes are bash's, as sshd runs a command: `bash -c LINE`.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.filesystem import FileError, Kind
from lab.parser import parse
from lab.syntax import (
    Chain,
    For,
    Group,
    If,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Text,
    UnknownSyntax,
    Variable,
    While,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.host import Host
    from lab.syntax import Command, Piece, Word
    from lab.world import World

USER_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games:/snap/bin"
SECURE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"
_BUILTINS = frozenset(
    {":", "cd", "exit", "export", "set", "unset", "command", "type", "exec", "shift", "read"}
)
_LOOP_LIMIT = 10_000


class Exit(Exception):  # noqa: N818
    """`exit`: leaves the shell with a status."""

    def __init__(self, rc: int) -> None:
        super().__init__(rc)
        self.rc = rc


@dataclass(slots=True)
class Streams:
    """Standard input, and where output goes; the same object twice is `2>&1`."""

    stdin: bytes = b""
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class Journal:
    """What a command line met that the lab does not know."""

    mysteries: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Shell:
    """One shell process.

    Attributes:
        user: whose permissions count.
        name: what error texts begin with.
        variables: shell and environment variables alike.
    """

    world: World
    host: Host
    user: str
    variables: dict[str, str]
    journal: Journal
    name: str = "bash: line 1"
    cwd: str = "/"
    arguments: tuple[str, ...] = ()
    status: int = 0
    errexit: bool = False
    pipefail: bool = False

    @classmethod
    def login(cls, world: World, host: Host, user: str) -> Shell:
        """The shell sshd starts for a command."""
        home = f"/home/{user}" if user != "root" else "/root"
        variables = {"HOME": home, "USER": user, "LOGNAME": user, "PATH": USER_PATH, "PWD": home}
        variables |= {"SHELL": "/bin/bash", "LANG": "C.UTF-8"}
        return cls(world, host, user, variables, Journal(), cwd=home)

    def child(self, **changes: object) -> Shell:
        """A subshell or a new process: its changes do not reach this one."""
        fields = {
            "user": self.user,
            "variables": dict(self.variables),
            "name": self.name,
            "cwd": self.cwd,
            "arguments": self.arguments,
            "errexit": self.errexit,
            "pipefail": self.pipefail,
            **changes,
        }
        return Shell(world=self.world, host=self.host, journal=self.journal, **fields)  # type: ignore[arg-type]

    async def run_line(self, line: str, streams: Streams) -> int:
        """Run a command line or a script text; its exit status."""
        try:
            script = parse(line)
        except UnknownSyntax as error:
            self.journal.mysteries.append(f"shell syntax: {error}")
            streams.err += f"{self.name}: syntax error: {error}\n".encode()
            return 2
        try:
            return await self.run_script(script, streams)
        except Exit as leave:
            return leave.rc

    async def run_script(self, script: Script, streams: Streams) -> int:
        """Run chains one after the other; the last one's status."""
        for chain in script.chains:
            await self._chain(chain, streams)
        return self.status

    async def _chain(self, chain: Chain, streams: Streams) -> None:
        self.status = await self._pipeline(chain.first, streams)
        tested = chain.first.negated
        for operator, pipeline in chain.rest:
            if (operator == "&&") == (self.status == 0):
                self.status = await self._pipeline(pipeline, streams)
                tested = pipeline.negated
            else:
                tested = True
        if self.errexit and self.status and not tested:
            raise Exit(self.status)

    async def _pipeline(self, pipeline: Pipeline, streams: Streams) -> int:
        statuses: list[int] = []
        stdin = streams.stdin
        last = len(pipeline.commands) - 1
        for index, command in enumerate(pipeline.commands):
            if last == 0:
                statuses.append(await self._command(command, streams))
                break
            out = streams.out if index == last else bytearray()
            piped = Streams(stdin, out, streams.err)
            shell = self.child()
            try:
                statuses.append(await shell._command(command, piped))  # noqa: SLF001
            except Exit as leave:
                statuses.append(leave.rc)
            stdin = bytes(out)
        rc = statuses[-1]
        if self.pipefail:
            rc = next((status for status in reversed(statuses) if status), 0)
        return int(rc == 0) if pipeline.negated else rc

    async def _command(self, command: Command, streams: Streams) -> int:
        if isinstance(command, Simple):
            return await self._simple(command, streams)
        if isinstance(command, Group):
            return await self._group(command, streams)
        if isinstance(command, If):
            return await self._if(command, streams)
        if isinstance(command, For):
            return await self._for(command, streams)
        return await self._while(command, streams)

    async def _group(self, group: Group, streams: Streams) -> int:
        opened = await self._redirected(group.redirects, streams)
        if opened is None:
            return 1
        inner, finish = opened
        shell = self.child(status=self.status) if group.subshell else self
        try:
            rc = await shell.run_script(group.body, inner)
        except Exit as leave:
            if not group.subshell:
                raise
            rc = leave.rc
        self._finish(finish)
        return rc

    async def _if(self, branch: If, streams: Streams) -> int:
        for condition, body in branch.branches:
            if await self._condition(condition, streams) == 0:
                return await self.run_script(body, streams)
        if branch.otherwise:
            return await self.run_script(branch.otherwise, streams)
        return 0

    async def _condition(self, script: Script, streams: Streams) -> int:
        errexit, self.errexit = self.errexit, False
        try:
            return await self.run_script(script, streams)
        finally:
            self.errexit = errexit

    async def _for(self, loop: For, streams: Streams) -> int:
        rc = 0
        for value in await self._expand(loop.words, streams):
            self.variables[loop.name] = value
            rc = await self.run_script(loop.body, streams)
        return rc

    async def _while(self, loop: While, streams: Streams) -> int:
        rc = 0
        for _ in range(_LOOP_LIMIT):
            if ((await self._condition(loop.condition, streams)) == 0) == loop.until:
                break
            rc = await self.run_script(loop.body, streams)
        return rc

    async def _simple(self, command: Simple, streams: Streams) -> int:
        self_status = self.status
        words = await self._expand(command.words, streams)
        assigned = {name: await self._joined(word, streams) for name, word in command.assignments}
        opened = await self._redirected(command.redirects, streams)
        if opened is None:
            return 1
        inner, finish = opened
        if not words:
            self.variables |= assigned
            self._finish(finish)
            return self.status if assigned and self.status != self_status else 0
        if words[0] in _BUILTINS:
            rc = await self._builtin(words, inner)
        else:
            shell = self.child(variables={**self.variables, **assigned}) if assigned else self
            rc = await shell.execute(words, inner)
        self._finish(finish)
        return rc

    async def execute(self, argv: Sequence[str], streams: Streams) -> int:
        """Find and run a program; the texts of a program not found are bash's."""
        name = argv[0]
        path = self.find(name)
        if path is None:
            reason = "No such file or directory" if "/" in name else "command not found"
            streams.err += f"{self.name}: {name}: {reason}\n".encode()
            if "/" not in name and name not in known_programs():
                self.journal.mysteries.append(f"command {name}")
            return 127
        return await self.execute_path(path, argv, streams)

    async def execute_path(self, path: str, argv: Sequence[str], streams: Streams) -> int:
        """Run the file at `path`."""
        from lab.tools import run_program

        try:
            entry = self.host.files.entry(self.absolute(path), self.user)
        except FileError as error:
            streams.err += f"{self.name}: {argv[0]}: {error.reason}\n".encode()
            return 126 if error.reason == "Permission denied" else 127
        if entry.kind is Kind.FOLDER:
            streams.err += f"{self.name}: {argv[0]}: Is a directory\n".encode()
            return 126
        if not entry.allows(self.user, 1):
            streams.err += f"{self.name}: {argv[0]}: Permission denied\n".encode()
            return 126
        if entry.program:
            return await run_program(entry.program, self, argv, streams)
        if not entry.allows(self.user, 4):
            streams.err += f"/bin/bash: {path}: Permission denied\n".encode()
            return 126
        script = self.child(name=f"{path}: line 1", arguments=tuple(argv[1:]), errexit=False)
        return await script.run_line(entry.read().decode(errors="replace"), streams)

    def find(self, name: str) -> str | None:
        """The path that `name` runs, by PATH."""
        if "/" in name:
            return name if self._exists(self.absolute(name)) else None
        for folder in self.variables.get("PATH", "").split(":"):
            path = posixpath.join(folder, name)
            try:
                entry = self.host.files.entry(path, self.user)
            except FileError:
                continue
            if entry.kind is Kind.FILE and entry.allows(self.user, 1):
                return path
        return None

    def absolute(self, path: str) -> str:
        """A path as seen from the working directory."""
        return posixpath.join(self.cwd, path)

    def _exists(self, path: str) -> bool:
        try:
            self.host.files.entry(path, self.user)
        except FileError as error:
            # What lies behind a closed folder is reported by whoever opens it.
            return error.reason == "Permission denied"
        return True

    async def _builtin(self, words: list[str], streams: Streams) -> int:
        name, arguments = words[0], words[1:]
        if name == "exit":
            raise Exit(int(arguments[0]) & 255 if arguments else self.status)
        if name == "cd":
            return self._cd(arguments, streams)
        if name == "export":
            self.variables |= dict(
                argument.split("=", 1) for argument in arguments if "=" in argument
            )
            return 0
        if name == "unset":
            for argument in arguments:
                self.variables.pop(argument, None)
            return 0
        if name == "set":
            return self._set(arguments)
        if name in ("command", "type"):
            return await self._command_builtin(name, arguments, streams)
        if name == "exec" and arguments:
            raise Exit(await self.execute(arguments, streams))
        if name == "read":
            line, _, streams.stdin = streams.stdin.partition(b"\n")
            self.variables[arguments[-1] if arguments else "REPLY"] = line.decode()
            return 0 if line or streams.stdin else 1
        if name == "shift":
            self.arguments = self.arguments[1:]
        return 0

    def _cd(self, arguments: list[str], streams: Streams) -> int:
        wanted = arguments[0] if arguments else self.variables["HOME"]
        path = posixpath.normpath(self.absolute(wanted))
        try:
            entry = self.host.files.entry(path, self.user)
            if entry.kind is not Kind.FOLDER:
                raise FileError(wanted, "Not a directory")
            if not entry.allows(self.user, 1):
                raise FileError(wanted, "Permission denied")
        except FileError as error:
            streams.err += f"{self.name}: cd: {wanted}: {error.reason}\n".encode()
            return 1
        self.cwd = self.variables["PWD"] = path
        return 0

    def _set(self, arguments: list[str]) -> int:
        flags = iter(arguments)
        for flag in flags:
            on = flag.startswith("-")
            if flag[1:] == "o":
                option = next(flags, "")
                self.pipefail = on if option == "pipefail" else self.pipefail
                self.errexit = on if option == "errexit" else self.errexit
            elif "e" in flag[1:]:
                self.errexit = on
            if flag[1:].endswith("o") and len(flag) > 2:
                self.pipefail = on if next(flags, "") == "pipefail" else self.pipefail
        return 0

    async def _command_builtin(self, name: str, arguments: list[str], streams: Streams) -> int:
        if name == "command" and arguments and not arguments[0].startswith("-"):
            return await self.execute(arguments, streams)
        rc = 1
        for wanted in arguments:
            if wanted.startswith("-"):
                continue
            path = wanted if wanted in _BUILTINS else self.find(wanted)
            if path:
                text = f"{wanted} is {path}\n" if name == "type" else f"{path}\n"
                streams.out += text.encode()
                rc = 0
            elif name == "type":
                streams.err += f"{self.name}: type: {wanted}: not found\n".encode()
        return rc

    async def _redirected(
        self, redirects: Sequence[Redirect], streams: Streams
    ) -> tuple[Streams, list[tuple[str, bytearray, bool]]] | None:
        result = Streams(streams.stdin, streams.out, streams.err)
        finish: list[tuple[str, bytearray, bool]] = []
        for redirect in redirects:
            target = await self._joined(redirect.target, streams)
            if redirect.operator == ">&":
                source = result.out if target == "1" else result.err
                if redirect.fd == 1:
                    result.out = source
                else:
                    result.err = source
                continue
            if redirect.operator == "<<<":
                result.stdin = target.encode() + b"\n"
                continue
            try:
                if redirect.operator == "<":
                    result.stdin = self._input(target)
                    continue
                buffer = bytearray()
                finish.append((target, buffer, redirect.operator == ">>"))
                self.host.files.write(self.absolute(target), b"", self.user, append=True)
            except FileError as error:
                result.err += f"{self.name}: {target}: {error.reason}\n".encode()
                return None
            except ConnectionError as error:
                result.err += f"{self.name}: connect: {error}\n".encode()
                result.err += f"{self.name}: {target}: {error}\n".encode()
                return None
            if redirect.fd == 1:
                result.out = buffer
            else:
                result.err = buffer
        return result, finish

    def _input(self, target: str) -> bytes:
        from lab.tools.network import knock

        device = re.fullmatch(r"/dev/tcp/([^/]+)/(\d+)", target)
        if device:
            knock(self.world, self.host, device.group(1), int(device.group(2)))
            return b""
        return self.host.files.read(self.absolute(target), self.user)

    def _finish(self, finish: list[tuple[str, bytearray, bool]]) -> None:
        for target, buffer, append in finish:
            self.host.files.write(self.absolute(target), bytes(buffer), self.user, append=append)

    async def _joined(self, word: Word, streams: Streams) -> str:
        return "".join([await self._value(piece, streams) for piece in self._tilde(word)])

    def _tilde(self, word: Word) -> Word:
        first = word[0] if word else None
        if isinstance(first, Text) and not first.quoted and first.text == "~":
            following = word[1] if len(word) > 1 else None
            if following is None or (isinstance(following, Text) and following.text == "/"):
                return (Text(self.variables.get("HOME", "/"), quoted=True), *word[1:])
        return word

    async def _value(self, piece: Piece, streams: Streams) -> str:
        if isinstance(piece, Text):
            return piece.text
        if isinstance(piece, Variable):
            return self._variable(piece)
        inner = Streams(streams.stdin, bytearray(), streams.err)
        shell = self.child()
        try:
            self.status = await shell.run_script(piece.script, inner)
        except Exit as leave:
            self.status = leave.rc
        return bytes(inner.out).decode(errors="surrogateescape").rstrip("\n")

    def _variable(self, piece: Variable) -> str:
        if piece.name == "?":
            return str(self.status)
        if piece.name == "#":
            return str(len(self.arguments))
        if piece.name in ("@", "*"):
            return " ".join(self.arguments)
        if piece.name.isdigit():
            index = int(piece.name)
            found = "bash" if index == 0 else "".join(self.arguments[index - 1 : index])
        else:
            found = self.variables.get(piece.name, "")
        return found or piece.fallback or ""

    async def _expand(self, words: Sequence[Word], streams: Streams) -> list[str]:
        result: list[str] = []
        for word in words:
            result.extend(await self._fields(self._tilde(word), streams))
        return result

    async def _fields(self, word: Word, streams: Streams) -> list[str]:
        fields: list[str] = []
        current: str | None = None
        pattern = False
        for piece in word:
            value = await self._value(piece, streams)
            if isinstance(piece, Text) or piece.quoted:
                pattern = pattern or (not piece.quoted and bool(set(value) & set("*?[")))
                current = (current or "") + value
                continue
            parts = re.split(r"[ \t\n]+", value)
            for index, part in enumerate(parts):
                if index and current is not None:
                    fields.append(current)
                    current = None
                if part:
                    current = (current or "") + part
        if current is not None:
            fields.extend(self._glob(current) if pattern else [current])
        return fields

    def _glob(self, pattern: str) -> list[str]:
        found = [""]
        absolute = pattern.startswith("/")
        for part in pattern.strip("/").split("/"):
            grown: list[str] = []
            for base in found:
                folder = base or ("/" if absolute else self.cwd)
                try:
                    real, entry = self.host.files.resolve(folder, self.user)
                    readable = entry.kind is Kind.FOLDER and entry.allows(self.user, 4)
                except FileError:
                    continue
                names = [part] if not set(part) & set("*?[") else []
                if not names and readable:
                    names = [
                        name
                        for name in self.host.files.children(real)
                        if fnmatchcase(name, part) and (part[0] == "." or name[0] != ".")
                    ]
                prefix = base.rstrip("/") + "/" if base or absolute else ""
                grown += [
                    prefix + name for name in names if self._exists(self.absolute(prefix + name))
                ]
            found = grown
        return sorted(found) if found and pattern.strip("/") else [pattern]


def known_programs() -> frozenset[str]:
    """Programs whose absence on a host is a fact of the model, not a gap of the lab."""
    from lab.tools import PROGRAMS

    return frozenset(PROGRAMS) | {
        "kubectl",
        "keepalived",
        "rke2",
        "crictl",
        "cilium",
        "hubble",
        "helm",
        "argocd",
        "env",
    }
