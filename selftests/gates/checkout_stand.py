"""Real Git repositories on this machine, and what the gates of phase 0 make of them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fixtures.core.requests import HostCommand, Silence
from fixtures.core.verdicts import Undecided
from fixtures.remote import controller
from fixtures.remote.errors import LinkError
from selftests.gates.world import AT, wetopi

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Answer, Request
    from fixtures.judge.findings import Findings

_CAP = 1 << 20
_WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "ada"), ("EMAIL", "ada@lab"), ("DATE", "2026-08-30T00:00:00Z"))
}
ROLES = ("rke2-server", "rke2-agent")


class Here:
    """Asks the controller for real: this machine."""

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return {request: self._answer(request) for request in requests}

    refresh = ask

    def _answer(self, request: Request) -> Answer:
        assert isinstance(request, HostCommand)
        try:
            return controller.run(request, _CAP)
        except LinkError as error:
            return Silence(request, str(error), AT, 0.0)


@dataclass
class Checkout:
    """An infrastructure checkout with a fix on its reviewed line, made commit by commit."""

    path: Path
    commits: list[str] = field(default_factory=list)

    def git(self, *words: str, stdin: bytes = b"") -> str:
        environment = {**os.environ, **_WHO, "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ["git", "-C", str(self.path), *words],
            check=True,
            capture_output=True,
            input=stdin,
            env=environment,
        ).stdout.decode(errors="replace")

    def write(self, path: str, text: str) -> None:
        (self.path / path).parent.mkdir(parents=True, exist_ok=True)
        (self.path / path).write_text(text)

    def commit(self, message: str, **files: str) -> str:
        for path, text in files.items():
            self.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        self.commits.append(self.git("rev-parse", "HEAD").strip())
        return self.commits[-1]

    def fetch(self, commit: str = "HEAD") -> None:
        """Let origin/main be that commit, as if it had been fetched."""
        self.git("update-ref", "refs/remotes/origin/main", commit)

    def cluster(self, **paths: Path) -> Cluster:
        commits = {"infrastructure": self.commits[1][:10], "docs": self.commits[1][:10]}
        return replace(
            wetopi(),
            commits=commits,
            controller={"infrastructure": self.path, "docs": self.path, **paths},
        )


def made(path: Path) -> Checkout:
    """A clean checkout on the reviewed line: begin, fix, more."""
    path.mkdir(parents=True)
    checkout = Checkout(path)
    checkout.git("init", "-q", "-b", "main")
    checkout.commit("Begin", **{".gitignore": "node-token\n", "README.md": "begin\n"})
    tasks = {f"ansible/roles/{role}/tasks/main.yml": "fix\n" for role in ROLES}
    checkout.commit("Fix", **tasks)
    checkout.commit("More", **{"ansible/site.yml": "---\n"})
    checkout.fetch()
    return checkout


def verdict(judge: Callable[[], Findings]) -> tuple[str, str]:
    """PASS, FAIL or UNKNOWN, and why."""
    try:
        findings = judge()
    except Undecided as undecided:
        return "UNKNOWN", str(undecided)
    return ("FAIL" if findings else "PASS"), "; ".join(findings)


def clone(checkout: Checkout, *words: str) -> Checkout:
    """A clone of it beside it."""
    target = checkout.path.with_name("clone")
    subprocess.run(
        ["git", "clone", "-q", *words, f"file://{checkout.path}", str(target)],
        check=True,
        capture_output=True,
    )
    return Checkout(target, checkout.commits)
