from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import anchors
from fixtures.applylog.errors import LedgerFull
from fixtures.applylog.ledger import RESERVE, Ledger
from fixtures.applylog.record import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator


class SimulatedDisk:
    """A disk of 1 MB, as far as `os.write` and what gives room back are concerned."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self._left = 1024 * 1024
        self._ballast = 0
        self._real = {name: getattr(os, name) for name in ("write", "ftruncate", "replace")}
        for name in self._real:
            monkeypatch.setattr(os, name, getattr(self, f"_{name}"))

    def fill(self) -> None:
        self._ballast, self._left = self._left, 0

    def empty(self) -> None:
        self._left += self._ballast

    def _write(self, handle: int, data: bytes) -> int:
        if not self._left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written: int = self._real["write"](handle, data[: self._left])
        self._left -= written
        return written

    def _ftruncate(self, handle: int, size: int) -> None:
        self._left += os.fstat(handle).st_size - size
        self._real["ftruncate"](handle, size)

    def _replace(self, source: str, target: str, **where: int) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._left += os.stat(target, dir_fd=where["dst_dir_fd"]).st_size
        self._real["replace"](source, target, **where)


class MountedDisk:
    """A tmpfs of 1 MB."""

    def __init__(self, path: Path) -> None:
        self.path = path
        options = ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", str(path)]
        subprocess.run(["mount", *options], check=True)

    def fill(self) -> None:
        with (self.path / "ballast").open("wb", buffering=0) as ballast:
            while shutil.disk_usage(self.path).free:
                ballast.write(b"x" * 4096)

    def empty(self) -> None:
        (self.path / "ballast").unlink()


def may_mount() -> bool:
    """Whether the kernel lets this process mount (CAP_SYS_ADMIN, bit 21)."""
    with contextlib.suppress(OSError):
        for row in Path("/proc/self/status").read_text().splitlines():
            if row.startswith("CapEff:"):
                return bool(int(row.split()[1], 16) >> 21 & 1)
    return False


@pytest.fixture(params=["simulated", "mounted"] if may_mount() else ["simulated"])
def small_disk(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SimulatedDisk | MountedDisk]:
    if request.param == "simulated":
        yield SimulatedDisk(tmp_path, monkeypatch)
        return
    yield MountedDisk(tmp_path)
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def write_on(ledger: Ledger, kind: Kind) -> None:
    """More than any room kept: 3 MB."""
    for _ in range(1000):
        ledger.append(kind, gate="C.1", text="x" * 3000)


def test_a_full_disk_loses_nothing_and_leaves_room_to_close(
    small_disk: SimulatedDisk | MountedDisk,
) -> None:
    ledger = Ledger.open(small_disk.path, "lab")
    ledger.append(Kind.RUN_START)
    small_disk.fill()

    with pytest.raises(LedgerFull, match="No space left on device; the line was not") as refused:
        write_on(ledger, Kind.DEVIATION)
    assert refused.value.recorded is None
    before = ledger.head
    with pytest.raises(LedgerFull, match="went into the reserve") as recorded:
        write_on(ledger, Kind.GATE)
    assert recorded.value.recorded is not None
    ledger.append(Kind.STEP, text="undone")
    ledger.append(Kind.RUN_END, status=3)
    with pytest.raises(LedgerFull):
        ledger.append(Kind.RUN_START)

    found = anchors.verify(ledger.folder)
    assert found.problems == ()
    assert found.head.seq > before.seq
    assert [line.kind for line in ledger.lines()][-2:] == [Kind.STEP, Kind.RUN_END]


def test_room_made_again_is_used_and_the_reserve_is_kept_anew(
    small_disk: SimulatedDisk | MountedDisk,
) -> None:
    ledger = Ledger.open(small_disk.path, "lab")
    small_disk.fill()
    with pytest.raises(LedgerFull):
        write_on(ledger, Kind.GATE)
    small_disk.empty()

    again = Ledger.open(small_disk.path, "lab")
    again.append(Kind.RUN_START)

    assert (again.folder / RESERVE).stat().st_blocks * 512 >= 256 * 1024
    assert anchors.verify(again.folder).problems == ()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_a_failing_write_is_rolled_back_and_said(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    ledger.append(Kind.RUN_START)
    before = ledger.path.read_bytes()
    real = os.write

    def write(handle: int, data: bytes) -> int:
        if bytes(data[:6]) == b'{"at":':
            real(handle, data[: len(data) // 2])
            raise OSError(code, os.strerror(code))
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(LedgerFull, match="the lines before it are safe"):
        ledger.append(Kind.AUTHORIZATION, name="anna")

    assert ledger.path.read_bytes() == before
    monkeypatch.undo()
    assert ledger.append(Kind.STEP).seq == 2


def test_the_reserve_is_really_there(ledger: Ledger) -> None:
    found = (ledger.folder / RESERVE).stat()

    assert found.st_size == 256 * 1024
    assert found.st_blocks * 512 >= found.st_size
