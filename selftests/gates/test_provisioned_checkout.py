"""E.0: the infrastructure checkout on ops01."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.installed import (
    CHANGES,
    COMMIT,
    CONTAINS,
    HEAD,
    HIDDEN,
    INSIDE,
    NAMED,
    OPS,
    REVIEWED,
    SHALLOW,
    installed,
)
from selftests.gates.test_provisioning import LOCALE, provisioned
from selftests.gates.world import Reply

GONE = "fatal: cannot change to '/home/ubuntu/wetopi-infrastructure': No such file or directory\n"
NO_REPOSITORY = "fatal: not a git repository (or any of the parent directories): .git\n"
DAMAGED = "fatal: not a git repository: /home/ubuntu/elsewhere/.git/worktrees/ops\n"
AMBIGUOUS = (
    "error: short object ID d553643 is ambiguous\nhint: The candidates are:\n"
    "fatal: Not a valid commit name d553643\n"
)
BEHIND = "neither d553643 nor a descendant"


def unknown_commit(name: str, kind: str = "commit") -> Reply:
    return Reply(rc=128, stderr=f"fatal: Not a valid {kind} name {name}\n")


@pytest.mark.parametrize(
    ("command", "reply", "verdict", "said"),
    [
        (HEAD, Reply(stderr=GONE, rc=128), "FAIL", "there is no checkout"),
        (HEAD, Reply(stderr=f"{LOCALE}{GONE}", rc=128), "FAIL", "there is no checkout"),
        (HEAD, Reply(stderr=NO_REPOSITORY, rc=128), "FAIL", "there is no checkout"),
        (HEAD, Reply(stderr="fatal: detected dubious ownership in '…'\n", rc=128), "UNKNOWN", ""),
        (HEAD, Reply("main\n"), "UNKNOWN", "not a commit id"),
        (HEAD, Reply(COMMIT[:12] + "\n"), "UNKNOWN", "not a commit id"),
        (HEAD, Reply(stderr="bash: git: command not found\n", rc=127), "UNKNOWN", "tool missing"),
        (HEAD, Reply(silent="ops01: no answer within 15 s"), "UNKNOWN", "no answer"),
        (CONTAINS, Reply(rc=1), "FAIL", BEHIND),
        (CONTAINS, Reply(rc=1, stderr=LOCALE), "FAIL", BEHIND),
        (CONTAINS, Reply(rc=0, stderr=LOCALE), "PASS", ""),
        (CONTAINS, Reply(rc=1, stderr="error: could not read IPC response\n"), "UNKNOWN", ""),
        (CONTAINS, unknown_commit("d553643"), "FAIL", BEHIND),
        (CONTAINS, unknown_commit("d553643", "object"), "FAIL", BEHIND),
        (CONTAINS, unknown_commit("HEAD"), "UNKNOWN", "proves nothing"),
        (CONTAINS, Reply(rc=128, stderr="error: short object ID is ambiguous\n"), "UNKNOWN", ""),
        (REVIEWED, Reply(rc=1), "FAIL", "not on origin/main as it was fetched"),
        (REVIEWED, unknown_commit("refs/remotes/origin/main"), "UNKNOWN", "git fetch origin"),
        (CHANGES, Reply(" M ansible/x.yml\n?? notes\n"), "FAIL", "`M ansible/x.yml`, `?? notes`"),
        (CHANGES, Reply("nothing to commit, working tree clean\n"), "UNKNOWN", ""),
        (CHANGES, Reply("", "fatal: index file corrupt\n", 128), "UNKNOWN", "index file corrupt"),
        (INSIDE, Reply("false\n\n"), "UNKNOWN", "looks at another work tree"),
        (INSIDE, Reply("true\nansible/\n"), "UNKNOWN", "is `ansible/` of a checkout"),
        (INSIDE, Reply("true\n"), "UNKNOWN", "not two lines"),
        (SHALLOW, Reply("perhaps\n"), "PASS", ""),
        (HEAD, Reply(stderr=DAMAGED, rc=128), "UNKNOWN", "worktrees/ops"),
        (NAMED, Reply(f"{'a' * 40}\n"), "UNKNOWN", "the name of a branch or a tag"),
        (NAMED, Reply(stderr="fatal: Needed a single revision\n", rc=128), "UNKNOWN", "Needed"),
        (CONTAINS, Reply(stderr=AMBIGUOUS, rc=128), "UNKNOWN", ""),
        (HIDDEN, Reply("h ansible/site.yml\nS ansible/x.yml\n"), "UNKNOWN", "and 1 more"),
        (HIDDEN, Reply("", "fatal: index file corrupt\n", 1), "UNKNOWN", "index file corrupt"),
        (HIDDEN, Reply("", LOCALE, 1), "PASS", ""),
        (HIDDEN, Reply("", "bash: grep: command not found\n", 127), "UNKNOWN", "tool missing"),
    ],
)
def test_checkout(command: str, reply: Reply, verdict: str, said: str) -> None:
    decided = provisioned(command, reply)
    assert decided.verdict == verdict, decided.text
    assert said in decided.text


@pytest.mark.parametrize("shallow", ["true\n", "?\n"])
def test_a_history_that_is_cut_off_proves_nothing(shallow: str) -> None:
    world = installed()
    world.say(OPS, SHALLOW, Reply(shallow))
    world.say(OPS, CONTAINS, unknown_commit("d553643"))
    assert decide(world, "E.0").verdict == "UNKNOWN"


@pytest.mark.parametrize("command", [CONTAINS, REVIEWED])
def test_no_in_a_history_that_is_cut_off_proves_nothing(command: str) -> None:
    world = installed()
    world.say(OPS, SHALLOW, Reply("true\n"))
    assert decide(world, "E.0").verdict == "PASS"
    world.say(OPS, command, Reply(rc=1))
    decided = decide(world, "E.0")
    assert decided.verdict == "UNKNOWN"
    assert "fetch --unshallow" in decided.text


def test_changes_are_known_whatever_is_hidden() -> None:
    world = installed()
    world.say(OPS, CHANGES, Reply(" M ansible/x.yml\n"))
    world.say(OPS, HIDDEN, Reply(silent="ops01: no answer within 15 s"))
    assert decide(world, "E.0").verdict == "FAIL"


def test_many_changes_are_told_in_part() -> None:
    decided = provisioned(CHANGES, Reply("".join(f"?? file{n}\n" for n in range(20))))
    assert "file4" in decided.text
    assert "file5" not in decided.text
    assert "and 15 more" in decided.text
