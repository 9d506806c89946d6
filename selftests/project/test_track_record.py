"""Every row of the track record names something here that tests it."""

from __future__ import annotations

import re

import pytest

from selftests.project.tree import ROOT

RECORD = (ROOT / "docs" / "track-record.md").read_text("utf-8")
ROWS = re.findall(r"^\| (?!report |---)(.+) \|$", RECORD, re.MULTILINE)
PLACE = re.compile(r"`((?:lab/scenarios|selftests)/[^`]+)`")
REPORT = re.compile(r"\w+/[\w.-]+#\d+")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split(" | ")[0].split(",")[0])
def test_row_names_its_report_and_what_tests_it(row: str) -> None:
    report, *_, tested_by = row.split(" | ")
    assert REPORT.search(report) or report == "own run"
    places = PLACE.findall(tested_by)
    assert places
    assert not [place for place in places if not (ROOT / place.split("::")[0]).exists()]


def test_there_are_rows() -> None:
    assert len(ROWS) >= 10
