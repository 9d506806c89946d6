"""git: the questions that gates ask about a checkout."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from lab.ceph_lan import VARIABLES
from lab.filesystem import FileError
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.repository import Repository
    from lab.tools.call import Call

ENABLED = "natgw_ceph_routing_enabled"
_FATAL = 128
_GLOBAL = (["--no-replace-objects"], ["--no-optional-locks"])


async def git(call: Call) -> int:
    """`git [-C PATH] rev-parse|merge-base|status|log …`."""
    words = list(call.arguments)
    if words == ["--version"]:
        call.say("git version 2.43.0")
        return 0
    folder = call.path(".")
    while words[:1] != ["-C"] and (words[:1] == ["-c"] or words[:1] in _GLOBAL):
        words = words[2 if words[0] == "-c" else 1 :]
    while words[:1] == ["-C"] and len(words) > 1:
        folder = posixpath.normpath(posixpath.join(folder, call.path(words[1])))
        words = words[2:]
        try:
            call.files.entry(folder, call.user)
        except FileError as error:
            call.complain(f"fatal: cannot change to '{folder}': {error.reason}")
            return _FATAL
    repository = call.world.operations.repositories.get((call.host.name, folder))
    if repository is None or not call.files.has(f"{folder}/.git"):
        call.complain("fatal: not a git repository (or any of the parent directories): .git")
        return _FATAL
    command, arguments = (words or [""])[0], words[1:]
    verbs = {
        "rev-parse": _rev_parse,
        "merge-base": _merge_base,
        "status": _status,
        "ls-files": _ls_files,
        "log": _log,
        "grep": _grep,
    }
    if command not in verbs:
        raise UsageError(f"git: '{command}' is not a git command. See 'git --help'.")
    return verbs[command](call, repository, arguments)


def _rev_parse(call: Call, repository: Repository, arguments: list[str]) -> int:
    if arguments == ["--is-shallow-repository"]:
        call.say(str(repository.shallow).lower())
        return 0
    if arguments == ["--is-inside-work-tree", "--show-prefix"]:
        call.say("true\n")
        return 0
    for name in arguments:
        if name == "--verify":
            continue
        commit = repository.named(name.removesuffix("^{commit}"))
        if commit is None:
            call.say(name)
            call.complain(
                f"fatal: ambiguous argument '{name}': unknown revision or path not in the working "
                "tree.\nUse '--' to separate paths from revisions, like this:\n"
                "'git <command> [<revision>...] -- [<file>...]'"
            )
            return _FATAL
        call.say(commit)
    return 0


def _merge_base(call: Call, repository: Repository, arguments: list[str]) -> int:
    if len(arguments) != 3 or arguments[0] != "--is-ancestor":
        raise UsageError("usage: git merge-base --is-ancestor <commit> <commit>", 129)
    found = []
    for name in arguments[1:]:
        commit = repository.named(name)
        if commit is None:
            call.complain(f"fatal: Not a valid commit name {name}")
            return _FATAL
        found.append(commit)
    return 0 if repository.is_ancestor(*found) else 1


def _status(call: Call, repository: Repository, arguments: list[str]) -> int:
    options = split(
        arguments,
        flags=("--porcelain",),
        valued=("--untracked-files", "--ignore-submodules"),
        name="git",
        refuse="error: unknown option `{flag}'",
        rc=129,
        clustered=False,
    )
    if "--porcelain" not in options:
        raise UsageError("git: the lab prints `status --porcelain` only", 129)
    hidden = options.get("--untracked-files") == "no"
    for line in repository.changes:
        if not (hidden and line.startswith("??")):
            call.say(line)
    return 0


def _ls_files(call: Call, repository: Repository, arguments: list[str]) -> int:
    """`ls-files -v`: what Git was told not to look at, beside what it looks at."""
    if arguments != ["-v"]:
        raise UsageError("git: the lab knows `ls-files -v` only", 129)
    for line in ("H ansible/playbooks/cilium.yml", *repository.hidden):
        call.say(line)
    return 0


def _grep(call: Call, repository: Repository, arguments: list[str]) -> int:
    """`grep -h -e ^natgw_ceph_ HEAD -- FILE`: the lines of the group variables."""
    if arguments != ["-h", "-e", "^natgw_ceph_", "HEAD", "--", VARIABLES]:
        raise UsageError("git: the lab greps the gateway's variables only", 129)
    del repository
    lan = call.world.ceph_lan
    call.say(f"{ENABLED}: {str(lan.flipped).lower()}")
    call.say(f'natgw_ceph_address: "{lan.source if lan.flipped else ""}"')
    return 0


def _log(call: Call, repository: Repository, arguments: list[str]) -> int:
    if arguments[:3] == ["-1", "--format=%H", f"-G^{ENABLED}:"]:
        if call.world.ceph_lan.flipped:
            call.say(repository.head)
        return 0
    if arguments != ["--oneline", "-1"]:
        raise UsageError("git: the lab knows `log --oneline -1` only", 129)
    call.say(f"{repository.head[:7]} (HEAD -> main, origin/main) The commit's subject")
    return 0
