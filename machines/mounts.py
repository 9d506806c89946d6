"""The only file system the lab mounts on the host itself: a disk that is soon full."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from machines import dirs
from machines.commands import run

MOUNTINFO: Final = Path("/proc/self/mountinfo")


def mount_tiny(folder: Path, size: int) -> None:
    """Mount a tmpfs of `size` bytes, 0700, at `folder`.

    Raises:
        LabError: mount refused.
    """
    dirs.make_private(folder)
    run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "machines-lab", str(folder)])


def unmount_below(folder: Path) -> None:
    """Unmount whatever is mounted at or below `folder`, deepest first.

    Raises:
        LabError: umount refused, for instance because a process still has a file open there.
    """
    for path in sorted(_mounted_below(folder), reverse=True):
        run(["umount", str(path)])


def _mounted_below(folder: Path) -> list[Path]:
    listing = MOUNTINFO.read_text()
    points = [Path(_unescape(line.split()[4])) for line in listing.splitlines()]
    return [point for point in points if point.is_relative_to(folder)]


def _unescape(field: str) -> str:
    return field.encode().decode("unicode_escape")
