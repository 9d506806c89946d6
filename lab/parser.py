"""Parses the part of the shell language that one-liners and small scripts use.

What is not understood raises `UnknownSyntax`: the lab says so instead of guessing.
"""

from __future__ import annotations

from dataclasses import replace

from lab.syntax import (
    Chain,
    Command,
    For,
    Group,
    If,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Text,
    UnknownSyntax,
    While,
    Word,
)
from lab.words import WordReader

_OPERATORS = ("&&", "||", ";;", "|&", "|", ";", "&", "\n", "(", ")")
_REDIRECTS = ("<<<", "<<", "&>>", "&>", ">>", ">&", "<&", ">|", ">", "<")
_RESERVED = frozenset({"then", "elif", "else", "fi", "do", "done", "}", "esac", "in"})


class _Reader(WordReader):
    """Commands, pipelines and lists, by recursive descent."""

    def script(self, *closers: str) -> Script:
        """The list up to one of the closing words, which is not read."""
        chains: list[Chain] = []
        while True:
            self.blank(newlines=True)
            if self.at >= len(self.text) or self._closes(closers):
                return Script(tuple(chains))
            chains.append(self._chain())
            self.blank()
            if self.take("&"):
                chains[-1] = replace(chains[-1], background=True)
                continue
            if not (self.take(";") or self.take("\n") or self._closes(closers)):
                if self.at < len(self.text):
                    raise UnknownSyntax(f"near `{self.text[self.at : self.at + 10]}`")
                return Script(tuple(chains))

    def _closes(self, closers: tuple[str, ...]) -> bool:
        return any(self.sees(closer) for closer in closers)

    def _chain(self) -> Chain:
        first = self._pipeline()
        rest: list[tuple[str, Pipeline]] = []
        while True:
            self.blank()
            operator = next((op for op in ("&&", "||") if self.take(op)), None)
            if operator is None:
                return Chain(first, tuple(rest))
            self.blank(newlines=True)
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> Pipeline:
        self.blank()
        negated = self.sees("!")
        if negated:
            self.at += 1
        commands = [self._command()]
        while True:
            self.blank()
            if self.text.startswith("||", self.at) or not self.take("|"):
                return Pipeline(tuple(commands), negated)
            if self.take("&"):
                raise UnknownSyntax("`|&`")
            self.blank(newlines=True)
            commands.append(self._command())

    def _command(self) -> Command:
        self.blank()
        for word, parse in (
            ("if", self._if),
            ("for", self._for),
            ("while", self._while),
            ("until", self._while),
        ):
            if self.sees(word):
                return parse()
        if self.take("("):
            body = self.script(")")
            self.expect(")")
            return Group(body, True, self._redirects())
        if self.sees("{"):
            self.at += 1
            body = self.script("}")
            self.expect("}")
            return Group(body, False, self._redirects())
        return self._simple()

    def _if(self) -> If:
        branches: list[tuple[Script, Script]] = []
        word = "if"
        while self.sees(word):
            self.at += len(word)
            condition = self.script("then")
            self.expect("then")
            branches.append((condition, self.script("elif", "else", "fi")))
            word = "elif"
        otherwise = None
        if self.sees("else"):
            self.at += 4
            otherwise = self.script("fi")
        self.expect("fi")
        return If(tuple(branches), otherwise)

    def _for(self) -> For:
        self.at += 3
        self.blank()
        name = self.name()
        self.expect("in")
        words: list[Word] = []
        while True:
            self.blank()
            if self.take(";") or self.take("\n"):
                break
            words.append(self.word())
        self.expect("do")
        body = self.script("done")
        self.expect("done")
        return For(name, tuple(words), body)

    def _while(self) -> While:
        until = self.sees("until")
        self.at += 5
        condition = self.script("do")
        self.expect("do")
        body = self.script("done")
        self.expect("done")
        return While(condition, body, until)

    def _simple(self) -> Simple:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self.blank()
            redirect = self._redirect()
            if redirect:
                redirects.extend(redirect)
                continue
            if self.at >= len(self.text) or self.text.startswith(_OPERATORS, self.at):
                break
            if not words and (assigned := self._assignment()):
                assignments.append(assigned)
                continue
            words.append(self.word())
        if not (assignments or words or redirects):
            near = self.text[self.at : self.at + 10]
            raise UnknownSyntax(f"a command is missing near `{near}`")
        if words and words[0] and _plain(words[0]) in _RESERVED | {"case", "function", "[["}:
            raise UnknownSyntax(f"`{_plain(words[0])}`")
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _assignment(self) -> tuple[str, Word] | None:
        end = self.at
        while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            end += 1
        if end == self.at or not self.text.startswith("=", end) or self.text[self.at].isdigit():
            return None
        name = self.text[self.at : end]
        self.at = end + 1
        here = self.text[self.at : self.at + 1]
        return name, () if here in ("", " ", "\t", "\n", ";", "&", "|") else self.word()

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        while True:
            self.blank()
            redirect = self._redirect()
            if not redirect:
                return tuple(found)
            found.extend(redirect)

    def _redirect(self) -> list[Redirect]:
        at = self.at
        while at < len(self.text) and self.text[at].isdigit():
            at += 1
        number = self.text[self.at : at]
        operator = next((op for op in _REDIRECTS if self.text.startswith(op, at)), None)
        if operator is None:
            return []
        self.at = at + len(operator)
        self.blank()
        if operator in ("<<", "<&"):
            raise UnknownSyntax(f"`{operator}`")
        target = self.word()
        if operator in ("&>", "&>>"):
            return [
                Redirect(1, operator[1:], target),
                Redirect(2, ">&", (Text("1", quoted=False),)),
            ]
        fd = int(number) if number else 0 if operator.startswith("<") else 1
        return [Redirect(fd, ">" if operator == ">|" else operator, target)]


def _plain(word: Word) -> str:
    return "".join(piece.text for piece in word if isinstance(piece, Text) and not piece.quoted)


def parse(text: str) -> Script:
    """The script in `text`.

    Raises:
        UnknownSyntax: it is not shell, or uses what this shell does not know.
    """
    reader = _Reader(text)
    script = reader.script()
    if reader.at < len(text):
        raise UnknownSyntax("unexpected `)`")
    return script
