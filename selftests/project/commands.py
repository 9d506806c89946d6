"""The commands that the pages tell somebody to type."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from selftests.project.tree import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PAGES: Final = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
PROGRAMS: Final = ("pytest", "python")

_FENCE: Final = re.compile(r"^ *```[a-z]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Command:
    """One command as a page shows it: which page, and its words."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        """For the name of a test."""
        return f"{self.page}: {shlex.join(self.words)}"


def commands(page: Path) -> Iterator[Command]:
    """Those in the page's blocks and in its sentences."""
    text = page.read_text("utf-8")
    yield from of_blocks(page.name, text)
    yield from _found(page.name, _CODE.findall(_FENCE.sub("", text).replace("\\|", "|")))


def of_blocks(page: str, text: str) -> Iterator[Command]:
    """Those in the text's blocks, in order."""
    for match in _FENCE.finditer(text):
        yield from _found(page, match.group(1).replace("\\\n", " ").splitlines())


def _found(page: str, lines: Iterable[str]) -> Iterator[Command]:
    """Comments and quotes are the shell's; behind `--` stands another command."""
    for line in lines:
        if not line.strip().removeprefix(".venv/bin/").startswith(PROGRAMS):
            continue
        words = shlex.split(line.strip().removeprefix(".venv/bin/"), comments=True)
        if len(words) > 1 and words[0] in PROGRAMS:
            yield Command(page, tuple(words))
        inner = words[words.index("--") + 1 :] if "--" in words else []
        if inner and inner[0] in PROGRAMS:
            yield Command(page, tuple(inner))
