"""Gaps and blind time of series that are known beforehand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.limits import Limits
from fixtures.core.verdicts import Undecided
from fixtures.drills.allowance import Allowance, judge, unseen
from fixtures.drills.outages import measure
from fixtures.drills.samples import Kind, Sample, Seen, State, Target

if TYPE_CHECKING:
    from fixtures.drills.outages import Availability

STEP = 0.25
LETTERS = {
    ".": Kind.OK,
    "x": Kind.REFUSED,
    "t": Kind.TIMEOUT,
    "l": Kind.LINK,
    "m": Kind.MISSED,
    "5": Kind.STATUS,
}
LIMITS = Limits()
series = st.text(alphabet="..xtl", min_size=1, max_size=60)


def lane(target: Target, letters: str, took: float = 0.01) -> list[Sample]:
    """One letter a start time; a blank is no sample; time-outs take a second."""
    return [
        Sample(
            target, slot, slot * STEP, slot * STEP + (1.0 if letter == "t" else took), Seen(kind)
        )
        for slot, letter in enumerate(letters)
        if (kind := LETTERS.get(letter)) is not None
    ]


def measured(new: str, reused: str | None = None, control: str | None = None) -> Availability:
    reused = "." * len(new) if reused is None else reused
    control = "." * len(new) if control is None else control
    return measure(
        lane(Target.NEW, new) + lane(Target.REUSED, reused) + lane(Target.CONTROL, control), STEP
    )


def gaps(availability: Availability) -> list[tuple[float, float | None, float, float]]:
    return [(gap.start, gap.end, gap.seconds, gap.blind) for gap in availability.combined.gaps]


def after(longest: float = 10.0, at: float = 0.1, within: float = 15.0) -> list[Allowance]:
    return [Allowance("the stop of rke-cp02", at, within, longest)]


@pytest.mark.parametrize(
    ("new", "reused", "control", "expected"),
    [
        ("....", "....", "....", []),
        (".xx.", "....", "....", [(0.25, 0.75, 0.5, 0)]),
        (".x..", "..x.", "....", [(0.25, 0.75, 0.5, 0)]),
        (".x...", "...x.", ".....", [(0.25, 0.5, 0.25, 0), (0.75, 1.0, 0.25, 0)]),
        ("..xx", "....", "....", [(0.5, None, 0.5, 0)]),
        ("xx..", "....", "....", [(0.0, 0.5, 0.5, 0)]),
        # Blind within, before or after failures: the gap at its longest, with the doubt beside it.
        (".xlx.", ".....", ".....", [(0.25, 1.0, 0.75, 0.25)]),
        (".lx..", ".....", ".....", [(0.25, 0.75, 0.5, 0.25)]),
        (".xm..", ".....", ".....", [(0.25, 0.75, 0.5, 0.25)]),
        (".ll..", ".....", ".....", []),
        # One connection's failure is not made doubtful by the other's blindness.
        (".x..", ".l..", "....", [(0.25, 0.5, 0.25, 0)]),
        # Failures while the control target was lost prove nothing.
        (".xx.", ".xx.", ".tt.", []),
        (".xx.", ".xx.", "..t.", [(0.25, 0.75, 0.5, 0.25)]),
        # A time-out that was still waiting when the control target was lost, neither.
        (".t.....", ".......", "....l..", []),
        (".t......", "........", "......l.", [(0.25, 0.5, 0.25, 0)]),
        # A start time without a sample is no success.
        (".x x.", ".....", ".....", [(0.25, 1.0, 0.75, 0.25)]),
    ],
)
def test_gaps(
    new: str, reused: str, control: str, expected: list[tuple[float, float | None, float, float]]
) -> None:
    assert gaps(measured(new, reused, control)) == expected


def test_each_connection_has_its_own_account() -> None:
    both = measured(".xx..t..", ".x....5.")
    assert (both.new.longest, both.new.total, len(both.new.gaps)) == (0.5, 0.75, 2)
    assert (both.reused.longest, both.reused.total, len(both.reused.gaps)) == (0.25, 0.5, 2)
    assert (both.combined.longest, both.combined.total) == (0.5, 1.0)
    assert (both.new.first_failure, both.new.last_failure) == (0.25, 1.25)
    assert (both.reused.first_failure, both.reused.last_failure) == (0.25, 1.5)
    assert both.combined.kinds == {"ok": 11, "refused": 3, "timeout": 1, "status": 1}
    assert [gap.kinds for gap in both.combined.gaps] == [("refused",), ("timeout", "status")]
    assert both.combined.gaps[0].noticed == 0.26


@pytest.mark.parametrize(
    ("new", "control", "longest", "total"),
    [
        ("....", "....", 0, 0),
        ("....", ".tt.", 0.5, 0.5),
        (".l.m", "....", 0.25, 0.5),
        (".l..", "..t.", 0.5, 0.5),
        ("..  ", "....", 0.5, 0.5),
        (".l.....l", "...l....", 0.25, 0.75),
    ],
)
def test_blind_time(new: str, control: str, longest: float, total: float) -> None:
    seen = measured(new, control=control)
    assert (seen.longest_blind, seen.total_blind) == (longest, total)


def test_a_lane_that_was_never_sampled_is_blind_throughout() -> None:
    seen = measured("....", reused="")
    assert seen.total_blind == 1.0
    assert seen.reused.runs[0].state is State.BLIND


def test_no_samples_measure_nothing() -> None:
    nothing = measured("")
    assert nothing.seconds == 0
    assert gaps(nothing) == []
    with pytest.raises(Undecided, match="not sampled at all"):
        judge(nothing, after(), LIMITS, begin=0.0)


@given(series, series, series, st.randoms())
def test_the_order_of_the_samples_does_not_matter(
    new: str, reused: str, control: str, random: object
) -> None:
    samples = [
        *lane(Target.NEW, new),
        *lane(Target.REUSED, reused),
        *lane(Target.CONTROL, control),
    ]
    shuffled = list(samples)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert measure(shuffled, STEP) == measure(samples, STEP)


@given(series, series, series)
def test_the_account_adds_up(new: str, reused: str, control: str) -> None:
    size = min(len(new), len(reused), len(control))
    seen = measured(new[:size], reused[:size], control[:size])
    assert seen.seconds == size * STEP
    for each in (seen.new, seen.reused, seen.combined, seen.control):
        ends = [run.end for run in each.runs]
        assert [run.start for run in each.runs] == [0.0, *ends[:-1]]
        assert ends[-1] == seen.seconds
        assert all(a.state is not b.state for a, b in zip(each.runs, each.runs[1:], strict=False))
        assert each.longest <= each.total <= seen.seconds
        for gap in each.gaps:
            assert 0 <= gap.blind < gap.seconds
            assert gap.end is None or gap.seconds == gap.end - gap.start
    assert seen.combined.total >= max(seen.new.total, seen.reused.total)
    assert seen.longest_blind <= seen.total_blind <= seen.seconds
    assert seen.control.gaps == ()
    json.dumps(seen.totals(), allow_nan=False)


@given(
    begin=st.floats(0.3, 5),
    length=st.floats(0.25, 10),
    interval=st.sampled_from([0.05, 0.1, 0.25]),
)
def test_one_outage_is_measured_right_within_one_interval(
    begin: float, length: float, interval: float
) -> None:
    slots = int((begin + length + 1) / interval) + 1
    samples = [
        Sample(target, slot, slot * interval, slot * interval, Seen(kind))
        for slot in range(slots)
        for target in Target
        for down in [begin <= slot * interval < begin + length]
        for kind in [Kind.REFUSED if down and target is not Target.CONTROL else Kind.OK]
    ]
    (gap,) = measure(samples, interval).combined.gaps
    assert gap.end is not None
    assert 0 <= gap.start - begin < interval + 1e-9
    assert 0 <= gap.end - (begin + length) < interval + 1e-9
    assert abs(gap.seconds - length) < interval + 1e-9


@pytest.mark.parametrize(
    ("new", "allowances"),
    [
        ("." * 80, after()),
        ("." + "x" * 40 + "." * 40, after()),
        ("..t" + "." * 40, after(at=0.6)),
        ("." * 20 + "x" * 40 + "." * 10, after(at=4.9)),
        (
            ".xx......xx....",
            [Allowance("the stop", 0.1, 1, 0.5), Allowance("the return", 2.2, 1, 0.5)],
        ),
        # The return is set off while the stop's window is open.
        (
            ".xx...x......",
            [Allowance("the stop", 0.1, 3, 0.5), Allowance("the return", 1.4, 3, 0.5)],
        ),
        # Nothing was felt of the stop; the return's gap is measured from the return.
        (
            ".........xx....",
            [Allowance("the stop", 0.1, 2.5, 1), Allowance("the return", 2.0, 2.5, 1)],
        ),
        # The second gap's sample was under way when the return was set off.
        (
            ".x...x......",
            [Allowance("the stop", 0.1, 3, 0.5), Allowance("the return", 1.255, 3, 0.5)],
        ),
    ],
)
def test_what_a_drill_allows(new: str, allowances: list[Allowance]) -> None:
    assert judge(measured(new), allowances, LIMITS, begin=allowances[0].at) == ()


@pytest.mark.parametrize(
    ("new", "control", "allowances", "said"),
    [
        ("." + "x" * 41 + "..", None, after(), "for too long: 10.25 s (refused; from 0.25 s to 1"),
        (".x.x..", None, after(), "2 gaps after the stop of rke-cp02, at most one"),
        ("." + "x" * 5, None, after(), "did not come back: 1.25 s"),
        ("." * 50 + "x" * 20 + ".", None, after(), "came back 17.40 s after the stop"),
        ("." * 70 + "x.", None, after(), "at a time no drill allows: 0.25 s"),
        (".x.", None, [], "at a time no drill allows"),
        (".xx......xx.xx", None, after(within=1), "at a time no drill allows"),
        (
            ".x..x..x....",
            None,
            [Allowance("the stop", 0.1, 3, 0.5), Allowance("the return", 1.5, 3, 0.5)],
            "2 gaps after the stop",
        ),
        # What cannot be seen does not excuse what can.
        ("." + "x" * 41 + "." * 20, "." * 50 + "l" * 12, after(), "for too long"),
        ("." + "x" * 41 + "l" * 9, None, after(), "for too long"),
    ],
)
def test_what_a_drill_does_not_allow(
    new: str, control: str | None, allowances: list[Allowance], said: str
) -> None:
    begin = allowances[0].at if allowances else 0.0
    findings = judge(measured(new, control=control), allowances, LIMITS, begin=begin)
    assert any(said in finding for finding in findings), findings


@pytest.mark.parametrize(
    ("new", "control", "said"),
    [
        ("." * 20, "." * 5 + "l" * 9 + "." * 6, "blind for 2.25 s at a stretch (limit 2 s)"),
        (".l" * 21, None, "blind for 5.25 s in all (limit 5 s)"),
        (".x....", None, "not steady before the drill's fault"),
        # It may have been shorter than the limit, or over before we lost sight.
        ("." * 5 + "x" * 8 + "lllll" + "...", None, "for too long: 3.25 s"),
        ("." * 5 + "x" * 4 + "lllll", None, "did not come back: 2.25 s"),
    ],
)
def test_what_cannot_be_decided(new: str, control: str | None, said: str) -> None:
    with pytest.raises(Undecided) as undecided:
        judge(measured(new, control=control), after(longest=2.5, at=0.9), LIMITS, begin=0.9)
    assert said in str(undecided.value)


def test_before_a_fault_that_allows_no_gap_the_api_must_have_been_steady() -> None:
    with pytest.raises(Undecided, match="not steady before the drill's fault"):
        judge(measured(".x......"), [], LIMITS, begin=1.2)
    (finding,) = judge(measured("......x."), [], LIMITS, begin=1.2)
    assert "at a time no drill allows" in finding


def test_trouble_with_the_record_cannot_be_decided() -> None:
    troubled = measure(lane(Target.NEW, "."), STEP, trouble="the samples could not be recorded")
    assert "could not be recorded" in unseen(troubled, LIMITS)[0]
