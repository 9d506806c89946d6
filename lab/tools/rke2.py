"""The rke2 binary and its scripts; its subcommands have files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import actions, journal, layout
from lab.filesystem import FileError
from lab.reset import ClusterReset
from lab.tools.call import UsageError
from lab.tools.encryption import status
from lab.tools.etcd_snapshot import etcd_snapshot

if TYPE_CHECKING:
    from lab.tools.call import Call

_TOKEN = "/var/lib/rancher/rke2/server/token"  # noqa: S105 a path
_RESTORE = "--cluster-reset-restore-path"


async def rke2(call: Call) -> int:
    """`rke2 --version|etcd-snapshot|secrets-encrypt|server`."""
    if call.arguments[:1] in (("--version",), ("-v",)):
        call.say(f"rke2 version {layout.RKE2} (c4f306e6)")
        call.say("go version go1.26.8")
        return 0
    command, words = (call.arguments or ("",))[0], list(call.arguments[1:])
    if command == "server":
        return await _server(call, words)
    if command in ("etcd-snapshot", "secrets-encrypt"):
        if (complaint := _no_token(call)) is not None:
            return journal.fatal(call, complaint)
        tool = etcd_snapshot if command == "etcd-snapshot" else status
        return await tool(call, words)
    raise UsageError(f"No help topic for '{command}'", 3)


def _no_token(call: Call) -> str | None:
    try:
        call.files.read(_TOKEN, call.user)
    except FileError as error:
        return f"open {_TOKEN}: {error.reason.lower()}"
    return None


async def _server(call: Call, words: list[str]) -> int:
    values = dict(word.partition("=")[::2] for word in words)
    if unknown := sorted(set(values) - {"--cluster-reset", _RESTORE}):
        raise UsageError(f"Incorrect Usage: flag provided but not defined: {unknown[0]}")
    if call.user != "root":
        return journal.fatal(call, "must run as root unless --disable-agent is specified")
    if "--cluster-reset" not in values:
        if _RESTORE in values:
            return journal.fatal(
                call, f"invalid flag use; --cluster-reset required with {_RESTORE}"
            )
        raise UsageError("the lab starts servers by systemctl only")
    return await ClusterReset(call, values.get(_RESTORE)).run()


async def rke2_killall(call: Call) -> int:
    """`rke2-killall.sh`: ends every process of RKE2 on the host."""
    if call.user != "root":
        call.complain("rke2-killall.sh: must be run as root")
        return 1
    actions.kill_all(call.world, call.host)
    return 0
