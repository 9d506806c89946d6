from __future__ import annotations

import contextlib
import errno
import fcntl
import multiprocessing
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import anchors
from fixtures.applylog.errors import LedgerError, LedgerFull
from fixtures.applylog.ledger import LOCK, LOG, RESERVE, Ledger
from fixtures.applylog.record import Head, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_lines_are_numbered_chained_and_read_back(ledger: Ledger) -> None:
    ledger.append(Kind.RUN_START, cluster="lab", mode="lab")
    ledger.append(Kind.STEP, text="two")

    first, second = ledger.lines()

    assert (first.seq, second.seq) == (1, 2)
    assert second.prev == first.hash
    assert second.run == "one"
    assert second.fields == {"text": "two"}
    assert ledger.head == Head(2, second.hash)


def test_a_second_run_goes_on_where_the_first_ended(tmp_path: Path, ledger: Ledger) -> None:
    ledger.append(Kind.RUN_START)

    assert Ledger.open(tmp_path, "lab", run="two").append(Kind.RUN_START).seq == 2


@pytest.mark.usefixtures("open_umask")
def test_everything_is_private_under_any_umask(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "reports", "lab")
    ledger.append(Kind.RUN_START)

    assert stat.S_IMODE(ledger.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in ledger.folder.iterdir()} == {0o600}


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", ".lab", "a\nb", "a" * 200])
def test_a_cluster_name_cannot_leave_the_reports_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError, match="cannot name a folder"):
        Ledger.open(tmp_path, name)


def test_loose_modes_are_tightened_and_said(tmp_path: Path, ledger: Ledger) -> None:
    ledger.append(Kind.RUN_START)
    ledger.path.chmod(0o644)
    ledger.folder.chmod(0o755)

    again = Ledger.open(tmp_path, "lab")

    assert stat.S_IMODE(again.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(again.folder.stat().st_mode) == 0o700
    assert len(again.notes) == 2
    assert "could be read or changed by others (0644)" in again.notes[1]


@pytest.mark.parametrize("name", ["", LOG, LOCK, RESERVE, "apply-log.head"])
def test_symbolic_links_are_not_followed(tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    folder = tmp_path / "reports" / "lab"
    if name:
        folder.mkdir(parents=True)
        elsewhere.touch()
    else:
        folder.parent.mkdir()
        elsewhere.mkdir()
    (folder / name if name else folder).symlink_to(elsewhere)

    with pytest.raises(LedgerError, match="symbolic link"):
        Ledger.open(tmp_path / "reports", "lab").append(Kind.RUN_START)
    assert elsewhere.is_dir() or elsewhere.read_bytes() == b""


def test_what_belongs_to_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = os.geteuid()
    Ledger.open(tmp_path, "lab")
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)

    with pytest.raises(LedgerError, match="not to you"):
        Ledger.open(tmp_path, "lab")


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")

    with pytest.raises(LedgerError, match="the apply log lives there"):
        Ledger.open(tmp_path / "reports", "lab")


def test_fields_cannot_take_the_envelopes_names(ledger: Ledger) -> None:
    for name in ("seq", "at", "run", "prev", "hash", "torn"):
        with pytest.raises(ValueError, match="cannot be named"):
            ledger.append(Kind.STEP, **{name: "x"})
    assert not list(ledger.lines())


def test_secrets_do_not_reach_the_disk(ledger: Ledger) -> None:
    ledger.append(Kind.STEP, text="password=hunter2hunter2", nested={"token": "hunter2"})

    assert b"hunter2" not in ledger.path.read_bytes()


def test_a_torn_tail_is_moved_aside_and_recorded_in_the_next_line(
    tmp_path: Path, ledger: Ledger
) -> None:
    ledger.append(Kind.RUN_START)
    with ledger.path.open("ab") as log:
        log.write(b'{"seq":2,"half')

    line = Ledger.open(tmp_path, "lab").append(Kind.RUN_START)

    (torn,) = line.fields["torn"]
    assert torn["bytes"] == 14
    aside = ledger.folder / torn["file"]
    assert aside.read_bytes() == b'{"seq":2,"half'
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    assert anchors.verify(ledger.folder).problems == ()


def test_a_torn_tail_left_while_another_run_is_open_is_settled_by_its_next_line(
    ledger: Ledger,
) -> None:
    ledger.append(Kind.RUN_START)
    with ledger.path.open("ab") as log:
        log.write(b"\x00" * 70_000)

    assert ledger.append(Kind.STEP).fields["torn"]
    assert anchors.verify(ledger.folder).lines == 2


def test_a_cut_log_is_refused_by_every_writer(tmp_path: Path, ledger: Ledger) -> None:
    for _ in range(3):
        ledger.append(Kind.STEP)
    rows = ledger.path.read_bytes().splitlines(keepends=True)
    ledger.path.write_bytes(b"".join(rows[:2]))

    with pytest.raises(LedgerError, match="ends with line 2, but the head file names line 3"):
        ledger.append(Kind.STEP)
    with pytest.raises(LedgerError, match="applylog verify"):
        Ledger.open(tmp_path, "lab")


def test_a_changed_line_is_refused_on_opening_by_its_number(tmp_path: Path, ledger: Ledger) -> None:
    for index in range(4):
        ledger.append(Kind.STEP, index=index)
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b'"index":1', b'"index":7'))

    with pytest.raises(LedgerError, match="line 2: its content does not match its hash"):
        Ledger.open(tmp_path, "lab")


def test_a_damaged_head_file_is_a_sentence(tmp_path: Path, ledger: Ledger) -> None:
    ledger.append(Kind.STEP)
    (ledger.folder / "apply-log.head").write_bytes(b"\xff\x00")

    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.open(tmp_path, "lab")


def test_a_held_lock_ends_the_wait_and_names_the_holder(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, "lab", lock_limit=0.05)
    with (ledger.folder / LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LedgerError, match=rf"held by process {os.getpid()} for more than"):
            ledger.append(Kind.STEP)

    assert ledger.append(Kind.STEP).seq == 1


def write_lines(reports: Path, run: str, count: int, barrier: object) -> None:
    ledger = Ledger.open(reports, "lab", run=run, lock_limit=60)
    barrier.wait()  # type: ignore[attr-defined]
    for index in range(count):
        ledger.append(Kind.STEP, index=index, padding="x" * (index * 37 % 5000))


def test_two_runs_alternate_and_never_mix(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(2)
    writers = [
        context.Process(target=write_lines, args=(tmp_path, run, 200, barrier))
        for run in ("one", "two")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert [writer.exitcode for writer in writers] == [0, 0]
    lines = list(Ledger.open(tmp_path, "lab").lines())
    assert anchors.verify(tmp_path / "lab").problems == ()
    for run in ("one", "two"):
        assert [line.fields["index"] for line in lines if line.run == run] == list(range(200))


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
