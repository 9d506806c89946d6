"""The streams of a process of the lab, and what leaves its shell."""

from __future__ import annotations

from dataclasses import dataclass, field


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
