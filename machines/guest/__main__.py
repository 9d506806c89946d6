"""The commands of the stand-in: those of `rke2`, `crictl`, its units and its kubelet."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Final

from . import (
    agent,
    client,
    container,
    crictl,
    encryption,
    in_container,
    journal,
    kubelet,
    reset,
    server,
    snapshots,
)
from .config import load
from .paths import CONFIG, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .config import Config

_PATH = "--cluster-reset-restore-path"


def main(arguments: list[str]) -> int:
    """Run one command; its exit status."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in _COMMANDS:
        return _COMMANDS[name](rest)
    journal.fatal(f"the stand-in for rke2 has no command {name!r}")
    return 1


def _version(_: Sequence[str]) -> int:
    sys.stdout.write(f"rke2 version {VERSION}\n")
    return 0


def _agent(_: Sequence[str]) -> int:
    config = _configuration()
    return 1 if config is None else agent.run(config)


def _configuration() -> Config | None:
    try:
        return load(CONFIG)
    except (OSError, ValueError) as reason:
        journal.fatal(f"Failed to load the configuration: {reason}")
        return None


def _kill_kubelet(_: Sequence[str]) -> int:
    kubelet.stop()
    return 0


def _server(flags: Sequence[str]) -> int:
    try:
        given = _flags(flags)
    except client.FatalError as reason:
        return client.fail(reason)
    config = _configuration()
    if config is None:
        return 1
    if token := given.get("--token"):
        config = dataclasses.replace(config, token=token)
    if "--cluster-reset" in given:
        return reset.run(config, given.get(_PATH, ""))
    return server.run(config)


def _flags(words: Sequence[str]) -> dict[str, str]:
    found = {}
    remaining = list(words)
    while remaining:
        name, equals, value = remaining.pop(0).partition("=")
        if name not in {"--cluster-reset", _PATH, "--token"}:
            raise client.FatalError(f"flag provided but not defined: {name}")
        if name != "--cluster-reset" and not equals:
            if not remaining:
                raise client.FatalError(f"flag needs an argument: {name}")
            value = remaining.pop(0)
        found[name] = value
    if _PATH in found and "--cluster-reset" not in found:
        raise client.FatalError(f"invalid flag use; --cluster-reset required with {_PATH}")
    return found


_COMMANDS: Final[dict[str, Callable[[Sequence[str]], int]]] = {
    "server": _server,
    "agent": _agent,
    "etcd-snapshot": snapshots.command,
    "secrets-encrypt": encryption.command,
    "crictl": crictl.command,
    "run-container": container.command,
    "in-container": in_container.command,
    "kill-kubelet": _kill_kubelet,
    "--version": _version,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
