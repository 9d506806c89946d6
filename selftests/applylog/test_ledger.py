from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog.errors import LedgerError
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import Head, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_lines_are_numbered_chained_and_read_back(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, "lab", run="one")
    ledger.append(Kind.RUN_START, cluster="lab", mode="lab")
    ledger.append(Kind.STEP, text="two")

    first, second = ledger.lines()

    assert (first.seq, second.seq) == (1, 2)
    assert second.prev == first.hash
    assert second.run == "one"
    assert second.fields == {"text": "two"}
    assert ledger.head == Head(2, second.hash)


def test_a_second_run_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    Ledger.open(tmp_path, "lab", run="one").append(Kind.RUN_START)
    line = Ledger.open(tmp_path, "lab", run="two").append(Kind.RUN_START)

    assert line.seq == 2


@pytest.mark.usefixtures("open_umask")
def test_everything_is_private_under_any_umask(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "reports", "lab")
    ledger.append(Kind.RUN_START)

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in ledger.folder.rglob("*")}
    assert stat.S_IMODE(ledger.folder.stat().st_mode) == 0o700
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", ".lab", "a\nb", "a" * 200])
def test_a_cluster_name_cannot_leave_the_reports_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError, match="cannot name a folder"):
        Ledger.open(tmp_path, name)
