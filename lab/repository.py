"""A Git checkout on a host of the lab, as far as questions about it go."""

from __future__ import annotations

from dataclasses import dataclass, field

from lab import checkouts


@dataclass(slots=True)
class Repository:
    """A checkout.

    Attributes:
        parents: the commits that are known here, each with the one before it.
        head: what is checked out.
        fetched: origin/main; None if it was never fetched.
        changes: what `git status --porcelain` prints.
        hidden: lines of `git ls-files -v` about what Git was told not to look at.
        shallow: the history is cut off.
    """

    parents: dict[str, str | None]
    head: str
    fetched: str | None
    changes: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    shallow: bool = False

    def named(self, name: str) -> str | None:
        """The commit that a name means; None if there is none, or more than one."""
        known = {"HEAD": self.head, "origin/main": self.fetched, "main": self.head}
        name = name.removeprefix("refs/remotes/")
        if name in known:
            return known[name]
        found = [commit for commit in self.parents if commit.startswith(name)]
        return found[0] if len(found) == 1 and len(name) >= 4 else None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `old` is `new` or comes before it."""
        at: str | None = new
        while at is not None:
            if at == old:
                return True
            at = self.parents.get(at)
        return False

    def commit(self, ident: str) -> str:
        """A new commit on top of what is checked out, which is then checked out."""
        self.parents[ident] = self.head
        self.head = ident
        return ident


def infrastructure() -> Repository:
    """A fresh clone of the infrastructure repository."""
    commits = checkouts.infrastructure().commits
    parents: dict[str, str | None] = dict(zip(commits, [None, *commits], strict=False))
    return Repository(parents, commits[-1], commits[-1])
