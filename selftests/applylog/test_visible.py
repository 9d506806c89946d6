from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from fixtures.applylog.markup import element, join
from fixtures.applylog.visible import one_line, visible


def test_control_and_format_characters_are_spelled_out() -> None:
    assert visible("\x1b[31mred\x07\x9b") == "\\x1b[31mred\\x07\\x9b"
    assert visible("a\u202eb\u200bc\ufeff") == "a\\u202eb\\u200bc\\ufeff"
    assert visible("\U000e0041") == "\\U000e0041"
    assert visible("line\r\n\tnext") == "line\\x0d\n\tnext"


def test_no_character_that_unicode_calls_control_or_format_survives() -> None:
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    everything = (chr(code) for code in range(sys.maxunicode + 1))
    dangerous = [char for char in everything if unicodedata.category(char) in hidden]

    survivors = [char for char in dangerous if char not in "\n\t" and visible(char) == char]
    assert survivors == []


def test_what_unicode_draws_as_nothing_is_spelled_out() -> None:
    # Letters, marks and a symbol by category, and yet nothing is to be seen of them.
    for char in "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0":
        assert visible(char) == f"\\u{ord(char):04x}"


@given(st.text())
def test_one_line_is_one_printable_line(text: str) -> None:
    assert "\n" not in one_line(text)
    assert "\x1b" not in one_line(text)


def test_ordinary_text_of_any_language_survives() -> None:
    for text in ("naïve — “quoted” …", "日本語", "עברית", "✔ ▸"):
        assert visible(text) == text


@given(st.text(), st.text())
def test_text_never_becomes_markup(child: str, value: str) -> None:
    made = element("p", child, title=value)

    inside = made.removeprefix('<p title="').removesuffix("</p>")
    attribute, _, content = inside.partition('">')
    assert not set('<>"') & set(attribute)
    assert not set("<>") & set(content)


def test_markup_is_not_escaped_twice() -> None:
    inner = element("b", "<")

    assert element("p", inner, None, "&") == "<p><b>&lt;</b>&amp;</p>"
    assert join(inner, ">") == "<b>&lt;</b>&gt;"
    assert element("details", open=True, class_="x", hidden=False) == (
        '<details open class="x"></details>'
    )
