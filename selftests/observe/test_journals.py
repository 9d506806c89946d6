"""Journals and container logs, as they come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.observe.answers import Misread
from fixtures.observe.journal import parse_clock, parse_journal, parse_pod_log
from selftests.gates.test_journal import START, STARTED, entry, read
from selftests.gates.world import Reply


@pytest.mark.parametrize(
    "journal",
    [
        Reply("half a li"),
        Reply("[]\n"),
        Reply('{"MESSAGE": "x"}\n'),
        Reply('{"__REALTIME_TIMESTAMP": "1"}\n'),
        Reply(entry("x", __REALTIME_TIMESTAMP="-1")),
        Reply(entry({"a": 1})),
        Reply(STARTED, "Hint: You are currently not seeing messages from other users\n"),
        Reply(stderr="Failed to determine timestamp\n", rc=1),
        Reply(STARTED, cut=7),
    ],
)
def test_a_journal_that_cannot_be_read_is_undecided(journal: Reply) -> None:
    with pytest.raises(Undecided, match="rke-cp02"):
        read(journal=journal)


def test_forms_of_a_message() -> None:
    lines = [entry("a"), entry(list(b"b\xff")), entry(["c", "d"]), entry([[101], None])]
    assert [each.text for each in parse_journal("\n".join(lines))] == ["a", "b\ufffd", "c\nd", None]


def test_a_container_s_log_in_pieces() -> None:
    text = (
        "cut off at the beginning\n"
        "2026-11-30T13:24:00.1Z stderr P one \n"
        "2026-11-30T13:24:00.2Z stderr F two\n"
        "2026-11-30T14:24:01+01:00 stdout F three\n"
        "neither time nor stream\n"
    )
    entries = parse_pod_log(text)
    assert [each.text for each in entries] == ["one two", "three", "neither time nor stream"]
    assert [each.at - START - 240 for each in entries] == pytest.approx([0.2, 1, 1])
    with pytest.raises(Misread):
        parse_pod_log("nothing\n")


def test_the_clock() -> None:
    assert parse_clock("1796044509.123456789\n") == pytest.approx(1796044509.123456789)
    with pytest.raises(Misread):
        parse_clock("today\n")


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_journal, parse_pod_log):
        try:
            parse(text)
        except Misread:
            continue
