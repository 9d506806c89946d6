"""A log that is only told, never written: for what is computed from many lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from fixtures import gates
from fixtures.applylog.record import EMPTY, GateRecord, Kind, Line
from fixtures.core.verdicts import Verdict

if TYPE_CHECKING:
    from fixtures.applylog.canonical import JSON

AT: Final = datetime(2026, 11, 30, 3, 4, 5, tzinfo=UTC)
IDENTITY: Final = "ab" * 32
NODES: Final[dict[str, list[str]]] = {
    "control-plane": ["rke-cp01", "rke-cp02", "rke-cp03"],
    "worker": ["rke-platform01", "rke-platform02", "rke-platform03"],
}


@dataclass
class Story:
    """Lines of a log, each after the one before."""

    lines: list[Line] = field(default_factory=list)

    def add(self, kind: Kind, run: str = "one", **fields: JSON) -> None:
        """One more line."""
        head = self.lines[-1].head if self.lines else EMPTY
        self.lines.append(Line.after(head, at=AT, run=run, kind=kind, fields=fields))

    def decide(
        self,
        key: str,
        verdict: Verdict = Verdict.PASS,
        identity: str | None = IDENTITY,
        **facts: JSON,
    ) -> None:
        """A gate's line, for a cluster of that identity."""
        gate, _, node = key.partition("[")
        record = GateRecord(
            gate=gate,
            node=node.removesuffix("]") or None,
            verdict=verdict,
            summary="as the runbook asks",
            started=AT,
            seconds=0.5,
            facts=facts,
        )
        self.add(Kind.GATE, identity=identity, **record.fields())

    def restore(self) -> None:
        """The reset of a restore begins."""
        self.add(Kind.STEP, gate="F6-3", step="reset", state="sending", stales=True)

    def accept(self) -> None:
        """A whole apply: every gate of the table, each with the verdict that it comes to."""
        self.add(Kind.RUN_START, nodes={role: list(names) for role, names in NODES.items()})
        self.add(Kind.IDENTITY, identity=IDENTITY)
        for gate in gates.GATES:
            if gate.id == "F6-3":
                self.restore()
            for key in keys(gate):
                self.decide(key, usual(gate))


def usual(gate: gates.Gate) -> Verdict:
    """What the gate comes to in an apply that goes well."""
    if gate.id == "G.9":
        return Verdict.DEFERRED
    return Verdict.ATTESTED if gate.attested else Verdict.PASS


def keys(gate: gates.Gate) -> list[str]:
    """The keys under which the gate is recorded."""
    if gate.each is gates.Each.CLUSTER:
        return [gate.id]
    return [f"{gate.id}[{node}]" for node in NODES[gate.each.value]]
