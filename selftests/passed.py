"""Logs that say that earlier phases were passed, without having asked anybody.

What the records say was not measured: replaying a restore for each scenario would take an hour.
The phases themselves are rehearsed in one go elsewhere.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from fixtures.applylog import history
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.core.verdicts import Verdict
from fixtures.gates import GATES, Each, Phase, lookup
from lab.pki import Pki
from lab.seed import Seed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from fixtures.gates import Gate

RUN: Final = "earlier"
"""The run that the records are of."""
CONTROL_PLANES: Final = ("rke-cp01", "rke-cp02", "rke-cp03")
WORKERS: Final = ("rke-platform01", "rke-platform02", "rke-platform03")
NODES: Final = {Each.CONTROL_PLANE.value: CONTROL_PLANES, Each.WORKER.value: WORKERS}


def pass_all_before(reports: Path, phase: Phase) -> Path:
    """Record a PASS of each gate of each earlier phase, for the cluster that these reports get.

    Before phase B there is no cluster: what is recorded then is of whichever comes.
    """
    ledger = Ledger.open(reports, "lab", run=RUN)
    if phase.position > Phase.B.position:
        ledger.append(Kind.IDENTITY, identity=identity(reports))
    write(ledger, (gate for gate in GATES if gate.phase.position < phase.position))
    return reports


def pass_also(reports: Path, *gates: str) -> None:
    """Record a PASS of these gates, for the cluster that the log knows."""
    write(Ledger.open(reports, "lab", run=RUN), map(lookup, gates))


def write(
    ledger: Ledger,
    gates: Iterable[Gate],
    nodes: Mapping[str, Sequence[str]] = NODES,
    verdict: Verdict = Verdict.PASS,
) -> None:
    """Write that verdict on these gates, for the cluster that the log knows, if it knows one."""
    known = history.last_identity(ledger.lines())
    for gate in gates:
        for key in history.keys(gate, nodes):
            node = key.partition("[")[2].removesuffix("]") or None
            ledger.append(Kind.GATE, identity=known, **_record(gate, node, verdict).fields())


def identity(reports: Path) -> str:
    """The identity of the lab's cluster of these reports, as a run reads it."""
    home = reports / ".lab"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    seed = Seed.kept_in(home)
    authority = hashlib.sha256(Pki(seed).server_ca.certificate).hexdigest()
    return f"{authority}:{seed.uuid('namespace', 'kube-system')}"


def _record(gate: Gate, node: str | None, verdict: Verdict) -> GateRecord:
    return GateRecord(
        gate=gate.id,
        node=node,
        verdict=verdict,
        summary=gate.title,
        evidence=[],
        facts={},
        started=datetime.now(UTC),
        seconds=0.0,
        stop=gate.stop,
        section=gate.section,
        title=gate.title,
        deviation=gate.deviation,
    )
