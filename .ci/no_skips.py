"""Fail when a selftest was skipped: in CI everything a selftest needs is there.

Usage: python .ci/no_skips.py JUNIT-XML...
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET


def skips(report: Path) -> list[str]:
    """One line for each test the report says was skipped: its name and the reason.

    Raises:
        OSError: the report was not written.
        ET.ParseError: the report is not XML.
    """
    return [
        f"{case.get('classname')}::{case.get('name')}: {skipped.get('message')}"
        for case in ET.parse(report).iter("testcase")  # noqa: S314 - pytest of this run wrote it
        for skipped in case.iter("skipped")
    ]


def main(reports: list[str]) -> int:
    """Print each skipped selftest; 1 if there is any or a report can't be read."""
    problems: list[str] = []
    for name in reports:
        try:
            problems += skips(Path(name))
        except (OSError, ET.ParseError) as error:
            problems.append(f"{name} cannot be read, so skips cannot be ruled out: {error}")
    for problem in problems:
        print(f"skipped in CI: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
