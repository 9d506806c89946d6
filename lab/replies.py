"""Wire-level answers: what one command answers, whatever the model says."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from enum import Enum, auto
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

LOCALE_WARNING = b"bash: warning: setlocale: LC_ALL: cannot change locale (es_ES.UTF-8)\n"
BLOCK = b"0123456789abcdef" * 4095 + b"0123456789abcde\n"


@dataclass(frozen=True, slots=True)
class Noise:
    """What commands print on stderr beside their answer.

    Attributes:
        host: glob of host names.
        command: searched in the command line as it was sent.
        size: bytes in all; `block` is repeated as often as it fits, once at least.
    """

    host: str
    command: re.Pattern[str]
    size: int
    block: bytes = BLOCK

    def blocks(self, host: str, line: str) -> int:
        """How many blocks this command line prints on this host."""
        if not fnmatchcase(host, self.host) or not self.command.search(line):
            return 0
        return max(1, self.size // len(self.block))


class Cut(Enum):
    """What is cut in the middle of an answer."""

    BASTION = auto()
    NODE = auto()


@dataclass(slots=True)
class Severing:
    """A link that breaks after a command has done its work, before its answer is sent.

    Attributes:
        host: glob of host names.
        command: searched in the command line as it was sent.
        times: how often it still happens.
    """

    host: str
    command: re.Pattern[str]
    where: Cut = Cut.BASTION
    times: int = 1

    def cuts(self, host: str, line: str) -> bool:
        """Whether the link breaks now; that is counted."""
        if self.times < 1 or not fnmatchcase(host, self.host) or not self.command.search(line):
            return False
        self.times -= 1
        return True


@dataclass(slots=True)
class Reply:
    """One answer (contract: design, section 2.6).

    Attributes:
        host: glob of host names; None when `pod` is set.
        pod: glob of `namespace/name` for what runs by exec inside a pod.
        command: searched in the command line as it was sent.
        times: how many calls it still answers; None is all.
        after: seconds before the answer; infinity hangs.
        repeat: how often stdout and stderr are sent (floods without keeping them in memory).
        cut: the link that breaks after the answer's first bytes, instead of an exit status.
        signal: the signal name the command dies of, instead of an exit status.
    """

    command: re.Pattern[str]
    host: str | None = None
    pod: str | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    rc: int = 0
    times: int | None = None
    after: float = 0.0
    repeat: int = 1
    cut: Cut | None = None
    signal: str | None = None
    used: int = field(default=0, compare=False)

    def answers_host(self, host: str, line: str) -> bool:
        """Whether it answers this command line on this host."""
        return self.host is not None and fnmatchcase(host, self.host) and self._matches(line)

    def answers_pod(self, pod: str, line: str) -> bool:
        """Whether it answers this line executed inside this pod."""
        return self.pod is not None and fnmatchcase(pod, self.pod) and self._matches(line)

    def _matches(self, line: str) -> bool:
        left = self.times is None or self.used < self.times
        return left and self.command.search(line) is not None

    async def take(self) -> None:
        """Count this answer as given and wait as long as it wants."""
        self.used += 1
        if math.isinf(self.after):
            await asyncio.get_running_loop().create_future()
        elif self.after:
            await asyncio.sleep(self.after)
