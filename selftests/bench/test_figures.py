"""Figures are medians, ratios and round trips, and a missed goal is named."""

from __future__ import annotations

from bench.figures import Figures, Samples, missed, table


def figures(name: str, near: float, far: float, connections: int = 1) -> Figures:
    samples = Samples(0.01, [near, near, near * 9], [far, far, far * 9])
    return Figures(name, samples, samples, [connections, 1])


def test_round_trips_come_from_the_medians() -> None:
    assert round(Samples(0.01, [0.005, 0.005, 9.0], [0.025, 0.025, 0.0]).round_trips, 6) == 2


def test_table_shows_each_beside_the_first() -> None:
    text = table([figures("this suite", 0.002, 0.022), figures("other", 0.010, 0.110)])
    assert "2 (1.0x)" in text
    assert "10 (5.0x)" in text
    assert "every goal is reached" in text


def test_missed_goals_are_named() -> None:
    slow = figures("this suite", 0.001, 0.201, connections=3)
    assert missed(slow) == [
        "round trips of one command",
        "round trips of the gates of C",
        "bastion connections",
    ]
    assert "goal missed: bastion connections" in table([slow])


def test_half_a_round_trip_of_noise_is_not_a_miss() -> None:
    assert missed(figures("this suite", 0.001, 0.0232)) == []
