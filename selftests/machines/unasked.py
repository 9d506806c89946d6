"""Records gates as ATTESTED that the machines lab cannot be asked, so that later ones can be.

`python -m selftests.machines.unasked REPORTS CLUSTER GATE…`, once the log knows the cluster's
identity. Nothing that is recorded so was measured, and every line says so. Nobody's word decides
these gates elsewhere: it counts in runs of `pytest -p selftests.machines.unasked`, and only so that
later gates can be asked.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fixtures import gates
from fixtures.applylog.history import identity_of
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.core.verdicts import Verdict
from machines.expectations import UNASKED_D2, UNASKED_E

if TYPE_CHECKING:
    from collections.abc import Sequence

SAID: Final = (
    "not asked here: the machines lab has no Cilium (docs/machines-lab.md); recorded so that what "
    "stands on it can be asked"
)


def pytest_configure() -> None:
    """Let a record that a gate was not asked satisfy what stands on that gate, in this run."""
    for gate_id in (*UNASKED_E, *UNASKED_D2):
        gates._BY_ID[gate_id] = replace(gates.lookup(gate_id), attestable=True)


def record(reports: Path, cluster: str, names: Sequence[str]) -> None:
    """Write a line of each gate, for the cluster that the log knows.

    Raises:
        LedgerError: the log cannot be written.
        ValueError: it knows no cluster.
    """
    ledger = Ledger.open(reports, cluster)
    identities = [found for line in ledger.lines() if (found := identity_of(line))]
    if not identities:
        raise ValueError(f"{ledger.path} knows no cluster yet: ask something of it first")
    ledger.append(Kind.RUN_START, cluster=cluster, mode="lab", operator="machines lab")
    for gate in map(gates.lookup, names):
        line = GateRecord(
            gate=gate.id,
            node=None,
            verdict=Verdict.ATTESTED,
            summary=SAID,
            started=datetime.now(UTC),
            seconds=0.0,
            title=gate.title,
            section=gate.section,
            stop=gate.stop,
            deviation=gate.deviation,
        )
        ledger.append(Kind.GATE, identity=identities[-1], **line.fields())
    ledger.append(Kind.RUN_END, status=0, verdicts={})


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
