"""A drill in the reports and on the console."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.applylog import history
from fixtures.applylog.console import run_lines
from fixtures.applylog.fragments import gate_detail
from fixtures.applylog.record import GateRecord, Kind
from selftests.applylog.test_pages import Structure

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.applylog.canonical import JSON
    from fixtures.applylog.ledger import Ledger

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
LANE: dict[str, JSON] = {
    "longest": 0.3,
    "total": 0.5,
    "first_failure": 0.5,
    "last_failure": 0.7,
    "gaps": [{"start": 0.5, "end": 0.8, "seconds": 0.3, "kinds": ["no-route", "closed"]}],
}
QUIET: dict[str, JSON] = {
    "longest": 0.0,
    "total": 0.0,
    "first_failure": None,
    "last_failure": None,
    "gaps": [],
}
TOTALS: dict[str, JSON] = {
    "new": LANE,
    "reused": QUIET,
    "combined": LANE,
    "blind": {"longest": 0.1, "total": 0.2},
    "connections": 4,
    "interval": 0.25,
    "seconds": 12.5,
    "trouble": "",
}
ARMING = "sudo -n systemd-run --unit=rke2-undo-one-C-5 --on-active=120s -- …"


class Night:
    """Writes the lines of one drill."""

    def __init__(self, ledger: Ledger, make_record: Callable[..., GateRecord]) -> None:
        self._ledger = ledger
        self._make = make_record
        ledger.append(
            Kind.AUTHORIZATION,
            name="Ada",
            scope=["C.5", "C.6"],
            given="2026-11-30T03:00:00Z",
            until="2026-11-30T03:45:00Z",
            operator="grace@ctl",
            identity="ab" * 32,
        )

    def step(self, title: str, state: str, **more: JSON) -> None:
        self._ledger.append(Kind.STEP, gate="C.5", step=title, state=state, **more)

    def armed(self) -> None:
        self.step("begin", "ready", host="rke-cp01", expected=["at most one gap of 10 s"])
        self.step("arm the undo", "sending", host="rke-cp01", command=ARMING)
        self.step("arm the undo", "done", host="rke-cp01", command=ARMING, after=120.0)

    def detail(self, **facts: JSON) -> str:
        record = self._make("C.5", facts=facts)
        line = self._ledger.append(Kind.GATE, identity=None, **record.fields())
        return gate_detail(GateRecord.of(line), 10_000, list(self._ledger.lines()))


@pytest.fixture
def night(ledger: Ledger, make_record: Callable[..., GateRecord]) -> Night:
    return Night(ledger, make_record)


def text_of(page: str) -> str:
    return " ".join(Structure(page).text.split())


def rows_of(page: str) -> list[str]:
    return [text_of(row) for row in re.findall(r"<tr>.*?</tr>", page)]


def test_it_says_who_authorized_what_how_it_was_proved_and_undone(night: Night) -> None:
    night.armed()
    night.step("the fault is proved", "done", host="rke-cp01", seen="keepalived is stopped")
    night.step("disarm the undo", "sending", host="rke-cp01", command="stop it")
    night.step("disarm the undo", "done", host="rke-cp01", command="stop it")
    night.step("recovery", "done")
    text = text_of(night.detail())
    assert "Ada authorizes C.5, C.6 until 2026-11-30T03:45:00Z" in text
    assert "operator grace@ctl; for the cluster abababab" in text
    assert "at most one gap of 10 s" in text
    assert re.search(r"proof of the fault ?keepalived is stopped, at \d\d:\d\d:\d\dZ", text)
    assert re.search(r"armed on rke-cp01 at \S+, to act by itself after 120 s; disarmed", text)


def test_a_drill_that_cannot_be_undone_says_why(night: Night) -> None:
    night.step("begin", "ready", host="rke-platform02", expected=[])
    night.step("no undo", "done", host="rke-platform02", why="a reboot cannot be taken back")
    night.step("recovery", "done")
    assert "undonone: a reboot cannot be taken back; recovery done" in text_of(night.detail())


def test_what_was_not_proved_or_disarmed_is_said(night: Night) -> None:
    night.armed()
    text = text_of(night.detail())
    assert "the fault was not proved" in text
    assert "NOT DISARMED" in text


def test_a_step_is_one_row_from_its_sending_to_its_outcome(night: Night) -> None:
    night.step("stop keepalived", "sending", host="rke-cp01", command="first")
    night.step("stop keepalived", "sending", host="rke-cp02", command="first")
    night.step("stop keepalived", "failed", host="rke-cp01", command="first", why="rc 1")
    night.step("health before", "done")
    rows = rows_of(night.detail())
    assert len(rows) == 4
    assert re.search(r"Z ?rke-cp01 ?stop keepalived ?first ?rc 1 ?failed ?\d+ ms", rows[1])
    assert rows[2].endswith("no outcome recorded")
    assert rows[3].endswith("health before done") or rows[3].endswith("health beforedone")


def test_one_outcome_closes_all_parts_of_a_step(night: Night) -> None:
    for command in ("read", "write"):
        night.step("copy the snapshot", "sending", host="rke-cp01", command=command)
    night.step("copy the snapshot", "done", sent=4096)
    _, first, last = rows_of(night.detail())
    assert "done" in first
    assert "4096" not in first
    assert "sent: 4096" in last


def test_what_a_reset_printed_is_kept_behind_its_step(night: Night) -> None:
    night.step("reset", "sending", host="rke-cp01", command="reset")
    output = ["level=info a", "<b>level=error</b>"]
    night.step("reset", "failed", host="rke-cp01", command="reset", output=output)
    page = night.detail()
    assert "output, 2 lines" in page
    assert "&lt;b&gt;level=error&lt;/b&gt;" in page


def test_availability_is_a_table_by_connection(night: Night) -> None:
    rows = rows_of(night.detail(availability=TOTALS))
    assert rows[0].replace(" ", "").startswith("APIthroughtheVIPLongestTotalOutages")
    new, reused, both = (row.replace(" ", "") for row in rows[1:4])
    gap = "0.30s0.50s0.50sto0.80s(no-route,closed)0.50s0.70s"
    assert new == f"anewconnectioneachtime{gap}"
    assert reused == "oneconnection,kept0.00s0.00snone--"
    assert both == f"eitherofthem(judged){gap}"
    assert "blind 0.20 s in all, 0.10 s at the longest; 4 connections" in night.detail(
        availability=TOTALS
    )


def test_the_picture_cannot_run(night: Night) -> None:
    page = night.detail(timeline=SVG)
    assert "<script" not in page
    assert "<svg" not in page
    (source,) = (attributes["src"] for tag, attributes in Structure(page).seen if tag == "img")
    assert source is not None
    kind, _, data = source.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == SVG


@pytest.mark.parametrize("held", ["<html><script>", "<svg " + "x" * 300_000, 7, None])
def test_what_is_no_picture_is_not_shown(night: Night, held: Any) -> None:
    page = night.detail(timeline=held)
    assert "<img" not in page
    assert "&lt;html" not in page


def test_samples_are_named_with_their_digest(night: Night, ledger: Ledger) -> None:
    ledger.append(
        Kind.SAMPLE, gate="C.5", file="samples/one-C.5.jsonl", sha256="cd" * 32, totals=TOTALS
    )
    assert f"samples/one-C.5.jsonl, SHA-256 {'cd' * 32}" in text_of(night.detail())


def test_a_gate_that_changes_nothing_has_no_course(
    ledger: Ledger, make_record: Callable[..., GateRecord]
) -> None:
    night = Night(ledger, make_record)
    night.step("stop keepalived", "done")
    page = gate_detail(make_record("C.1"), 1000, list(ledger.lines()))
    assert "<table" not in page
    assert "Ada" not in page


def test_hostile_text_stays_text(night: Night) -> None:
    evil = "</td></table><script>alert(1)</script>\x1b[31m\u202e"
    for name in ("why", "command", "host", "seen"):
        night.step(evil, "done", **{name: evil})
    night.armed()
    trouble = {**TOTALS, "trouble": evil, "new": {**LANE, "gaps": [{"start": evil}]}}
    page = night.detail(availability=trouble, authorization={"name": evil, "scope": [evil]})
    Structure(page)
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_console_names_the_picture_instead_of_printing_it(night: Night, ledger: Ledger) -> None:
    night.detail(timeline=SVG, availability=TOTALS)
    (run,) = history.runs(ledger.lines())
    said = "\n".join(run_lines(run, "C.5"))
    assert "svg" not in said
    assert f"timeline: a picture of {len(SVG)} characters" in said
    assert "availability: 1 outage, longest 0.3 s, 0.5 s in all" in said
