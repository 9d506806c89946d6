"""Every process of the lab lives below one control group, so that none can be lost.

Namespaces, mounts and bridges are held by those processes alone: when the group is empty, nothing
of the lab is left in the kernel.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from typing import Final

from machines.errors import LabError

_NAME: Final = "rke2-acceptance"
_MOUNT: Final = Path("/sys/fs/cgroup")
_WAIT: Final = 15.0
# What a group that goes away answers: before it is opened, and afterwards.
_GONE: Final = {errno.ENOENT, errno.ENODEV}


def hierarchies() -> tuple[Path, ...]:
    """The trees in which systemd keeps its groups: one, or two on a hybrid host.

    Raises:
        LabError: the host has none mounted.
    """
    if (_MOUNT / "cgroup.controllers").exists():
        return (_MOUNT,)
    found = tuple(path for name in ("systemd", "unified") if (path := _MOUNT / name).is_dir())
    if not found:
        raise LabError(f"no control group hierarchy is mounted at {_MOUNT}")
    return found


def groups(unit: str) -> tuple[Path, ...]:
    """The groups of one part of the lab: a machine, or a namespace holder."""
    return tuple(root / _NAME / unit for root in hierarchies())


def create(unit: str) -> tuple[Path, ...]:
    """Make the groups of `unit` and return them."""
    made = groups(unit)
    for group in made:
        group.mkdir(parents=True, exist_ok=True)
    return made


def enter(unit: str) -> None:
    """Put this process, and so its children, into the groups of `unit`."""
    for group in create(unit):
        (group / "cgroup.procs").write_text(f"{os.getpid()}\n")


def processes(unit: str = "") -> set[int]:
    """The pids of `unit`; without a name, of the whole lab."""
    pids: set[int] = set()
    for group in groups(unit):
        # Groups go away while we look; `os.walk` passes over those that did.
        for folder, _, _ in os.walk(group):
            pids.update(_listed(Path(folder) / "cgroup.procs"))
    return pids


def _listed(processes: Path) -> list[int]:
    try:
        return [int(pid) for pid in processes.read_text().split()]
    except OSError as reason:
        if reason.errno in _GONE:
            return []
        raise


def units() -> list[str]:
    """The parts of the lab that have a group."""
    names = {
        group.name for root in hierarchies() for group in (root / _NAME).glob("*") if group.is_dir()
    }
    return sorted(names)


def end(unit: str = "") -> int:
    """Kill every process of `unit` (or the whole lab), remove its groups; how many were killed.

    Raises:
        LabError: some process is still there after 15 s.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + _WAIT
    while alive := processes(unit):
        if time.monotonic() > deadline:
            raise LabError(f"processes {sorted(alive)} of the lab do not end")
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        killed |= alive
        time.sleep(0.05)
    for group in groups(unit):
        _remove(group)
    return len(killed)


def _remove(group: Path) -> None:
    if not group.is_dir():
        return
    for path in sorted(group.rglob("*"), key=lambda path: len(path.parts), reverse=True):
        if path.is_dir():
            path.rmdir()
    group.rmdir()
