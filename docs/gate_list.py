"""Writes docs/gates.md from the table of gates: `make docs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.gates import Each, Gate, Phase, barrier, of_phase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TARGET = Path(__file__).with_name("gates.md")
_HEAD = """\
# The gates

Written by `make docs` from `fixtures/gates/`. Change the table, not this page.

A gate is decided by one test. Its verdict is dated in the apply log under its id.
A *drill* stops, moves, reboots, drains or restores something.
It runs only with `--authorize=NAME`, and so does what is marked *authorized*.
What is *attested* only a human can tell: `--attest=GATE=TEXT` with `--operator=NAME`.
What is *measured or attested* is measured as far as that is possible, and stated for the rest.
What *may be deferred* the runbook itself puts off, as long as its reason is measured to hold.
No other gate takes a statement, and no statement replaces a measurement that is possible.
A drill that was done before the log existed may be stated, with date and reference, or run;
so may F6-3.journal with F6-3.
What *creates* makes short-lived objects, and always removes them: `-m creates`.
"""
_F6 = """\
Every gate of this phase is also `-m destructive`.
P1 to P4 are proved in the run of F6-2 and F6-3, never loaded.
"""
_EACH = {
    Each.CLUSTER: "the cluster",
    Each.CONTROL_PLANE: "each control plane",
    Each.WORKER: "each worker",
}


def render() -> str:
    """The whole page, from the table as it is now."""
    phases = [phase for phase in Phase if of_phase(phase)]
    return "\n".join([_HEAD, *(line for phase in phases for line in _phase(phase))])


def _phase(phase: Phase) -> Iterator[str]:
    gates = of_phase(phase)
    yield f"## Phase {phase.value} (`-m {phase.marker}`)"
    yield ""
    if phase is Phase.F6:
        yield _F6
    needed = barrier(phase)
    if needed:
        yield f"Needs, from the phase before: {_listed([gate.id for gate in needed])}."
        yield ""
    yield "| gate | claim | decided for | asks | also needs |"
    yield "|---|---|---|---|---|"
    for gate in gates:
        yield _row(gate)
    yield ""
    for gate in gates:
        yield from _notes(gate)
    for stop in dict.fromkeys(gate.stop for gate in gates):
        ids = [gate.id for gate in gates if gate.stop == stop]
        yield f"**STOP** ({_listed(ids)}): {stop}."
        yield ""


def _row(gate: Gate) -> str:
    claim = f"{''.join(f'**{mark}** ' for mark in _marks(gate))}{gate.title}"
    asks = _listed([f"`{name}`" for name in gate.asks])
    cells = (gate.id, claim, _EACH[gate.each], asks, _listed(gate.after))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _marks(gate: Gate) -> Iterator[str]:
    if gate.drill or gate.authorized:
        yield "drill" if gate.drill else "authorized"
    if gate.creates:
        yield "creates"
    if gate.attested and not gate.authorized:
        yield "attested"
    if gate.attestable:
        yield "measured or attested"
    if gate.remedied:
        yield "measured; what ended its CLEANUP STOP is attested"
    if gate.deferrable:
        yield "may be deferred"


def _notes(gate: Gate) -> Iterator[str]:
    if gate.deviation:
        yield f"- {gate.id} deviates from the runbook's command: {gate.deviation}."
        yield ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "—"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
