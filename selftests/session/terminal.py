"""Runs the suite on a terminal of its own, as an operator who sits before it."""

from __future__ import annotations

import os
import pty
import select
import sys
from dataclasses import dataclass, field
from typing import Self

from selftests.project.tree import ROOT
from selftests.session.suite import Ended, environment

_LIMIT = 60.0


@dataclass
class Attended:
    """A run on a terminal.

    Attributes:
        shown: all that was printed so far.
    """

    pid: int
    terminal: int
    shown: str = field(default="")

    @classmethod
    def start(cls, *args: str) -> Self:
        """`pytest …` with stdin, stdout and stderr on a new terminal."""
        program = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args]
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execve(sys.executable, program, environment(COLUMNS="160"))
        return cls(pid, terminal)

    def until(self, text: str) -> None:
        """Read what is printed until that text is there.

        Raises:
            AssertionError: the run ended, or took too long.
        """
        while text not in self.shown:
            assert self._read(), f"never shown: {text}\n{self.shown}"

    def type(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def end(self) -> Ended:
        """Read to the end."""
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.terminal)
        return Ended(os.waitstatus_to_exitcode(status), self.shown)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.terminal], [], [], _LIMIT)
        assert ready, f"silent for {_LIMIT:.0f} s:\n{self.shown}"
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)
