"""Where the lab keeps things: what is costly to make in the cache, what one lab is in the state."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT: Final = Path(__file__).resolve().parent.parent


def cache() -> Path:
    """Built binaries and images: `$RKE2_LAB_CACHE`, else `rke2-acceptance` in the XDG cache."""
    if chosen := os.environ.get("RKE2_LAB_CACHE"):
        return Path(chosen).expanduser().resolve()
    return _xdg("XDG_CACHE_HOME", ".cache") / "rke2-acceptance"


def state() -> Path:
    """Keys, disks and the inventory of the running lab, 0700; removed by `down`."""
    if chosen := os.environ.get("RKE2_LAB_STATE"):
        return Path(chosen).expanduser().resolve()
    return _xdg("XDG_STATE_HOME", ".local/state") / "rke2-acceptance" / "machines"


def _xdg(variable: str, fallback: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / fallback)


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Where to build `target`, a folder that is in the cache whole or not at all.

    What an earlier build left there goes first; what this one leaves when it fails stays.
    """
    partial = target.with_name(f"{target.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    yield partial
    partial.rename(target)


def make_private(folder: Path) -> Path:
    """Make `folder` with mode 0700 and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file that is 0600 from its first byte on, replacing what was there."""
    data = content.encode() if isinstance(content, str) else content
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
