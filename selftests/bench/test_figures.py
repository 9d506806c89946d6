"""Figures are medians, ratios and round trips, and a missed goal is named."""

from __future__ import annotations

from bench.figures import GROWTH, SUITE, Figures, Samples, growth, missed, table


def figures(name: str, near: float, far: float, *, connections: int = 1) -> Figures:
    found = Figures(name, 0.01, connections=[connections, 1], mib=[50.0, 60.0, 900.0])
    for action in ("command", "quorum", "whole", *GROWTH):
        found.samples[action] = Samples(0.01, [near, near, near * 9], [far, far, far * 9])
    return found


def test_round_trips_come_from_the_medians() -> None:
    assert round(Samples(0.01, [0.005, 0.005, 9.0], [0.025, 0.025, 0.0]).round_trips, 6) == 2


def test_table_shows_each_beside_the_first() -> None:
    text = table(6, [figures(SUITE, 0.002, 0.022), figures("other", 0.010, 0.110)])
    assert "6 nodes" in text
    assert "2 (1.0x)" in text
    assert "10 (5.0x)" in text
    assert "60 (1.0x)" in text


def test_what_a_contestant_cannot_do_is_a_dash() -> None:
    other = figures("other", 0.010, 0.110)
    del other.samples["whole"]
    (row,) = (
        line
        for line in table(6, [figures(SUITE, 0.002, 0.022), other]).splitlines()
        if line.startswith("read-only gates of D2, +0 ms")
    )
    assert row.split()[-1] == "-"


def test_missed_goals_are_named() -> None:
    slow = figures(SUITE, 0.001, 0.201, connections=3)
    assert missed({6: slow}) == [
        "round trips of one command: at most 2",
        "round trips of read-only gates of C: at most 12",
        "round trips of read-only gates of D2: at most 12",
        "bastion connections: exactly 1",
    ]


def test_growth_beyond_the_goals_is_named() -> None:
    small, large = figures(SUITE, 0.001, 0.010), figures(SUITE, 0.001, 0.030)
    assert growth(small, large, "cold state") == 3
    assert missed({6: small, 100: large}) == [
        "100 nodes for the same API answers, from nothing: 3.0 times 6 nodes, at most 2"
    ]
    assert missed({6: small, 100: small}) == []


def test_half_a_round_trip_of_noise_is_not_a_miss() -> None:
    assert missed({6: figures(SUITE, 0.001, 0.0232)}) == []
