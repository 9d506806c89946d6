from __future__ import annotations

import random
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.applylog import anchors
from fixtures.applylog.__main__ import main
from fixtures.applylog.canonical import moment
from fixtures.applylog.errors import LedgerError
from fixtures.applylog.ledger import HEAD, LOG, Ledger
from fixtures.applylog.record import EMPTY, Kind, Line

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2026, 11, 30, 3, 4, 5, tzinfo=UTC)
COUNT = 12


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The folder of a log of twelve lines."""
    ledger = Ledger.open(tmp_path, "lab", run="one")
    for index in range(COUNT):
        ledger.append(Kind.STEP, index=index, text="x" * 20)
    return ledger.folder


def rows_of(folder: Path) -> list[bytes]:
    return (folder / LOG).read_bytes().splitlines(keepends=True)


def first_problem(folder: Path, rows: list[bytes]) -> int:
    (folder / LOG).write_bytes(b"".join(rows))
    return anchors.verify(folder).problems[0].line


def forged(index: int, line: Line, text: str) -> Line:
    """A line with its own hash right."""
    before = type(EMPTY)(line.seq - 1, line.prev)
    fields = {"index": index, "text": text}
    return Line.after(before, at=AT, run="one", kind=Kind.STEP, fields=fields)


def test_an_untouched_log_verifies(log: Path) -> None:
    found = anchors.verify(log)

    assert (found.problems, found.notes) == ((), ())
    assert (found.lines, found.head.seq) == (COUNT, COUNT)


@pytest.mark.parametrize("number", range(1, COUNT + 1))
def test_each_kind_of_damage_to_each_line_is_found_by_number(log: Path, number: int) -> None:
    rows = rows_of(log)
    at = number - 1
    edited = rows[at].replace(b"xxx", b"xyx", 1)
    own_hash = forged(at, Line.decode(rows[at].strip()), "other").encode() + b"\n"

    assert first_problem(log, [*rows[:at], edited, *rows[number:]]) == number
    assert first_problem(log, [*rows[:at], own_hash, *rows[number:]]) == number
    assert first_problem(log, [*rows[:at], *rows[number:]]) == number
    assert first_problem(log, rows[:at]) == number
    assert first_problem(log, [*rows[:number], rows[at], *rows[number:]]) == number + 1
    assert first_problem(log, [*rows[:at], b"\x00\xff\n", *rows[number:]]) == number
    assert first_problem(log, [*rows[:at], b"\n", *rows[at:]]) == number


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(COUNT)))
def test_any_other_order_is_found_at_the_first_line_out_of_place(
    log: Path, order: list[int]
) -> None:
    pristine = log / "pristine"
    if not pristine.exists():
        pristine.write_bytes((log / LOG).read_bytes())
    rows = pristine.read_bytes().splitlines(keepends=True)
    (log / LOG).write_bytes(b"".join(rows[index] for index in order))

    found = anchors.verify(log)

    moved = [at for at, index in enumerate(order) if at != index]
    assert [problem.line for problem in found.problems][:1] == [at + 1 for at in moved][:1]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=300))
def test_binary_junk_is_a_problem_never_a_traceback(log: Path, junk: bytes) -> None:
    (log / LOG).write_bytes(junk)

    found = anchors.verify(log)

    assert found.problems


def test_lines_added_behind_the_writers_back_are_found(log: Path) -> None:
    rows = rows_of(log)
    last = Line.decode(rows[-1].strip())
    for _ in range(2):
        last = Line.after(last.head, at=AT, run="evil", kind=Kind.STEP, fields={})
        rows.append(last.encode() + b"\n")

    assert first_problem(log, rows) == COUNT + 2


def test_a_head_one_line_behind_is_said_and_accepted(log: Path) -> None:
    lines = [Line.decode(row.strip()) for row in rows_of(log)]
    (log / HEAD).write_bytes(lines[-2].head.encode())

    found = anchors.verify(log)
    assert found.problems == ()
    assert "one line behind" in found.notes[0]


def test_a_missing_head_file_is_found(log: Path) -> None:
    (log / HEAD).unlink()

    assert anchors.verify(log).problems[0].line == COUNT


def test_a_removed_log_is_found(log: Path) -> None:
    (log / LOG).unlink()

    assert anchors.verify(log).problems[0].line == 1


@pytest.mark.parametrize("emptied", [True, False])
def test_a_log_taken_away_with_its_head_is_caught_by_a_report(log: Path, emptied: bool) -> None:
    last = Line.decode(rows_of(log)[-1].strip())
    (log / "run.html").write_text(f"<head>{anchors.meta(last.head)}</head>")
    (log / HEAD).unlink()
    (log / LOG).write_bytes(b"") if emptied else (log / LOG).unlink()

    (problem,) = anchors.verify(log).problems
    assert problem.line == 1
    assert f"run.html remembers line {COUNT}" in problem.text
    with pytest.raises(LedgerError, match=r"it is empty, but run\.html was made from it"):
        Ledger.open(log.parent, log.name)


@pytest.mark.parametrize("damage", [b"", b"garbage", b'{"seq": 1e999, "hash": 5}'])
def test_a_damaged_head_file_is_a_broken_log(
    log: Path, damage: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (log / HEAD).write_bytes(damage)

    assert main(["verify", f"--reports={log.parent}"]) == 1
    assert f"{LOG}:{COUNT}: " in (said := capsys.readouterr().out)
    assert "apply-log.head is damaged" in said


def test_a_removed_log_is_found_without_naming_its_cluster(log: Path) -> None:
    (log / LOG).unlink()

    assert main(["verify", f"--reports={log.parent}"]) == 1


def rewrite(folder: Path, number: int) -> None:
    """Change one line and compute the chain and the head file anew, as an insider would."""
    head = EMPTY
    rows: list[bytes] = []
    for row in rows_of(folder):
        line = Line.decode(row.strip())
        fields = dict(line.fields)
        if line.seq == number:
            fields["text"] = "rewritten"
        line = Line.after(head, at=moment(line.at), run=line.run, kind=line.kind, fields=fields)
        head = line.head
        rows.append(line.encode() + b"\n")
    (folder / LOG).write_bytes(b"".join(rows))
    (folder / HEAD).write_bytes(head.encode())


def test_a_rewritten_chain_is_caught_by_an_older_report(log: Path) -> None:
    for number in (3, 9):
        head = Line.decode(rows_of(log)[number - 1].strip()).head
        (log / f"run-{number}.html").write_text(f"<html><head>{anchors.meta(head)}</head>")
    assert anchors.verify(log).anchors == 2

    rewrite(log, 5)

    (problem, *_) = anchors.verify(log).problems
    assert problem.line == 9
    assert "run-9.html remembers another line 9" in problem.text


def test_a_rewritten_chain_is_caught_by_what_the_bastion_keeps(log: Path) -> None:
    line = Line.decode(rows_of(log)[6].strip())
    kept = anchors.text(line.head, AT, "lab", "one")
    assert kept == f"7 {line.hash} 2026-11-30T03:04:05.000Z lab one"
    remote = anchors.parse(f"# a comment\n{kept}\n\n", "ops01")
    assert anchors.verify(log, remote).anchors == 1

    rewrite(log, 2)

    (problem,) = anchors.verify(log, remote).problems
    assert "line 2 of ops01 remembers another line 7" in problem.text


def test_a_log_cut_together_with_its_head_is_caught_by_a_report(log: Path) -> None:
    lines = [Line.decode(row.strip()) for row in rows_of(log)]
    (log / "run.html").write_text(f"<head>{anchors.meta(lines[-1].head)}</head>")
    (log / LOG).write_bytes(b"".join(rows_of(log)[:4]))
    (log / HEAD).write_bytes(lines[3].head.encode())

    (problem,) = anchors.verify(log).problems
    assert problem.line == 5
    assert "run.html remembers line 12" in problem.text


def test_a_report_without_an_anchor_is_a_note(log: Path) -> None:
    (log / "half.html").write_bytes(b"<html>\xff")
    (log / "link.html").symlink_to("/etc/hostname")

    found = anchors.verify(log)
    assert found.problems == ()
    assert len(found.notes) == 2


def test_no_log_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no log yet"):
        anchors.verify(tmp_path)


def test_the_bastions_commands_keep_anchors_privately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    """The commands themselves, run by a shell as the bastion would."""
    monkeypatch.setenv("HOME", str(tmp_path))
    ledger = Ledger.open(log.parent, "lab", run="it's; $(rm -rf) `x`")

    def sender(command: str) -> None:
        subprocess.run(["/bin/sh", "-c", command], check=True)

    kept = [anchors.send(ledger, AT, sender) for _ in range(2)]

    place = tmp_path / ".rke2-apply-log"
    read = (place / "lab.anchors").read_text()
    assert read.splitlines() == kept
    assert len(anchors.parse(read, "ops01")) == 2
    assert place.stat().st_mode & 0o777 == 0o700
    assert (place / "lab.anchors").stat().st_mode & 0o777 == 0o600


def test_ten_thousand_lines_are_verified_in_one_reading(tmp_path: Path) -> None:
    head, rows = EMPTY, []
    seed = random.Random(1)
    for index in range(10_000):
        line = Line.after(
            head, at=AT, run="one", kind=Kind.STEP, fields={"index": index, "x": seed.random()}
        )
        head = line.head
        rows.append(line.encode() + b"\n")
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / LOG).write_bytes(b"".join(rows))
    (folder / HEAD).write_bytes(head.encode())

    assert Ledger.open(tmp_path, "lab").append(Kind.STEP).seq == 10_001
