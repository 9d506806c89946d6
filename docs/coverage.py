"""Writes docs/coverage.md: what makes each gate PASS, FAIL and UNKNOWN, and where: `make docs`."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from docs.stop_clauses import CLAUSES
from fixtures.gates import GATES, Gate, Phase, of_phase
from lab.scenario import load
from machines import expectations
from machines.expectation import EVERY
from machines.tofu_cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TARGET = Path(__file__).with_name("coverage.md")
ROOT = TARGET.parents[1]
SCENARIOS = ROOT / "lab" / "scenarios"
REHEARSAL = ROOT / ".ci" / "rehearse"
GREEN = ("PASS", "ATTESTED", "DEFERRED")
RED = ("FAIL", "UNKNOWN")

_HEAD = """\
# Coverage

Written by `make docs` from `fixtures/gates/`, `lab/scenarios/`, `machines/expectations.py` and
`machines/tofu_cases.py`.

A row is a gate: where the runbook states it, the STOP it stands for, and the scenarios of the
embedded lab that make it green, FAIL and UNKNOWN. A self-test fails when one of them is missing.
`ATTESTED` and `DEFERRED` are named; a scenario without a word is a PASS.
*Rehearsal* is `make rehearse`, which ends with 0 only if all its gates are green.
*Machines* says what `make machines` decides with real programs: the verdicts it brings about.
"""
_COLUMNS = "| runbook | gate | STOP | green | FAIL | UNKNOWN | machines |"
_SHOWN = 3
# What the healthy machines lab decides (`machines/acceptance.py`); its faults add the rest.
_MACHINES_WHOLE = (Phase.B, Phase.C, Phase.F6, Phase.W)
_MACHINES_GATES = (
    *(gate for gate, allowed in expectations.HEALTHY.gates.items() if allowed == {"PASS"}),
    *expectations.D,
    *expectations.D2_READ_ONLY,
    *expectations.D2_PODS,
    *expectations.MEASURED_F1,
    *("F2.enc-i", "F2.enc-ii"),
)


def verdicts() -> dict[str, dict[str, list[str]]]:
    """Of each gate, by verdict, the scenarios that bring it about, by path without ending.

    A `healthy` file makes what its folder's scenarios speak of PASS, unless it says otherwise.
    """
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for folder in sorted({path.parent for path in SCENARIOS.rglob("*.yaml")}):
        files = {_name(path): load(path).expect for path in sorted(folder.glob("*.yaml"))}
        spoken = {_gate(key) for expect in files.values() for key in expect}
        for name, expect in files.items():
            if name.rpartition("/")[2].startswith("healthy"):
                for gate in spoken - {_gate(key) for key in expect}:
                    found[gate]["PASS"].append(name)
            for gate, verdict in dict.fromkeys((_gate(key), said) for key, said in expect.items()):
                found[gate][verdict].append(name)
    return found


def rehearsed() -> frozenset[str]:
    """The ids of the gates that the rehearsal decides."""
    said = REHEARSAL.read_text(encoding="utf-8")
    markers = set(re.findall(r"\bgate_[a-z0-9]+\b", said))
    if "destructive" in said:
        markers.add(Phase.F6.marker)
    return frozenset(gate.id for gate in GATES if gate.phase.marker in markers)


def machines() -> dict[str, set[str]]:
    """Of each gate, the verdicts that the machines lab brings about."""
    found: dict[str, set[str]] = defaultdict(set)
    for gate in GATES:
        if gate.phase in _MACHINES_WHOLE or gate.id in _MACHINES_GATES:
            found[gate.id].add("PASS")
    for cases in expectations.EXPECTATIONS.values():
        for case in cases:
            for key, allowed in case.gates.items():
                if key != EVERY:
                    found[_gate(key)] |= set(RED) & allowed
    found["F0.plan"] |= {case.verdict for case in CASES}
    for gate in expectations.STATED:
        found[gate].add("ATTESTED")
    return found


def missing() -> dict[str, list[str]]:
    """Of each gate that lacks any, the kinds of verdict that nothing in the embedded lab shows."""
    by_gate, green = verdicts(), rehearsed()
    found = {}
    for gate in GATES:
        lacks = [] if _greens(gate, by_gate[gate.id]) or gate.id in green else ["PASS"]
        # What is stated by authorizing is never UNKNOWN: without, it is UNAUTHORIZED.
        wanted = RED if not gate.attested else () if gate.authorized else ("UNKNOWN",)
        lacks += [verdict for verdict in wanted if not by_gate[gate.id].get(verdict)]
        if lacks:
            found[gate.id] = lacks
    return found


def render() -> str:
    """The whole page, from the code as it is now."""
    by_gate, green, real = verdicts(), rehearsed(), machines()
    lines = [_HEAD]
    for phase in Phase:
        if of_phase(phase):
            lines += [f"## Phase {phase.value}", "", _COLUMNS, "|---|---|---|---|---|---|---|"]
            for gate in of_phase(phase):
                lines.append(_row(gate, by_gate[gate.id], green, real.get(gate.id, set())))
            lines.append("")
    lines += ["## The runbook's STOP clauses", "", "| where | STOP | gates |", "|---|---|---|"]
    lines += [f"| {place} | {clause} | {', '.join(ids)} |" for place, clause, ids in CLAUSES]
    return "\n".join([*lines, ""])


def _row(
    gate: Gate, found: Mapping[str, Sequence[str]], green: frozenset[str], real: set[str]
) -> str:
    good = [*(["*rehearsal*"] if gate.id in green else []), *_greens(gate, found)]
    cells = (
        gate.section,
        f"**{gate.id}** {gate.title}",
        gate.stop,
        ", ".join(good) or "—",
        *(_listed([_link(name) for name in found.get(verdict, ())]) for verdict in RED),
        ", ".join(verdict for verdict in ("PASS", "ATTESTED", *RED) if verdict in real) or "—",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _greens(gate: Gate, found: Mapping[str, Sequence[str]]) -> list[str]:
    said = []
    for verdict in GREEN:
        if gate.attested and verdict == "PASS":
            continue
        if names := found.get(verdict):
            shown = _listed([_link(name) for name in names])
            said.append(shown if verdict == "PASS" else f"{verdict}: {shown}")
    return said


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "—"


def _link(name: str) -> str:
    return f"[{name}](../lab/scenarios/{name}.yaml)"


def _name(path: Path) -> str:
    return str(path.relative_to(SCENARIOS).with_suffix(""))


def _gate(key: str) -> str:
    return key.partition("[")[0]


def _write() -> Iterator[str]:
    TARGET.write_text(render(), encoding="utf-8")
    for gate, lacks in missing().items():
        yield f"{gate}: no scenario for {', '.join(lacks)}"


if __name__ == "__main__":
    print("\n".join(_write()))
