"""The controller's side of a lab: files that gates read there, in the lab's own folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lab.scenario import ControllerFile

TMP: Final = "tmp"
"""Stands for the controller's /tmp, so that what lies in the machine's own plays no part."""


def lay_out(folder: Path, files: Iterable[ControllerFile]) -> None:
    """Make the folders of the controller's side, and what scenarios put there or take away."""
    (folder / TMP).mkdir(mode=0o700, exist_ok=True)
    for file in files:
        path = folder / file.path
        if file.delete:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.content is not None or not path.exists():
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(file.content or "")
        if file.mode is not None:
            path.chmod(file.mode)
