"""Whether a replay came to what its scenario expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.gates import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from lab.scenario import Scenario
    from selftests.scenarios.replay import Replay

SATISFIED = frozenset({"PASS", "ATTESTED", "DEFERRED"})
"""Verdicts that let a run end with 0."""


def cases(files: Iterable[Path], always: Collection[str]) -> list[ParameterSet]:
    """The scenario files; those whose names are not among `always` are thorough."""
    return [
        pytest.param(path, id=path.stem, marks=() if path.stem in always else pytest.mark.thorough)
        for path in files
    ]


def expected(scenario: Scenario, key: str) -> set[str]:
    """What the gate may be: as listed, for its node or for all, else PASS."""
    gate = key.partition("[")[0]
    if key in scenario.expect:
        return {scenario.expect[key]}
    if gate in scenario.expect:
        return {scenario.expect[gate]}
    return {"PASS"}


def in_turn(scenario: Scenario, key: str) -> set[str]:
    """What the gate may be: as listed, BLOCKED by one it stands on that is listed as red, or green.

    One that takes a statement is green with and without it.
    """
    gate = lookup(key.partition("[")[0])
    if key in scenario.expect or gate.id in scenario.expect:
        return expected(scenario, key)
    if any(not in_turn(scenario, each) & SATISFIED for each in gate.after):
        return {"BLOCKED"}
    return {"PASS", "ATTESTED"} if gate.attested or gate.attestable else {"PASS"}


def compare(run: Replay, wanted: Callable[[str], Collection[str]]) -> None:
    """Assert that each gate ended as wanted, the run with them, and that nothing broke meanwhile.

    Args:
        run: the replay.
        wanted: by a gate's key, the verdicts that it may have.
    """
    wrong = {
        key: f"{verdict} ({summary})"
        for key, (verdict, summary) in run.verdicts.items()
        if verdict not in wanted(key)
    }
    assert not wrong, f"{wrong}\n{run.console}"
    assert run.verdicts, run.console
    red = any(verdict not in SATISFIED for verdict, _ in run.verdicts.values())
    assert run.rc == int(red), run.console
    assert "Traceback" not in run.console, run.console
    assert run.unknown == []
