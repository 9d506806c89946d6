"""Drills of before the log: which statements are taken, and what a run makes of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog.record import Kind
from fixtures.core.verdicts import Verdict
from fixtures.session import recalling
from selftests.applylog.story import IDENTITY, Story
from selftests.session.suite import log_lines, suite, verdicts

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

SAID = "2026-08-29, card t_a88bb36b in the operations log"
"""Older than the lines of a `Story`, which are of 2026-11-30."""


def story(*verdicts: Verdict) -> Story:
    told = Story()
    told.add(Kind.IDENTITY, identity=IDENTITY)
    for verdict in verdicts:
        told.decide("C.5", verdict)
    return told


def refused(text: str, told: Story, authorized: Collection[str] = ()) -> str:
    with pytest.raises(pytest.UsageError) as caught:
        recalling.refuse({"C.5": text}, authorized, told.lines)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "it was fine",
        "2026-08-29",
        "2026-08-29, \u2026\u2026\u2026",
        "2026-08-29 ??????",
        "on 2026-13-40, card t_1234567",
        "12026-08-29 and more of it",
        "2026-12-01, after the log began",
        "2026-08-29 and again 2027-01-01, card t_1234567",
    ],
)
def test_date_and_reference_are_asked_for(text: str) -> None:
    assert "before this log began (2026-11-30), with its date and where" in refused(text, story())


def test_a_drill_stated_with_date_and_reference_is_taken() -> None:
    recalling.refuse({"C.5": SAID, "0.3": "seen"}, (), story().lines)
    recalling.refuse({"C.5": SAID}, ("C.6",), story(Verdict.ATTESTED, Verdict.UNAUTHORIZED).lines)


def test_without_a_log_the_drill_is_not_of_tomorrow() -> None:
    recalling.refuse({"C.5": f"{datetime.now(UTC):%Y-%m-%d}, card t_1234567"}, (), ())
    assert "with its date" in refused("2999-01-01, card t_1234567", Story())


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN])
def test_what_this_log_measured_no_statement_replaces(verdict: Verdict) -> None:
    assert f"C.5 is {verdict} in this log" in refused(SAID, story(verdict))


def test_what_this_run_may_measure_no_statement_replaces() -> None:
    assert "C.5 is authorized as well" in refused(SAID, story(), ("C.5",))


def test_a_stated_drill_is_not_made(tmp_path: Path) -> None:
    where = ("--lab", f"--reports={tmp_path}")
    before = "gate_0 or gate_b or (gate_c and not drill)"
    suite(*where, "-m", before, f"--junitxml={tmp_path / 'before.xml'}")
    said = ["--operator=Ada", *(f"--attest={gate}={SAID}" for gate in ("C.5", "C.6"))]
    ended = suite(*where, "--gate=C.5,C.6", *said, f"--junitxml={tmp_path / 'junit.xml'}")
    assert ended.status == 0, ended.text
    assert "stated by Ada at 20" in ended.text
    assert "2 ATTESTED" in ended.text
    junit = (tmp_path / "junit.xml").read_text()
    assert '<property name="stated_by" value="Ada"' in junit
    assert f'<property name="statement" value="{SAID}"' in junit
    assert 'skipped="0"' in junit
    kinds = [line["kind"] for line in log_lines(tmp_path) if line.get("gate") in {"C.5", "C.6"}]
    assert kinds == ["gate", "gate"]

    again = suite(*where, "--gate=C.5")
    assert again.status == 0, again.text
    both = suite(*where, "--gate=C.5", "--authorize=Ada", "--operator=Ada", f"--attest=C.5={SAID}")
    assert both.status == 4
    assert "C.5 is authorized as well" in both.text
    run = suite(*where, "--gate=C.5", "--authorize=Ada")
    assert run.status == 0, run.text
    assert verdicts(tmp_path)["C.5"] == "PASS"
    late = suite(*where, "--gate=C.5", "--operator=Ada", f"--attest=C.5={SAID}")
    assert late.status == 4
    assert "C.5 is PASS in this log" in late.text
