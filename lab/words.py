"""Reads shell words: quotes, variables, substitutions. The base of the parser of commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from lab.syntax import Substitution, Text, UnknownSyntax, Variable

if TYPE_CHECKING:
    from lab.syntax import Piece, Script, Word

_SPECIAL = "?$#@*!-0123456789"


class WordReader(ABC):
    """One text and the next character in it.

    Attributes:
        text: all of it.
        at: index of the next character.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @abstractmethod
    def script(self, *closers: str) -> Script:
        """The list up to one of the closing words, which is not read."""

    def word(self) -> Word:
        """The next word; it ends where a shell's words end."""
        pieces: list[Piece] = []
        start = self.at
        while self.at < len(self.text):
            here = self.text[self.at]
            if here in " \t\n;&|()<>":
                break
            if here == "'":
                pieces.append(Text(self._until("'"), quoted=True))
            elif here == '"':
                pieces.extend(self._double())
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif here == "\\":
                self.at += 2
                pieces.append(Text(self.text[self.at - 1 : self.at], quoted=True))
            elif here in "$`":
                pieces.append(self._dollar(quoted=False))
            else:
                pieces.append(Text(here, quoted=False))
                self.at += 1
        if self.at == start:
            raise UnknownSyntax(f"near `{self.text[start : start + 10]}`")
        return tuple(pieces)

    def _until(self, closer: str) -> str:
        end = self.text.find(closer, self.at + 1)
        if end < 0:
            raise UnknownSyntax(f"unexpected EOF while looking for matching `{closer}'")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double(self) -> list[Piece]:
        pieces: list[Piece] = [Text("", quoted=True)]
        self.at += 1
        while True:
            if self.at >= len(self.text):
                raise UnknownSyntax("unexpected EOF while looking for matching `\"'")
            here = self.text[self.at]
            if here == '"':
                self.at += 1
                return pieces
            if here in "$`":
                pieces.append(self._dollar(quoted=True))
                continue
            if here == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "$", "`"):
                self.at += 1
            elif here == "\\" and self.text.startswith("\n", self.at + 1):
                self.at += 2
                continue
            pieces.append(Text(self.text[self.at], quoted=True))
            self.at += 1

    def _dollar(self, *, quoted: bool) -> Piece:
        if self.text[self.at] == "`":
            return Substitution(type(self)(self._until("`")).script(), quoted)
        if self.text.startswith("$((", self.at):
            raise UnknownSyntax("arithmetic")
        if self.text.startswith("$(", self.at):
            self.at += 2
            body = self.script(")")
            self.expect(")")
            return Substitution(body, quoted)
        if self.text.startswith("${", self.at):
            self.at += 1
            return self._braced(self._until("}"), quoted=quoted)
        following = self.text[self.at + 1 : self.at + 2]
        if following and following in _SPECIAL:
            self.at += 2
            return Variable(following, quoted)
        if following.isalpha() or following == "_":
            self.at += 1
            return Variable(self.name(), quoted)
        self.at += 1
        return Text("$", quoted)

    def _braced(self, inside: str, *, quoted: bool) -> Piece:
        name, mark, fallback = inside.partition(":-")
        if not (name.isidentifier() or name in _SPECIAL):
            raise UnknownSyntax(f"`${{{inside}}}`")
        return Variable(name, quoted, fallback if mark else None)

    def name(self) -> str:
        """The next name, as of a variable; may be empty."""
        start = self.at
        while self.at < len(self.text) and (
            self.text[self.at].isalnum() or self.text[self.at] == "_"
        ):
            self.at += 1
        return self.text[start : self.at]

    def sees(self, word: str) -> bool:
        """Whether this word comes next, as a word."""
        if not self.text.startswith(word, self.at):
            return False
        after = self.text[self.at + len(word) : self.at + len(word) + 1]
        return word == ")" or after == "" or after in " \t\n;&|)"

    def expect(self, word: str) -> None:
        """Read a word that must come next."""
        self.blank(newlines=True)
        if not self.sees(word):
            raise UnknownSyntax(f"`{word}` is missing")
        self.at += len(word)

    def take(self, text: str) -> bool:
        """Whether `text` comes next; it is then read."""
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def blank(self, *, newlines: bool = False) -> None:
        """Skip blanks, comments and continued lines."""
        while self.at < len(self.text):
            if self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] in (" \t\n\r" if newlines else " \t\r"):
                self.at += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return
