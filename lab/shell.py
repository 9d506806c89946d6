"""Runs command lines on one host: lists, pipes, and finding what to run.

Texts and exit codes are bash's, as sshd runs a command: `bash -c LINE`.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.background import begin
from lab.builtins import BUILTINS
from lab.compound import run
from lab.expansion import fields, joined
from lab.filesystem import NO_SUCH_FILE, PERMISSION_DENIED, FileError, Kind
from lab.parser import parse
from lab.redirects import opened
from lab.streams import Exit, Journal, Stdin, Streams
from lab.syntax import UnknownSyntax
from lab.tools import known_programs, run_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.host import Host
    from lab.syntax import Chain, Pipeline, Script, Simple
    from lab.world import World

USER_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games:/snap/bin"
SECURE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"


@dataclass(slots=True)
class Shell:
    """One shell process.

    Attributes:
        user: whose permissions count.
        name: what error texts begin with.
        status: `$?`.
        substituted: status of the last `$(…)`, which is that of a bare assignment.
        variables: shell and environment variables alike.
        exit_trap: the line that `trap` set for the end.
    """

    world: World
    host: Host
    user: str
    variables: dict[str, str]
    journal: Journal
    name: str = "bash: line 1"
    cwd: str = "/"
    zero: str = "bash"
    arguments: tuple[str, ...] = ()
    status: int = 0
    substituted: int = 0
    errexit: bool = False
    pipefail: bool = False
    umask: int = 0o022
    exit_trap: str = ""

    @classmethod
    def login(cls, world: World, host: Host, user: str) -> Shell:
        """The shell sshd starts for a command."""
        home = f"/home/{user}" if user != "root" else "/root"
        variables = {"HOME": home, "USER": user, "LOGNAME": user, "PATH": USER_PATH, "PWD": home}
        variables |= {"SHELL": "/bin/bash", "LANG": "C.UTF-8"}
        return cls(world, host, user, variables, Journal(), cwd=home)

    def child(
        self,
        *,
        user: str | None = None,
        variables: dict[str, str] | None = None,
        name: str | None = None,
    ) -> Shell:
        """A subshell or a new process: its changes do not reach this one."""
        return replace(
            self,
            user=self.user if user is None else user,
            variables=dict(self.variables if variables is None else variables),
            name=self.name if name is None else name,
            exit_trap="",
        )

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
        finally:
            trapped, self.exit_trap = self.exit_trap, ""
            if trapped:
                await self.run_line(trapped, streams)

    async def run_script(self, script: Script, streams: Streams) -> int:
        """Run chains one after the other; the last one's status."""
        for chain in script.chains:
            if chain.background:
                begin(self, chain, streams)
                self.status = 0
            else:
                await self.run_chain(chain, streams)
        return self.status

    async def run_chain(self, chain: Chain, streams: Streams) -> None:
        """Run pipelines as `&&` and `||` say; `status` is the last one's."""
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
                statuses.append(await run(self, command, streams))
                break
            out = streams.out if index == last else bytearray()
            piped = Streams(stdin, out, streams.err, streams.flush)
            shell = self.child()
            try:
                statuses.append(await run(shell, command, piped))
            except Exit as leave:
                statuses.append(leave.rc)
            stdin = Stdin(bytes(out))
        rc = statuses[-1]
        if self.pipefail:
            rc = next((status for status in reversed(statuses) if status), 0)
        return int(rc == 0) if pipeline.negated else rc

    async def run_simple(self, command: Simple, streams: Streams) -> int:
        """Expand a command's words, and run the builtin or program that the first one names."""
        self.substituted = 0
        words = await fields(self, command.words, streams)
        assigned = {name: await joined(self, word, streams) for name, word in command.assignments}
        inner = await opened(self, command.redirects, streams)
        if inner is None:
            return 1
        if not words:
            self.variables |= assigned
            rc = self.substituted
        elif words[0] in BUILTINS:
            rc = await BUILTINS[words[0]](self, words[1:], inner.streams)
        else:
            shell = self.child(variables={**self.variables, **assigned}) if assigned else self
            rc = await shell.execute(words, inner.streams)
        inner.close(self)
        return rc

    async def substitute(self, script: Script, streams: Streams) -> str:
        """What `$(script)` stands for."""
        inner = Streams(streams.stdin, bytearray(), streams.err)
        try:
            self.substituted = await self.child().run_script(script, inner)
        except Exit as leave:
            self.substituted = leave.rc
        return bytes(inner.out).decode(errors="surrogateescape").rstrip("\n")

    async def execute(self, argv: Sequence[str], streams: Streams) -> int:
        """Find and run a program; the texts of a program not found are bash's."""
        name = argv[0]
        path = self.find(name)
        if path is None:
            reason = NO_SUCH_FILE if "/" in name else "command not found"
            streams.err += f"{self.name}: {name}: {reason}\n".encode()
            if "/" not in name and name not in known_programs():
                self.journal.mysteries.append(f"command {name}")
            return 127
        return await self.execute_path(path, argv, streams)

    async def execute_path(self, path: str, argv: Sequence[str], streams: Streams) -> int:
        """Run the file at `path`."""
        try:
            entry = self.host.files.entry(self.absolute(path), self.user)
        except FileError as error:
            streams.err += f"{self.name}: {argv[0]}: {error.reason}\n".encode()
            return 126 if error.reason == PERMISSION_DENIED else 127
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
        script = self.child(name=f"{path}: line 1")
        script.zero, script.arguments, script.errexit = path, tuple(argv[1:]), False
        return await script.run_line(entry.read().decode(errors="replace"), streams)

    def find(self, name: str) -> str | None:
        """The path that `name` runs, by PATH."""
        if "/" in name:
            return name if self.exists(name) else None
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

    def exists(self, path: str) -> bool:
        """Whether something is at `path`, as far as the user can tell."""
        try:
            self.host.files.entry(self.absolute(path), self.user)
        except FileError as error:
            # What lies behind a closed folder is reported by whoever opens it.
            return error.reason == PERMISSION_DENIED
        return True
