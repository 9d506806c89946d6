"""The cumulative page: what stands first, what was said before, and that it stays light."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import render
from fixtures.applylog.cumulative import log_page
from fixtures.applylog.history import runs
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.page import Rendering
from fixtures.applylog.past import Past
from fixtures.applylog.record import EMPTY, GateRecord, Kind, Line
from fixtures.core.verdicts import Verdict
from fixtures.gates import GATES
from selftests.applylog.test_pages import Structure

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeRecord = Callable[..., GateRecord]

AT = datetime(2026, 11, 30, 3, 4, 5, tzinfo=UTC)
IDENTITY = "ab" * 32
ENTRIES = 10_000


class Written:
    """A log of several runs, and its page."""

    def __init__(self, ledger: Ledger, make_record: MakeRecord) -> None:
        self._ledger, self._make = ledger, make_record

    def run(self, name: str, **verdicts: Verdict) -> None:
        """A run of that name; `C_1` is C.1."""
        ledger = Ledger.open(self._ledger.folder.parent, "lab", run=name)
        report = f"{name}.html"
        ledger.append(Kind.RUN_START, cluster="lab", mode="lab", operator="anna", report=report)
        ledger.append(Kind.IDENTITY, identity=IDENTITY)
        for gate, verdict in verdicts.items():
            record = self._make(gate.replace("_", "."), verdict, summary=f"{gate} in {name}")
            ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())
        ledger.append(Kind.RUN_END, status=0)

    def part(self, title: str) -> str:
        """The text of one part of the page."""
        page = render.cumulative(self._ledger.folder, AT).read_text()
        sections = page.split("<section>")
        (found,) = (each for each in sections if each.startswith("<h2") and f">{title}<" in each)
        return re.sub("<.*?>", "", found)


@pytest.fixture
def written(ledger: Ledger, make_record: MakeRecord) -> Written:
    return Written(ledger, make_record)


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.UNKNOWN])
def test_an_open_stop_stands_until_the_gate_is_asked_again(
    written: Written, verdict: Verdict
) -> None:
    written.run("monday", C_1=verdict, C_2=Verdict.PASS)
    stops = written.part("Open STOPs")
    assert "C_1 in monday" in stops
    assert "the runbook's STOP" in stops
    assert "anna, run monday" in stops
    assert "C_2" not in stops

    written.run("tuesday", C_1=Verdict.BLOCKED)
    written.run("wednesday", C_1=Verdict.PASS)
    assert "No gate's latest verdict is FAIL or UNKNOWN" in written.part("Open STOPs")


def test_a_failed_undo_is_an_open_stop_that_stands_first(
    written: Written, ledger: Ledger, make_record: MakeRecord
) -> None:
    written.run("monday", B_1=Verdict.FAIL, C_5=Verdict.FAIL)
    record = make_record("C.5.undo", Verdict.FAIL, summary="keepalived is still stopped")
    ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())
    stops = written.part("Open STOPs")
    assert stops.index("keepalived is still stopped") < stops.index("B_1 in monday")
    assert "was not brought back: look at that machine first" in stops
    ledger.append(Kind.LATCH, state="cleared", by="Ada: started by hand")
    assert "keepalived is still stopped" not in written.part("Open STOPs")


def test_a_gate_shows_its_latest_verdict_and_every_one_before(written: Written) -> None:
    written.run("monday", C_1=Verdict.FAIL)
    written.run("tuesday", C_1=Verdict.UNKNOWN)
    written.run("wednesday", C_1=Verdict.PASS)

    gates = written.part("Gates")
    places = [gates.index(each) for each in ("C_1 in wednesday", "C_1 in tuesday", "C_1 in monday")]
    assert places == sorted(places)
    assert "History: decided 2 times besides" in gates
    assert "FAIL 2026-11-30 03:04:05Z anna, run monday" in gates


def test_what_was_said_in_the_same_words_is_told_once_with_how_often(
    written: Written, ledger: Ledger, make_record: MakeRecord
) -> None:
    for verdict in (*[Verdict.PASS] * 5, Verdict.FAIL, *[Verdict.PASS] * 3, Verdict.UNKNOWN):
        record = make_record("C.1", verdict, summary=f"said {verdict}")
        ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())
    gates = written.part("Gates")
    assert "History: decided 9 times besides" in gates
    told = [
        "PASS 3 times since 2026-11-30 03:04:05Z, last",
        "FAIL 2026-11-30",
        "PASS 5 times since",
    ]
    places = [gates.index(each) for each in told]
    assert places == sorted(places)
    assert gates.count("said PASS") == 2


def test_what_was_not_decided_is_never_shown_as_decided(written: Written) -> None:
    written.run("monday", C_1=Verdict.PASS)
    done = written.part("Definition of Done")
    assert done.count("not decided") > len(GATES) // 3
    assert "0 of 16 rows met, 1 explicit gap, 1 documented, not exercised" in done


def test_a_row_of_the_definition_is_green_only_if_it_is_met(written: Written) -> None:
    written.run("monday", B_5=Verdict.PASS, C_1=Verdict.PASS)
    page = render.cumulative(written._ledger.folder, AT).read_text()
    states = [
        str(attrs["class"]).split()[-1]
        for _, attrs in Structure(page).seen
        if "state" in str(attrs.get("class")).split()
    ]
    assert sorted(set(states)) == ["documented", "gap", "unmet"]


def test_a_runs_report_is_linked_where_there_is_one(written: Written, ledger: Ledger) -> None:
    written.run("monday", C_1=Verdict.FAIL)
    written.run("tuesday", C_1=Verdict.FAIL)
    (ledger.folder / "monday.html").write_text("the report")
    page = render.cumulative(ledger.folder, AT).read_text()
    assert 'href="monday.html"' in page
    assert 'href="tuesday.html"' not in page


def test_a_statement_and_a_deviation_are_told_once(
    written: Written, ledger: Ledger, make_record: MakeRecord
) -> None:
    written.run("monday", C_1=Verdict.PASS)
    said = {"attested": {"text": "I saw <it>", "name": "Ada", "at": "2026-11-30T01:00:00Z"}}
    for _ in range(3):
        record = make_record("0.3", Verdict.ATTESTED, facts=said)
        ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())
        ledger.append(Kind.DEVIATION, gate="C.6", deviation="stopped otherwise")
    stated = written.part("Attestations")
    assert stated.count("I saw &lt;it&gt;") == 1
    assert "Ada, 2026-11-30T01:00:00Z" in stated
    assert written.part("Deviations").count("stopped otherwise") == 1


def test_a_gate_that_the_table_does_not_have_is_not_lost(written: Written) -> None:
    written.run("monday", X_9=Verdict.FAIL)
    assert "X_9 in monday" in written.part("Gates")


def test_the_newest_drill_of_a_gate_has_its_course(written: Written, ledger: Ledger) -> None:
    for name in ("monday", "tuesday"):
        written.run(name, C_6=Verdict.PASS)
    for run in ("monday", "tuesday"):
        writer = Ledger.open(ledger.folder.parent, "lab", run=run)
        writer.append(Kind.STEP, gate="C.6", step=f"stop it on {run}", state="done", host="cp02")
    drills = written.part("Drills")
    assert drills.index("C_6 in tuesday") < drills.index("C_6 in monday")
    assert "stop it on tuesday" in drills


def many(make_record: MakeRecord) -> list[Line]:
    """A log of ten thousand gates in runs of a hundred, each with evidence of its own."""
    evidence = [
        {"host": f"cp0{number}", "command": "ask", "rc": 0, "stdout": "x" * 2_000, "seconds": 0.1}
        for number in range(3)
    ]
    keys = [gate.id for gate in GATES]
    verdicts = [Verdict.PASS] * 8 + [Verdict.FAIL, Verdict.UNKNOWN]
    lines: list[Line] = []

    def add(run: str, kind: Kind, **fields: object) -> None:
        head = lines[-1].head if lines else EMPTY
        lines.append(Line.after(head, at=AT, run=run, kind=kind, fields=fields))  # type: ignore[arg-type]

    add("0", Kind.IDENTITY, identity=IDENTITY)
    for number in range(ENTRIES):
        run = f"run-{number // 100}"
        if number % 100 == 0:
            add(run, Kind.RUN_START, cluster="lab", mode="lab", operator="anna")
        record = make_record(
            keys[number % len(keys)],
            verdicts[number % len(verdicts)],
            summary=f"entry {number}: " + "what was seen " * 8,
            evidence=evidence,
            facts={"timeline": f"<svg {'x' * 2_500}"},
        )
        add(run, Kind.GATE, identity=IDENTITY, **record.fields())
    return lines


def test_ten_thousand_entries_stay_light(make_record: MakeRecord) -> None:
    """What bounds the time to open it: bytes, elements, pictures, and what is open at first."""
    lines = many(make_record)
    past = Past.of(runs(lines), {})
    page = log_page("lab", lines, past, Rendering(AT, lines[-1].head))

    assert len(page) < 6_000_000
    assert all(f"entry {number}:" in page for number in range(0, ENTRIES, 97))
    assert page.count("<") - page.count("</") < 80_000
    assert page.count("<img ") <= 24
    opened = re.findall(r"<details [^>]*\bopen\b[^>-]*>", page)
    assert len(opened) < 4 * len(GATES)
