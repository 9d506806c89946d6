"""Every gate and each STOP clause is covered: by scenarios, and in the document."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from docs import coverage
from docs.stop_clauses import CLAUSES
from fixtures.gates import GATES

if TYPE_CHECKING:
    from collections.abc import Iterator

IDS = {gate.id for gate in GATES}


def replayed() -> Iterator[Path]:
    """The scenario files that the self-tests are parametrized by."""
    for module in sorted((coverage.ROOT / "selftests" / "scenarios").glob("test_*.py")):
        for test in vars(importlib.import_module(f"selftests.scenarios.{module.stem}")).values():
            for mark in getattr(test, "pytestmark", ()):
                if mark.name == "parametrize":
                    for each in mark.args[1]:
                        values = getattr(each, "values", (each,))
                        yield from (value for value in values if isinstance(value, Path))


def test_every_gate_has_a_scenario_for_each_verdict() -> None:
    missing = [f"{gate}: {', '.join(lacks)}" for gate, lacks in coverage.missing().items()]
    assert not missing, f"no scenario in lab/scenarios brings this about: {'; '.join(missing)}"


def test_what_counts_is_replayed() -> None:
    """A file that nothing replays shows nothing, whatever it says that it expects."""
    idle = {str(path) for path in coverage.SCENARIOS.rglob("*.yaml") if path not in set(replayed())}
    assert not idle, "no test in selftests/scenarios replays these"


def test_scenarios_expect_something_of_gates_only() -> None:
    undone = {f"{gate.id}.undo" for gate in GATES if gate.drill}
    assert coverage.verdicts().keys() <= IDS | undone


def test_the_document_has_every_gate_and_every_stop() -> None:
    page = coverage.render()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for gate in GATES:
        (row,) = (row for row in rows if f"| **{gate.id}** " in row)
        assert gate.stop.replace("|", "\\|") in row


def test_the_stop_clauses_name_every_gate_and_none_that_is_not() -> None:
    named = {gate for _, _, gates in CLAUSES for gate in gates}
    assert named - IDS == set(), "docs/stop_clauses.py names what is no gate"
    assert IDS - named == set(), "docs/stop_clauses.py has no STOP for these gates"


def test_each_stop_clause_has_a_gate_and_is_there_once() -> None:
    assert [clause for _, clause, gates in CLAUSES if not gates] == []
    said = [(place, clause) for place, clause, _ in CLAUSES]
    assert len(said) == len(set(said))


def test_the_document_is_up_to_date() -> None:
    assert coverage.TARGET.read_text("utf-8") == coverage.render(), "run `make docs`"
