"""Parses the part of the shell language that one-liners and small scripts use.

What is not understood raises `UnknownSyntax`: the lab says so instead of guessing.
"""

from __future__ import annotations

from lab.syntax import (
    Chain,
    Command,
    For,
    Group,
    If,
    Piece,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Text,
    UnknownSyntax,
    Variable,
    While,
    Word,
)

_OPERATORS = ("&&", "||", ";;", "|&", "|", ";", "&", "\n", "(", ")")
_REDIRECTS = ("<<<", "<<", "&>>", "&>", ">>", ">&", "<&", ">|", ">", "<")
_RESERVED = frozenset({"then", "elif", "else", "fi", "do", "done", "}", "esac", "in"})
_SPECIAL = "?$#@*!-0123456789"


class _Reader:
    """Recursive descent over one text; `_at` is the next character."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def script(self, *closers: str) -> Script:
        chains: list[Chain] = []
        while True:
            self._blank(newlines=True)
            if self._at >= len(self._text) or self._closes(closers):
                return Script(tuple(chains))
            chains.append(self._chain())
            self._blank()
            if self._take("&") and not self._text.startswith("&", self._at):
                raise UnknownSyntax("a command in the background")
            if not (self._take(";") or self._take("\n") or self._closes(closers)):
                if self._at < len(self._text):
                    raise UnknownSyntax(f"near `{self._text[self._at : self._at + 10]}`")
                return Script(tuple(chains))

    def done(self) -> bool:
        return self._at >= len(self._text)

    def _closes(self, closers: tuple[str, ...]) -> bool:
        return any(self._sees_word(closer) for closer in closers)

    def _sees_word(self, word: str) -> bool:
        if not self._text.startswith(word, self._at):
            return False
        after = self._text[self._at + len(word) : self._at + len(word) + 1]
        return word == ")" or after == "" or after in " \t\n;&|)"

    def _expect(self, word: str) -> None:
        self._blank(newlines=True)
        if not self._sees_word(word):
            raise UnknownSyntax(f"`{word}` is missing")
        self._at += len(word)

    def _chain(self) -> Chain:
        first = self._pipeline()
        rest: list[tuple[str, Pipeline]] = []
        while True:
            self._blank()
            operator = next((op for op in ("&&", "||") if self._take(op)), None)
            if operator is None:
                return Chain(first, tuple(rest))
            self._blank(newlines=True)
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> Pipeline:
        self._blank()
        negated = self._sees_word("!")
        if negated:
            self._at += 1
        commands = [self._command()]
        while True:
            self._blank()
            if self._text.startswith("||", self._at) or not self._take("|"):
                return Pipeline(tuple(commands), negated)
            if self._take("&"):
                raise UnknownSyntax("`|&`")
            self._blank(newlines=True)
            commands.append(self._command())

    def _command(self) -> Command:
        self._blank()
        for word, parse in (
            ("if", self._if),
            ("for", self._for),
            ("while", self._while),
            ("until", self._while),
        ):
            if self._sees_word(word):
                return parse()
        if self._take("("):
            body = self.script(")")
            self._expect(")")
            return Group(body, True, self._redirects())
        if self._sees_word("{"):
            self._at += 1
            body = self.script("}")
            self._expect("}")
            return Group(body, False, self._redirects())
        return self._simple()

    def _if(self) -> If:
        branches: list[tuple[Script, Script]] = []
        word = "if"
        while self._sees_word(word):
            self._at += len(word)
            condition = self.script("then")
            self._expect("then")
            branches.append((condition, self.script("elif", "else", "fi")))
            word = "elif"
        otherwise = None
        if self._sees_word("else"):
            self._at += 4
            otherwise = self.script("fi")
        self._expect("fi")
        return If(tuple(branches), otherwise)

    def _for(self) -> For:
        self._at += 3
        self._blank()
        name = self._name()
        self._expect("in")
        words: list[Word] = []
        while True:
            self._blank()
            if self._take(";") or self._take("\n"):
                break
            words.append(self._word())
        self._expect("do")
        body = self.script("done")
        self._expect("done")
        return For(name, tuple(words), body)

    def _while(self) -> While:
        until = self._sees_word("until")
        self._at += 5
        condition = self.script("do")
        self._expect("do")
        body = self.script("done")
        self._expect("done")
        return While(condition, body, until)

    def _simple(self) -> Simple:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self._blank()
            redirect = self._redirect()
            if redirect:
                redirects.extend(redirect)
                continue
            if self._at >= len(self._text) or self._text.startswith(_OPERATORS, self._at):
                break
            if not words and (assigned := self._assignment()):
                assignments.append(assigned)
                continue
            words.append(self._word())
        if not (assignments or words or redirects):
            near = self._text[self._at : self._at + 10]
            raise UnknownSyntax(f"a command is missing near `{near}`")
        if words and words[0] and _plain(words[0]) in _RESERVED | {"case", "function", "[["}:
            raise UnknownSyntax(f"`{_plain(words[0])}`")
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _assignment(self) -> tuple[str, Word] | None:
        end = self._at
        while end < len(self._text) and (self._text[end].isalnum() or self._text[end] == "_"):
            end += 1
        if end == self._at or not self._text.startswith("=", end) or self._text[self._at].isdigit():
            return None
        name = self._text[self._at : end]
        self._at = end + 1
        here = self._text[self._at : self._at + 1]
        return name, () if here in ("", " ", "\t", "\n", ";", "&", "|") else self._word()

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        while True:
            self._blank()
            redirect = self._redirect()
            if not redirect:
                return tuple(found)
            found.extend(redirect)

    def _redirect(self) -> list[Redirect]:
        at = self._at
        while at < len(self._text) and self._text[at].isdigit():
            at += 1
        number = self._text[self._at : at]
        operator = next((op for op in _REDIRECTS if self._text.startswith(op, at)), None)
        if operator is None:
            return []
        self._at = at + len(operator)
        self._blank()
        if operator in ("<<", "<&"):
            raise UnknownSyntax(f"`{operator}`")
        target = self._word()
        if operator in ("&>", "&>>"):
            return [
                Redirect(1, operator[1:], target),
                Redirect(2, ">&", (Text("1", quoted=False),)),
            ]
        fd = int(number) if number else 0 if operator.startswith("<") else 1
        return [Redirect(fd, ">" if operator == ">|" else operator, target)]

    def _word(self) -> Word:
        pieces: list[Piece] = []
        start = self._at
        while self._at < len(self._text):
            here = self._text[self._at]
            if here in " \t\n;&|()<>":
                break
            if here == "'":
                pieces.append(Text(self._until("'"), quoted=True))
            elif here == '"':
                pieces.extend(self._double())
            elif here == "\\":
                self._at += 2
                pieces.append(Text(self._text[self._at - 1 : self._at], quoted=True))
            elif here in "$`":
                pieces.append(self._dollar(quoted=False))
            else:
                pieces.append(Text(here, quoted=False))
                self._at += 1
        if self._at == start:
            raise UnknownSyntax(f"near `{self._text[start : start + 10]}`")
        return tuple(pieces)

    def _until(self, closer: str) -> str:
        end = self._text.find(closer, self._at + 1)
        if end < 0:
            raise UnknownSyntax(f"unexpected EOF while looking for matching `{closer}'")
        text = self._text[self._at + 1 : end]
        self._at = end + 1
        return text

    def _double(self) -> list[Piece]:
        pieces: list[Piece] = [Text("", quoted=True)]
        self._at += 1
        while True:
            if self._at >= len(self._text):
                raise UnknownSyntax("unexpected EOF while looking for matching `\"'")
            here = self._text[self._at]
            if here == '"':
                self._at += 1
                return pieces
            if here in "$`":
                pieces.append(self._dollar(quoted=True))
                continue
            if here == "\\" and self._text[self._at + 1 : self._at + 2] in ('"', "\\", "$", "`"):
                self._at += 1
            elif here == "\\" and self._text.startswith("\n", self._at + 1):
                self._at += 2
                continue
            pieces.append(Text(self._text[self._at], quoted=True))
            self._at += 1

    def _dollar(self, *, quoted: bool) -> Piece:
        if self._text[self._at] == "`":
            return Substitution(parse(self._until("`")), quoted)
        if self._text.startswith("$((", self._at):
            raise UnknownSyntax("arithmetic")
        if self._text.startswith("$(", self._at):
            self._at += 2
            body = self.script(")")
            self._expect(")")
            return Substitution(body, quoted)
        if self._text.startswith("${", self._at):
            self._at += 1
            return self._braced(self._until("}"), quoted=quoted)
        following = self._text[self._at + 1 : self._at + 2]
        if following and following in _SPECIAL:
            self._at += 2
            return Variable(following, quoted)
        if following.isalpha() or following == "_":
            self._at += 1
            return Variable(self._name(), quoted)
        self._at += 1
        return Text("$", quoted)

    def _braced(self, inside: str, *, quoted: bool) -> Piece:
        name, mark, fallback = inside.partition(":-")
        if not (name.isidentifier() or name in _SPECIAL):
            raise UnknownSyntax(f"`${{{inside}}}`")
        return Variable(name, quoted, fallback if mark else None)

    def _name(self) -> str:
        start = self._at
        while self._at < len(self._text) and (
            self._text[self._at].isalnum() or self._text[self._at] == "_"
        ):
            self._at += 1
        return self._text[start : self._at]

    def _take(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _blank(self, *, newlines: bool = False) -> None:
        while self._at < len(self._text):
            if self._text.startswith("\\\n", self._at):
                self._at += 2
            elif self._text[self._at] in (" \t\n\r" if newlines else " \t\r"):
                self._at += 1
            elif self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return


def _plain(word: Word) -> str:
    return "".join(piece.text for piece in word if isinstance(piece, Text) and not piece.quoted)


def parse(text: str) -> Script:
    """The script in `text`.

    Raises:
        UnknownSyntax: it is not shell, or uses what this shell does not know.
    """
    reader = _Reader(text)
    script = reader.script()
    if not reader.done():
        raise UnknownSyntax("unexpected `)`")
    return script
