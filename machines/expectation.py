"""What one pytest run must say: verdicts, exit status, words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PASS: Final = frozenset({"PASS"})
ATTESTED: Final = frozenset({"ATTESTED"})
BLOCKED: Final = frozenset({"BLOCKED"})
FAIL: Final = frozenset({"FAIL"})
UNKNOWN: Final = frozenset({"UNKNOWN"})
NOT_GREEN: Final = frozenset({"FAIL", "UNKNOWN"})
UNDECIDED: Final = frozenset({"UNKNOWN", "BLOCKED"})
EVERY: Final = "*"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One pytest run under a fault.

    Attributes:
        name: short, for file names and lines.
        selection: pytest's arguments.
        gates: gate, `gate[node]`, phase or `EVERY` → the verdicts it may have.
        statuses: the exit statuses allowed.
        says: texts that the run must print.
        undone: the lab must be healthy at once when the run has ended.
    """

    name: str
    selection: tuple[str, ...]
    gates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    statuses: frozenset[int] = frozenset({1})
    says: tuple[str, ...] = ()
    undone: bool = False

    def __str__(self) -> str:
        """What is expected, in one line."""
        gates = ", ".join(f"{gate} {'/'.join(sorted(self.gates[gate]))}" for gate in self.gates)
        return f"{gates or self.name}, exit {'/'.join(map(str, sorted(self.statuses)))}"

    def complaints(self, status: int, verdicts: Mapping[str, str], output: str) -> list[str]:
        """What of the run is not as expected; empty when all is."""
        found = []
        if status not in self.statuses:
            found.append(f"exit {status}, expected {sorted(self.statuses)}")
        for gate, allowed in self.gates.items():
            named = {name: seen for name, seen in verdicts.items() if _matches(gate, name)}
            if not named:
                found.append(f"{gate} has no verdict")
            found += [
                f"{name} is {seen}, expected {' or '.join(sorted(allowed))}"
                for name, seen in named.items()
                if seen not in allowed
            ]
        found += [f"nothing says {text!r}" for text in self.says if text not in output]
        if "Traceback (most recent call last)" in output:
            found.append("a traceback was shown")
        return found


def _matches(wanted: str, gate: str) -> bool:
    return wanted in {EVERY, gate, gate.partition("[")[0], gate.partition(".")[0]}


def these(*gates: str) -> tuple[str, ...]:
    """The arguments that select these gates."""
    return (f"--gate={','.join(gates)}",)
