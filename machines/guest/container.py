"""Inside a container's unit: its output goes where containerd would write it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NoReturn

from . import containers, podlog

if TYPE_CHECKING:
    from collections.abc import Sequence


def command(arguments: Sequence[str]) -> NoReturn:
    """Become the program of the one component named.

    Raises:
        KeyError: it has no manifest.
        OSError: there is no such program.
    """
    manifest = (containers.manifests() | containers.bound())[arguments[0]]
    podlog.capture(manifest)
    if arguments[0] == "kube-proxy":
        _forget_rules()
    argv = manifest["spec"]["containers"][0]["command"]
    os.execv(argv[0], argv)  # noqa: S606 no shell is the point: the unit's main process is the program


def _forget_rules() -> None:
    """Remove what an earlier kube-proxy left: with nft 1.0.6 it loses services that it finds."""
    for family in ("ip", "ip6"):
        argv = ["nft", "delete", "table", family, "kube-proxy"]
        subprocess.run(argv, capture_output=True, check=False)
