"""Reads YAML with line numbers, so that a mistake can be named by file and line."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_LARGEST = 1 << 20
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ScenarioError(ValueError):
    """A mistake in a scenario file: `FILE:LINE: what is wrong and what would be right`."""


@dataclass(frozen=True, slots=True)
class Marked:
    """One YAML value and where it stands. `what` names it in errors (`replies[2].rc`)."""

    path: Path
    node: yaml.Node
    what: str

    def error(self, problem: str) -> ScenarioError:
        """A mistake at this place."""
        where = f"{self.what}: " if self.what else ""
        return ScenarioError(f"{self.path}:{self.line}: {where}{problem}")

    @property
    def line(self) -> int:
        """Line number, from 1."""
        return int(self.node.start_mark.line) + 1

    def plain(self) -> Any:
        """The value as plain Python data."""
        return _constructor().construct_document(self.node)

    def text(self) -> str:
        """A string.

        Raises:
            ScenarioError: something else.
        """
        value = self.plain()
        if not isinstance(value, str):
            raise self.error(f"must be text, not {_kind(value)}")
        return value

    def integer(self) -> int:
        """A whole number.

        Raises:
            ScenarioError: something else.
        """
        value = self.plain()
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"must be a whole number, not {_kind(value)}")
        return value

    def items(self) -> Iterator[Marked]:
        """The entries of a list.

        Raises:
            ScenarioError: not a list.
        """
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(f"must be a list, not {_kind(self.plain())}")
        for index, node in enumerate(self.node.value):
            yield Marked(self.path, node, f"{self.what}[{index}]")

    def mapping(self, known: Collection[str] | None = None) -> dict[str, Marked]:
        """The entries of a mapping; with `known`, no other keys.

        Raises:
            ScenarioError: not a mapping, an unknown key, a key twice.
        """
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"must be a mapping, not {_kind(self.plain())}")
        found: dict[str, Marked] = {}
        for key_node, node in self.node.value:
            key = Marked(self.path, key_node, self.what)
            # As it is written: YAML would read the key `on` as a truth value.
            name = str(key_node.value)
            if known is not None and name not in known:
                raise key.error(f"unknown key `{name}`{_hint(name, known)}")
            if name in found:
                raise key.error(f"`{name}` is there twice")
            found[name] = Marked(self.path, node, f"{self.what}.{name}" if self.what else name)
        return found


def read(path: Path) -> Marked:
    """The file's document.

    Raises:
        ScenarioError: it cannot be read or is not YAML.
    """
    try:
        text = _text(path)
        node = yaml.compose(text, Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ScenarioError(f"{path}: the scenario cannot be read: {reason}") from None
    except RecursionError:
        raise ScenarioError(f"{path}: not a scenario: it is nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{path}:{line}: not YAML: {error.problem}") from None
    if node is None:
        raise ScenarioError(f"{path}:1: the scenario is empty")
    return Marked(path, node, "")


def _text(path: Path) -> str:
    """The text of a regular file: a device may never end, and a pipe waits for its writer."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ScenarioError(f"{path}: not a scenario: it is no regular file")
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ScenarioError(f"{path}: not a scenario: it is larger than {_LARGEST >> 20} MiB")
    return data.decode("utf-8")


def _constructor() -> Any:
    return yaml.SafeLoader("")


def _hint(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, known, n=1)
    if close:
        return f", did you mean `{close[0]}`?"
    return f"; known: {', '.join(sorted(known))}"


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a truth value"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), f"`{value}`")
