"""Nothing of phase E counts on a cluster whose last restore is newer than what was seen of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from fixtures import gates
from fixtures.applylog import history
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Verdict
from fixtures.session.prerequisites import missing, names_needed
from selftests.project.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.gates import Gate

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
RESTORED = ["F6-3", "F6-3.journal", "F6-1R", "F6-2R"]
RUN = gates.of_phase(gates.Phase.E)
IDENTITY = "ab" * 32


def needed(gate: Gate) -> list[str]:
    return names_needed(gate, None, CLUSTER)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger.open(tmp_path, "lab", run="one")
    ledger.append(Kind.IDENTITY, identity=IDENTITY)
    return ledger


def passed(ledger: Ledger, *names: str) -> None:
    for name in names:
        gate = gates.lookup(name)
        record = GateRecord(
            gate=name,
            node=None,
            verdict=Verdict.PASS,
            summary="",
            started=datetime(2026, 11, 30, tzinfo=UTC),
            seconds=0.5,
            facts={},
            evidence=[],
            title=gate.title,
            section=gate.section,
            stop=gate.stop,
        )
        ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())


def restored(ledger: Ledger) -> None:
    ledger.append(Kind.STEP, gate="F6-3", step="reset", state="sending", stales=True)


def in_the_way(ledger: Ledger, gate: Gate) -> list[str]:
    found = history.latest(ledger.lines(), IDENTITY)
    return missing(needed(gate), {key: record.verdict for key, record in found.items()})


def test_each_gate_of_e_needs_the_restore_and_what_was_repeated_after_it() -> None:
    first, *others = RUN
    assert first.id == "E.0"
    assert needed(first) == RESTORED
    assert others
    for gate in others:
        assert needed(gate) == [*RESTORED, "E.0"]


@pytest.mark.parametrize("late", [(), ("F6-1R",), ("F6-2R",), ("F6-1R", "F6-2R")])
def test_what_was_repeated_before_the_last_restore_is_missing(
    ledger: Ledger, late: tuple[str, ...]
) -> None:
    passed(ledger, *RESTORED)
    restored(ledger)
    passed(ledger, "F6-3", "F6-3.journal", *late)
    older = [f"{name} (no verdict)" for name in ("F6-1R", "F6-2R") if name not in late]
    assert in_the_way(ledger, RUN[0]) == older
    assert in_the_way(ledger, RUN[1]) == [*older, "E.0 (no verdict)"]


def test_a_restore_that_was_begun_and_not_judged_is_newer_too(ledger: Ledger) -> None:
    passed(ledger, *RESTORED, "E.0")
    assert in_the_way(ledger, RUN[1]) == []
    restored(ledger)
    assert in_the_way(ledger, RUN[1]) == [f"{name} (no verdict)" for name in [*RESTORED, "E.0"]]


def test_what_is_repeated_after_it_counts(ledger: Ledger) -> None:
    restored(ledger)
    passed(ledger, *RESTORED)
    assert in_the_way(ledger, RUN[0]) == []
