"""Every gate and each STOP clause is covered: by scenarios, and in the document."""

from __future__ import annotations

from docs import coverage
from docs.stop_clauses import CLAUSES
from fixtures.gates import GATES


def test_every_gate_has_a_scenario_for_each_verdict() -> None:
    assert coverage.missing() == {}


def test_the_document_has_every_gate_and_every_stop() -> None:
    page = coverage.render()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for gate in GATES:
        (row,) = (row for row in rows if f"| **{gate.id}** " in row)
        assert gate.stop.replace("|", "\\|") in row


def test_the_stop_clauses_name_every_gate_and_none_that_is_not() -> None:
    named = {gate for _, _, gates in CLAUSES for gate in gates}
    assert named == {gate.id for gate in GATES}


def test_the_document_is_up_to_date() -> None:
    assert coverage.TARGET.read_text("utf-8") == coverage.render(), "run `make docs`"
