"""The streams of a process of the lab, and what leaves its shell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.children import Children

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


class Exit(Exception):  # noqa: N818
    """`exit`: leaves the shell with a status."""

    def __init__(self, rc: int) -> None:
        super().__init__(rc)
        self.rc = rc


class Stdin:
    """What a process reads. A client's input is waited for only once somebody reads.

    Args:
        content: what is there already.
        source: what else comes, in pieces, until its end.
    """

    def __init__(self, content: bytes = b"", source: AsyncIterator[bytes] | None = None) -> None:
        self._content = content
        self._source = source

    async def chunks(self) -> AsyncIterator[bytes]:
        """The pieces as they come."""
        content, self._content = self._content, b""
        if content:
            yield content
        source, self._source = self._source, None
        if source is not None:
            async for chunk in source:
                yield chunk

    async def read(self) -> bytes:
        """Everything up to the end."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def take(self, count: int) -> bytes:
        """The next bytes, so many at most; the others stay."""
        content = await self.read()
        taken, self._content = content[:count], content[count:]
        return taken

    async def line(self) -> bytes:
        """The next line with its newline; empty at the end."""
        text = await self.read()
        line, newline, self._content = text.partition(b"\n")
        return line + newline


def _kept() -> None:
    pass


@dataclass(slots=True)
class Streams:
    """Standard input, and where output goes; the same object twice is `2>&1`.

    Attributes:
        flush: hands on what was written until now, which else happens at the command's end.
    """

    stdin: Stdin = field(default_factory=Stdin)
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    flush: Callable[[], None] = _kept


@dataclass(slots=True)
class Journal:
    """What one command line has begun, and what it met that the lab does not know."""

    mysteries: list[str] = field(default_factory=list)
    children: Children = field(default_factory=Children)
