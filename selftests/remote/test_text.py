"""Remote text in sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.remote.text import printable, quoted


@given(st.text() | st.binary(), st.integers(0, 50))
def test_whatever_a_host_says_becomes_one_short_printable_line(
    remote: str | bytes, cap: int
) -> None:
    text = printable(remote, cap)
    assert text.isprintable()
    assert len(text) <= cap + 1


@pytest.mark.parametrize(
    ("remote", "text"),
    [
        ("two\r\nlines  and\ta tab", "two lines and a tab"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        (b"caf\xc3\xa9 \xff", "café \\xff"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
    ],
)
def test_what_cannot_be_shown_is_escaped(remote: str | bytes, text: str) -> None:
    assert printable(remote) == text


def test_a_long_command_is_shortened() -> None:
    assert quoted("x" * 500) == f"`{'x' * 120}…`"
