"""Real outputs, captured once, as (command, stdout, stderr, rc)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CAPTURES = Path(__file__).with_name("captures")


@dataclass(frozen=True)
class Captured:
    command: str
    stdout: str
    stderr: str
    rc: int


def captured(file: str) -> tuple[Captured, ...]:
    """Every command of a file, in either of the two forms the captures are written in."""
    text = (CAPTURES / file).read_text()
    return tuple(_prefixed(text) if re.search(r"^rc=\d+$", text, re.MULTILINE) else _headed(text))


def like(file: str, command: str) -> list[Captured]:
    found = [each for each in captured(file) if re.search(command, each.command)]
    assert found, f"{file} has no `{command}`"
    return found


def _prefixed(text: str) -> Iterator[Captured]:
    for block in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *lines = block.split("\n")
        rc = next((int(line[3:]) for line in lines if line.startswith("rc=")), None)
        if rc is not None:
            streams = [
                "".join(f"{line[2:]}\n" for line in lines if line.startswith(mark))
                for mark in ("O|", "E|")
            ]
            yield Captured(command, streams[0], streams[1], rc)


def _headed(text: str) -> Iterator[Captured]:
    pattern = re.compile(
        r"^\$ (.*)\n--stdout\n((?:.*\n)*?)--stderr\n((?:.*\n)*?)--rc (\d+)$", re.MULTILINE
    )
    for command, stdout, stderr, rc in pattern.findall(text):
        yield Captured(command, stdout, stderr, int(rc))
