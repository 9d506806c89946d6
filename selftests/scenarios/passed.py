"""A log that says that everything before a phase was passed on this lab's cluster.

What the records say was not measured: replaying a restore for each scenario would take an hour.
The phases themselves are rehearsed in one go elsewhere.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.core.verdicts import Verdict
from fixtures.gates import GATES, Each, Phase, lookup
from selftests.scenarios.replay import replay

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.gates import Gate

NODES = {
    Each.CLUSTER: (None,),
    Each.CONTROL_PLANE: ("rke-cp01", "rke-cp02", "rke-cp03"),
    Each.WORKER: ("rke-platform01", "rke-platform02", "rke-platform03"),
}


def pass_all_before(reports: Path, phase: Phase) -> None:
    """Record a PASS of each gate of each earlier phase, for the cluster of these reports."""
    ended = replay(reports, None, "", "--gate=B.1")
    assert ended.rc == 0, ended.console
    pass_also(reports, *(gate.id for gate in GATES if gate.phase.position < phase.position))


def pass_also(reports: Path, *gates: str) -> None:
    """Record a PASS of these gates, for the cluster that these reports know already."""
    ledger = Ledger.open(reports, "lab")
    identity = next(
        str(line.fields["identity"]) for line in ledger.lines() if line.kind is Kind.IDENTITY
    )
    ledger.append(Kind.RUN_START, cluster="lab", mode="lab", operator="selftests")
    for gate in map(lookup, gates):
        for node in NODES[gate.each]:
            record = _passed(gate, node, identity)
            ledger.append(Kind.GATE, identity=identity, **record.fields())
    ledger.append(Kind.RUN_END, status=0, verdicts={})


def _passed(gate: Gate, node: str | None, identity: str) -> GateRecord:
    return GateRecord(
        gate=gate.id,
        node=node,
        verdict=Verdict.PASS,
        summary=gate.title,
        identity=identity,
        evidence=[],
        facts={},
        started=datetime.now(UTC),
        seconds=0.0,
        stop=gate.stop,
        section=gate.section,
        title=gate.title,
        deviation=gate.deviation,
    )
