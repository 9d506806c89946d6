"""0.1 and 0.2 against real Git: what hides a change, and what forges a history."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.judge.preconditions import decisions_merged, infrastructure_reviewed
from fixtures.observe.checkouts import Checkouts
from selftests.gates.checkout_stand import Checkout, Here, clone, made, verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fixtures.core.inventory import Cluster


def reviewed(cluster: Cluster) -> tuple[str, str]:
    return verdict(lambda: infrastructure_reviewed(Checkouts(cluster, Here()).infrastructure()))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return made(tmp_path / "infrastructure")


def detached(checkout: Checkout) -> None:
    checkout.git("checkout", "-q", "--detach")


def in_a_worktree(checkout: Checkout) -> Checkout:
    target = checkout.path.with_name("worktree")
    checkout.git("worktree", "add", "-q", "--detach", str(target))
    return Checkout(target, checkout.commits)


def a_clone(checkout: Checkout) -> Checkout:
    return clone(checkout)


def ignored_files(checkout: Checkout) -> None:
    checkout.write("node-token", "0123456789abcdef\n")


@pytest.mark.parametrize("state", [detached, in_a_worktree, a_clone, ignored_files])
def test_where_a_checkout_lies_and_how_it_got_there_is_no_matter(
    state: Callable[[Checkout], Checkout | None], checkout: Checkout
) -> None:
    found = state(checkout) or checkout
    assert reviewed(found.cluster()) == ("PASS", "")


def assumed_unchanged(checkout: Checkout) -> None:
    checkout.git("update-index", "--assume-unchanged", "ansible/site.yml")
    checkout.write("ansible/site.yml", "changed\n")


def left_out_of_the_work_tree(checkout: Checkout) -> None:
    checkout.git("update-index", "--skip-worktree", "ansible/site.yml")
    checkout.write("ansible/site.yml", "changed\n")


def commit_apart_from_a_cut_history(checkout: Checkout) -> Checkout:
    checkout.git("config", "uploadpack.allowAnySHA1InWant", "true")
    found = clone(checkout, "--depth", "1")
    found.git("fetch", "-q", "--depth", "1", "origin", checkout.commits[1])
    return found


def cut_history(checkout: Checkout) -> Checkout:
    return clone(checkout, "--depth", "1")


def head_beyond_a_cut_origin(checkout: Checkout) -> Checkout:
    found = clone(checkout, "--depth", "1")
    found.git("checkout", "-q", "--orphan", "other")
    found.git("commit", "-q", "-m", "Other")
    return found


def worktree_without_its_repository(checkout: Checkout) -> Checkout:
    found = in_a_worktree(checkout)
    shutil.rmtree(checkout.path)
    return found


def tag_named_like_the_commit(checkout: Checkout) -> None:
    checkout.git("tag", checkout.commits[1][:10], checkout.commits[0])


def nothing_checked_out(checkout: Checkout) -> Checkout:
    target = checkout.path.with_name("unborn")
    target.mkdir()
    found = Checkout(target, checkout.commits)
    found.git("init", "-q")
    return found


def broken_configuration(checkout: Checkout) -> None:
    checkout.write(".git/config", "[core\n")


def never_fetched(checkout: Checkout) -> None:
    checkout.git("update-ref", "-d", "refs/remotes/origin/main")


def another_work_tree(checkout: Checkout) -> None:
    clean = shutil.copytree(checkout.path, checkout.path.with_name("clean"))
    shutil.rmtree(clean / ".git")
    checkout.git("config", "core.worktree", str(clean))
    checkout.write("ansible/site.yml", "changed\n")


def folder_beside_what_is_hidden(checkout: Checkout) -> Checkout:
    checkout.git("update-index", "--assume-unchanged", "README.md")
    checkout.write("README.md", "changed\n")
    return Checkout(checkout.path / "ansible", checkout.commits)


@pytest.mark.parametrize(
    "state",
    [
        another_work_tree,
        folder_beside_what_is_hidden,
        assumed_unchanged,
        left_out_of_the_work_tree,
        commit_apart_from_a_cut_history,
        cut_history,
        head_beyond_a_cut_origin,
        worktree_without_its_repository,
        tag_named_like_the_commit,
        nothing_checked_out,
        broken_configuration,
        never_fetched,
    ],
)
def test_what_cannot_be_known_is_neither_clean_nor_wrong(
    state: Callable[[Checkout], Checkout | None], checkout: Checkout
) -> None:
    found = state(checkout) or checkout
    said = reviewed(found.cluster())
    assert said[0] == "UNKNOWN", said


def changed_behind_a_monitor(checkout: Checkout) -> None:
    hook = checkout.path.with_name("monitor")
    hook.write_text("#!/bin/sh\nprintf 'token\\0'\n")
    hook.chmod(0o755)
    checkout.git("config", "core.fsmonitor", str(hook))
    checkout.git("config", "core.fsmonitorHookVersion", "2")
    checkout.git("status")
    checkout.git("status")
    checkout.write("ansible/site.yml", "changed behind its back\n")


def changed_in_a_submodule(checkout: Checkout) -> None:
    other = made(checkout.path.with_name("other"))
    allowed = ("-c", "protocol.file.allow=always")
    checkout.git(*allowed, "submodule", "add", "-q", str(other.path), "sub")
    checkout.git("config", "-f", ".gitmodules", "submodule.sub.ignore", "all")
    checkout.commit("Add a submodule")
    checkout.fetch()
    checkout.write("sub/README.md", "changed\n")


def untracked_by_configuration(checkout: Checkout) -> None:
    checkout.git("config", "status.showUntrackedFiles", "no")
    checkout.write("ansible/own.yml", "---\n")


def hostile_names(checkout: Checkout) -> None:
    checkout.git("config", "core.quotePath", "false")
    for name in (b"caf\xe9", b"a\nb\x1b[31m", "c\u2028d".encode()):
        (checkout.path / os.fsdecode(name)).touch()


def forged_parent(checkout: Checkout) -> None:
    checkout.git("checkout", "-q", "--orphan", "forged")
    forged = checkout.commit("Forged", **{"ansible/site.yml": "changed\n"})
    checkout.commits.pop()
    checkout.git("replace", "--graft", forged, checkout.commits[-1])
    checkout.fetch(forged)


def graft(checkout: Checkout, line: str) -> None:
    checkout.write(".git/info/grafts", f"{line}\n")


def grafted_parent(checkout: Checkout) -> None:
    checkout.git("checkout", "-q", "--orphan", "forged")
    forged = checkout.commit("Forged", **{"ansible/site.yml": "changed\n"})
    checkout.commits.pop()
    graft(checkout, f"{forged} {checkout.commits[-1]}")
    checkout.fetch(forged)


def grafted_into_the_reviewed_line(checkout: Checkout) -> None:
    checkout.git("checkout", "-q", "-b", "side")
    mine = checkout.commit("Nobody's")
    checkout.commits.pop()
    graft(checkout, f"{checkout.commits[-1]} {checkout.commits[1]} {mine}")


def another_file_of_the_same_time(checkout: Checkout) -> None:
    checkout.git("config", "core.trustctime", "false")
    checkout.git("config", "core.checkStat", "minimal")
    path, long_ago = checkout.path / "ansible/site.yml", (0, 0)
    os.utime(path, long_ago)
    checkout.git("status")
    path.rename(checkout.path.with_name("site.yml"))
    path.write_text("+++\n")
    os.utime(path, long_ago)


def newer_than_what_was_fetched(checkout: Checkout) -> None:
    checkout.commit("Newer")


def not_there(checkout: Checkout) -> None:
    shutil.rmtree(checkout.path)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (changed_behind_a_monitor, "M ansible/site.yml"),
        (changed_in_a_submodule, "M sub"),
        (untracked_by_configuration, "?? ansible/own.yml"),
        (hostile_names, r"\033[31m"),
        (forged_parent, "nor a descendant"),
        (grafted_parent, "nor a descendant"),
        (grafted_into_the_reviewed_line, "not on origin/main as it was fetched"),
        (another_file_of_the_same_time, "M ansible/site.yml"),
        (newer_than_what_was_fetched, "not on origin/main as it was fetched"),
        (not_there, "there is no checkout"),
    ],
)
def test_what_is_wrong_shows(
    state: Callable[[Checkout], None], why: str, checkout: Checkout
) -> None:
    state(checkout)
    said = reviewed(checkout.cluster())
    assert said[0] == "FAIL", said
    assert why in said[1]
    assert "\x1b" not in said[1]


def test_a_fix_is_what_touches_the_tasks_of_both_roles(checkout: Checkout) -> None:
    (other,) = (
        checkout.commit(
            "Speak of both roles",
            **{"docs/rke2-server/README.md": "x\n", "ansible/roles/rke2-agent/tasks/x.yml": "x\n"},
        ),
    )
    checkout.fetch()
    cluster = replace(checkout.cluster(), commits={"infrastructure": other})
    said = reviewed(cluster)
    assert said[0] == "FAIL"
    assert "does not touch the tasks of role rke2-server" in said[1]


def test_looking_writes_nothing(checkout: Checkout) -> None:
    index = checkout.path / ".git/index"
    os.utime(checkout.path / "ansible/site.yml")
    before = index.stat()
    assert reviewed(checkout.cluster())[0] == "PASS"
    after = index.stat()
    # The time of the last reading may be another: it is read.
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_git_that_is_missing_is_no_missing_checkout(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = checkout.cluster()
    monkeypatch.setenv("PATH", "/nowhere")
    said = reviewed(cluster)
    assert said[0] == "UNKNOWN"
    assert "tool missing" in said[1]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/decisions", "PASS"),
        ("decisions", "PASS"),
        ("docs/superseded", "FAIL"),
        ("docs/my-decisions", "FAIL"),
    ],
)
def test_decisions_lie_among_the_decisions(path: str, expected: str, checkout: Checkout) -> None:
    names = ("ADR-0004-rke2-api-endpoint.md", "ADR-0005-cilium-first-addon.md")
    checkout.commit("Decide", **{f"{path}/{name}": "Accepted.\n" for name in names})
    seen = Checkouts(checkout.cluster(), Here()).docs()
    assert verdict(lambda: decisions_merged(seen))[0] == expected
