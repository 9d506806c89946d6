"""The commands of the stand-in: `server`, `--version`, and the two that its units use."""

from __future__ import annotations

import sys

from . import containers, journal, kubelet, server
from .config import load
from .paths import CONFIG, VERSION


def main(arguments: list[str]) -> int:
    """Run one command; its exit status."""
    match arguments:
        case ["server"]:
            return _server()
        case ["run-container", component]:
            containers.run(component)
        case ["kill-kubelet"]:
            kubelet.stop()
            return 0
        case ["--version"]:
            sys.stdout.write(f"rke2 version {VERSION}\n")
            return 0
        case ["agent"]:
            journal.fatal(
                "this worker has not been joined: /etc/rancher/rke2/config.yaml is absent"
            )
            return 1
    journal.fatal(f"the stand-in for rke2 has no command {' '.join(arguments)!r}")
    return 1


def _server() -> int:
    try:
        config = load(CONFIG)
    except (OSError, ValueError) as reason:
        journal.fatal(f"Failed to load the configuration: {reason}")
        return 1
    return server.run(config)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
