"""Every row of the track record names something here that tests it."""

from __future__ import annotations

import re

from selftests.project.tree import ROOT

RECORD = (ROOT / "docs" / "track-record.md").read_text("utf-8")
ROWS = re.findall(r"^\| (?!no\. |---)(.+) \|$", RECORD, re.MULTILINE)
NUMBERED = """
1 2 3 4 6 7 8 10 12 13 14 15 16 19 20 22 23 26 27 28 31 33 34 36 37 39 40 42 43 45 47 49 51 52 57
58 59 61 62 63b 64 66 67 N1 N2 N3 N5 N7 N8 N9
"""
NUMBERS = set(NUMBERED.split())
"""Of the collected reports; those that are missing were duplicates when it was made."""

PLACE = re.compile(r"`((?:lab/scenarios|selftests)/[^`]+)`")
REPORT = re.compile(r"\w+/[\w.-]+#\d+")


def test_each_row_names_its_report_and_what_tests_it() -> None:
    for row in ROWS:
        _, report, *_, tested_by = row.split(" | ")
        assert REPORT.search(report) or report == "own run", row
        places = PLACE.findall(tested_by)
        assert places, row
        assert not [place for place in places if not (ROOT / place).exists()], row


def test_every_collected_report_has_a_row() -> None:
    numbers = [row.split(" | ")[0] for row in ROWS]
    assert {each for cell in numbers for each in cell.split(", ")} == {*NUMBERS, "—"}


def test_no_place_is_named_twice_in_a_row() -> None:
    for row in ROWS:
        places = PLACE.findall(row)
        assert len(places) == len(set(places)), row
