"""Inside a container's unit: its output goes where containerd would write it."""

from __future__ import annotations

import os
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
    argv = manifest["spec"]["containers"][0]["command"]
    os.execv(argv[0], argv)  # noqa: S606 no shell is the point: the unit's main process is the program
