"""The shell language as data: what a command line means, before anything runs.

Words keep what was quoted, so that expansion can split and glob as a shell does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


class UnknownSyntax(Exception):  # noqa: N818
    """The line uses what this shell does not know, or is not shell at all."""


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """`$NAME` or `${NAME}`; `fallback` is the word of `${NAME:-word}`."""

    name: str
    quoted: bool
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)` or backquotes."""

    script: Script
    quoted: bool


Piece: TypeAlias = Text | Variable | Substitution
Word: TypeAlias = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """`fd op target`: `>`, `>>`, `<`, `>&` (target is a number) or `<<<`."""

    fd: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, words and redirections."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`{ …; }`, or `( … )` in a subshell."""

    body: Script
    subshell: bool
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`if`: conditions with their bodies, then the `else` body."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None


@dataclass(frozen=True, slots=True)
class For:
    """`for NAME in words`."""

    name: str
    words: tuple[Word, ...]
    body: Script


@dataclass(frozen=True, slots=True)
class While:
    """`while`, or `until`."""

    condition: Script
    body: Script
    until: bool


Command: TypeAlias = Simple | Group | If | For | While


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`; `!` negates."""

    commands: tuple[Command, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """A pipeline and what follows it by `&&` or `||`; `&` runs it in the background."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...] = ()
    background: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Chains one after the other."""

    chains: tuple[Chain, ...]
