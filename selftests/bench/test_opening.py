"""The log that is opened is one that the suite could have written, and its figures are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import logbook
from bench.opening import Opened, missed, told
from fixtures.applylog import anchors
from fixtures.applylog.reading import read
from fixtures.applylog.record import Kind

if TYPE_CHECKING:
    from pathlib import Path


def opened(entries: int, seconds: float, page: int = 4_000_000) -> Opened:
    return Opened(entries, 9_000_000, page, 1.0, (seconds, seconds, 9.0), (0.1, 0.1, 0.1))


def test_the_log_holds_so_many_verdicts_and_verifies(tmp_path: Path) -> None:
    size = logbook.write(tmp_path / "lab", 250)
    lines = list(read(tmp_path / "lab"))
    assert sum(line.kind is Kind.GATE for line in lines) == 250
    assert {line.kind for line in lines} >= {Kind.STEP, Kind.SAMPLE, Kind.DEVIATION, Kind.RUN_END}
    assert size == (tmp_path / "lab" / "apply-log.jsonl").stat().st_size
    assert anchors.verify(tmp_path / "lab").problems == ()


def test_the_median_is_told_with_its_ratio() -> None:
    lines = told(opened(100, 0.1), opened(10_000, 0.5))
    assert "10,000 entries: usable after 600 ms (500 ms loaded, then 100 ms" in lines[1]
    assert lines[2].startswith("100 times as many entries: 3.0 times as long to open, 1.0 times")


def test_a_missed_goal_is_named() -> None:
    assert missed(opened(10_000, 0.5)) == []
    assert missed(opened(10_000, 0.95)) == ["apply-log.html of 10,000 entries: usable within 1 s"]
    assert missed(opened(10_000, 0.5, 6_000_000)) == [
        "apply-log.html of 10,000 entries: below 6 MB"
    ]
