"""keepalived.conf: however it is written, it means the same."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.keepalived_conf import Statement, includes, statements, tokens
from fixtures.observe.keepalived_config import config_of
from selftests.gates.texts import conf

if TYPE_CHECKING:
    from collections.abc import Callable

WORD = st.text(st.characters(codec="utf-8", exclude_characters="\n$~"), min_size=1, max_size=6)
KEYWORD = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(
    lambda word: not word.startswith("include")
)
TREES = st.recursive(
    st.builds(lambda key, rest: Statement((key, *rest)), KEYWORD, st.lists(WORD, max_size=3)),
    lambda inner: st.builds(
        lambda key, rest, body: Statement((key, *rest), tuple(body)),
        KEYWORD,
        st.lists(WORD, max_size=2),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)
GAP = st.sampled_from([" ", "\t", "  ", " \t "])
END = st.sampled_from(["\n", " \n", " # it's } {\n", ' ! "x\n', "\n\n# x\n", "\r\n"])


def written(draw: Callable[[st.SearchStrategy[str]], str], tree: tuple[Statement, ...]) -> str:
    """A text of these statements: any spacing, quoting, comment and brace placement."""
    text = ""
    for each in tree:
        text += draw(GAP) + draw(GAP).join(quoted(draw, word) for word in each.words)
        if each.body is not None:
            text += draw(END | GAP) + "{" + draw(END | GAP)
            body = written(draw, each.body)
            text += body + "}"
        text += draw(END)
    return text


def quoted(draw: Callable[[st.SearchStrategy[str]], str], word: str) -> str:
    if re.fullmatch(r"[a-z0-9_./:-]+", word):
        return draw(st.sampled_from([word, f'"{word}"', f"'{word}'", f'{word[0]}"{word[1:]}"']))
    mark = draw(st.sampled_from(['"', "'"]))
    return mark + word.replace("\\", "\\\\").replace(mark, f"\\{mark}") + mark


@settings(max_examples=150, deadline=None)
@given(data=st.data(), tree=st.lists(TREES, max_size=4).map(tuple))
def test_a_text_of_any_style_gives_its_statements_back(
    data: st.DataObject, tree: tuple[Statement, ...]
) -> None:
    text = written(data.draw, tree)
    try:
        read = statements("conf", {"conf": text}, {}, "host")
    except Misread:
        pytest.fail(f"not understood: {text!r}")
    assert read == tree


@settings(max_examples=50, deadline=None)
@given(cuts=st.lists(st.integers(0, 60), max_size=4))
def test_splitting_at_any_line_into_included_files_changes_nothing(cuts: list[int]) -> None:
    whole = conf("rke-cp01")
    lines = whole.split("\n")
    parts, start = [], 0
    for cut in [*sorted(set(cuts)), len(lines)]:
        parts.append("\n".join(lines[start:cut]))
        start = cut
    files = {f"part{number}": part for number, part in enumerate(parts)}
    files["conf"] = "".join(f"include part{number}\n" for number in range(len(parts)))
    matches = {("conf", pattern): (pattern,) for pattern in includes(files["conf"])}
    read = statements("conf", files, matches, "rke-cp01")
    assert read == statements("conf", {"conf": whole}, {}, "rke-cp01")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("# include x", []),
        ("a b # c", ["a", "b"]),
        ("a b! c", ["a", "b"]),
        ('a "b # c" d', ["a", "b # c", "d"]),
        ("a 'b \"c\" d'", ["a", 'b "c" d']),
        ('ab" c "d', ["ab c d"]),
        ("a{b}c", ["a", "{", "b", "}", "c"]),
        (r"a \"b\" \\", ["a", '"b"', "\\"]),
        ('a ""', ["a", ""]),
    ],
)
def test_words(line: str, words: list[str]) -> None:
    assert [word.text for word in tokens(line)] == words


def test_a_quoted_brace_is_a_word() -> None:
    assert statements("c", {"c": 'a "{" b'}, {}, "h") == (Statement(("a", "{", "b")),)


@pytest.mark.parametrize("line", ['a "b', "a 'b", "a b\\", r"a \n", "a $B", "~SEQ(1,2) x", "$A=1"])
def test_what_is_not_followed_is_misread(line: str) -> None:
    with pytest.raises(Misread):
        tokens(line)


@pytest.mark.parametrize(
    "line", ["include", "include a b", 'include ""', "include {", "@ a", "@^ a"]
)
def test_a_malformed_include_or_condition_is_misread(line: str) -> None:
    with pytest.raises(Misread):
        statements("c", {"c": line}, {}, "h")


def test_defaults_are_keepaliveds_own() -> None:
    text = (
        "vrrp_script s {\nscript /x y\n}\nvrrp_instance v {\nvirtual_ipaddress {\n10.0.0.9\n}\n}\n"
    )
    config = config_of(statements("c", {"c": text}, {}, "h"))
    (script,), (instance,) = config.scripts, config.instances
    assert (script.interval, script.fall, script.rise, script.weight) == (1.0, 1, 1, 0)
    assert script.path == "/x"
    assert instance.advert_int == 1.0
    assert [str(each) for each in instance.addresses] == ["10.0.0.9/32"]
    assert config.user_of(script) == ""
    assert replace(config, script_user="u").user_of(script) == "u"


def test_includes_that_multiply_end() -> None:
    files = {f"f{n}": f"include f{n + 1}\n" * 50 for n in range(7)} | {"f7": "\n"}
    matches = {(f"f{n}", f"f{n + 1}"): (f"f{n + 1}",) for n in range(7)}
    with pytest.raises(Misread, match="more than"):
        statements("f0", files, matches, "h")


def test_a_huge_file_is_refused() -> None:
    with pytest.raises(Misread, match="too long"):
        includes("\n" * 2_000_000)
