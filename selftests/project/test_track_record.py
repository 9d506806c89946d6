"""Every row of the track record names something here that tests it."""

from __future__ import annotations

import re

from selftests.project.tree import ROOT

RECORD = (ROOT / "docs" / "track-record.md").read_text("utf-8")
ROWS = re.findall(r"^\| (?!report |---)(.+) \|$", RECORD, re.MULTILINE)
PLACE = re.compile(r"`((?:lab/scenarios|selftests)/[^`]+)`")
REPORT = re.compile(r"\w+/[\w.-]+#\d+")


def test_each_row_names_its_report_and_what_tests_it() -> None:
    for row in ROWS:
        report, *_, tested_by = row.split(" | ")
        assert REPORT.search(report) or report == "own run", row
        places = PLACE.findall(tested_by)
        assert places, row
        assert not [place for place in places if not (ROOT / place).exists()], row


def test_there_are_rows() -> None:
    assert len(ROWS) >= 10
