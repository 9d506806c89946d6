from __future__ import annotations

import fcntl
import multiprocessing
import os
import stat
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import anchors
from fixtures.applylog.errors import LedgerError
from fixtures.applylog.ledger import LOCK, LOG, RESERVE, Ledger
from fixtures.applylog.record import Head, Kind

if TYPE_CHECKING:
    from pathlib import Path


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
