"""The picture of a series: complete, bounded, and harmless."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.drills.outages import measure
from fixtures.drills.samples import Kind, Sample, Seen, Target
from fixtures.drills.timeline import Mark, svg

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.drills.outages import Availability

NS = "{http://www.w3.org/2000/svg}"
MOST = 60 * 1024


def series(slots: int, bad: Callable[[int], bool], interval: float = 0.25) -> Availability:
    return measure(
        [
            Sample(target, slot, slot * interval, slot * interval, Seen(kind))
            for slot in range(slots)
            for target in Target
            for kind in [Kind.OK if target is Target.CONTROL or not bad(slot) else Kind.REFUSED]
        ],
        interval,
    )


def bars(picture: str, state: str) -> list[tuple[int, int]]:
    """First column and width of each bar, over all lanes."""
    paths = [
        each.get("d", "")
        for each in ET.fromstring(picture).iter(f"{NS}path")
        if each.get("class") == state
    ]
    return [
        (int(left), int(width))
        for path in paths
        for left, width in re.findall(r"M(\d+) \d+h(\d+)v", path)
    ]


def test_it_says_in_words_what_it_shows() -> None:
    picture = svg(
        series(80, lambda slot: 8 <= slot < 16), [Mark(1.9, "fault"), Mark(9, "recovery")], "C.6"
    )
    root = ET.fromstring(picture)
    assert root.get("role") == "img"
    assert [each.tag for each in root][:2] == [f"{NS}title", f"{NS}desc"]
    assert root[0].text == "C.6"
    described = root[1].text or ""
    assert "1 outage, longest 2.00 s, all 2.00 s; blind 0.00 s." in described
    assert "Outage from 2.00 s to 4.00 s." in described
    assert "fault at 1.9 s." in described
    words = [each.text for each in root.iter(f"{NS}text")]
    assert {"new", "reused", "control", "seconds", "0", "20", "fault 1.9 s"} <= set(words)


def test_bars_stand_where_the_samples_do() -> None:
    picture = svg(series(80, lambda slot: 8 <= slot < 16))
    assert bars(picture, "down") == [(76 + 80, 80)] * 2
    assert bars(picture, "up") == [(76, 80), (76 + 160, 640)] * 2 + [(76, 800)]


def test_no_outage_is_too_short_to_be_seen() -> None:
    assert bars(svg(series(14400, lambda slot: slot == 7777)), "down") == [(76 + 432, 1)] * 2


@pytest.mark.parametrize("every", [2, 3, 7])
def test_ten_minutes_of_flapping_stay_small(every: int) -> None:
    marks = [Mark(n * 3.0, "&" * 500) for n in range(200)]
    assert len(svg(series(2400, lambda slot: slot % every == 0), marks, "<" * 500)) < MOST


def test_it_refers_to_nothing_outside() -> None:
    picture = svg(series(40, lambda slot: slot == 3), [Mark(1, "fault")])
    assert not re.search(r"href|url\(|<script|<image|<foreignObject|@import| on\w+=", picture)
    assert picture.count("http") == 1
    assert "prefers-color-scheme:dark" in picture


@given(st.text(max_size=80), st.text(max_size=80), st.floats(-10, 1000), st.integers(0, 50))
def test_any_text_is_only_text(title: str, name: str, at: float, slots: int) -> None:
    picture = svg(series(slots, lambda slot: slot % 5 == 1), [Mark(at, name)], title)
    tags = {each.tag.removeprefix(NS) for each in ET.fromstring(picture).iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "text", "path"}
    assert all(char.isprintable() for char in picture)
