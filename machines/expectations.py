"""What the suite must say of each fault (gates: `gate` or `gate[node]` → verdicts allowed)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ALL_READ_ONLY: Final = "(gate_b or gate_c) and not drill"
# Phase C first: a red gate of B in the log would bar it, and its own verdict would not be seen.
_PHASE_C: Final = "gate_c and not drill"
_PHASE_B: Final = "gate_b"

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
        selection: pytest's `-m`.
        gates: gate, `gate[node]` or `EVERY` → the verdicts it may have.
        statuses: the exit statuses allowed.
        says: texts that the run must print.
    """

    name: str
    selection: str
    gates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    statuses: frozenset[int] = frozenset({1})
    says: tuple[str, ...] = ()

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
    return wanted in {EVERY, gate, gate.partition("[")[0]}


def _both(
    phase_c: Mapping[str, frozenset[str]],
    phase_b: Mapping[str, frozenset[str]],
    *says: str,
) -> tuple[Expectation, ...]:
    return (
        Expectation("phase-c", _PHASE_C, phase_c, says=says),
        Expectation("phase-b", _PHASE_B, phase_b, says=says),
    )


EXPECTATIONS: Final[dict[str, tuple[Expectation, ...]]] = {
    "keepalived-killed": _both({"C.3": FAIL}, {"B.2": FAIL, "B.3": FAIL}),
    "vip-deleted": _both(
        {"C.2": NOT_GREEN, "C.3": FAIL}, {"B.1": NOT_GREEN, "B.3": FAIL, "B.4": FAIL}
    ),
    "etcd-member-stopped": _both({"C.1": FAIL}, {"B.5": FAIL}),
    "etcd-learner": _both({"C.1": FAIL}, {"B.5": FAIL}),
    "sshd-stopped": _both(
        {"C.1": UNKNOWN, "C.3[rke-cp02]": UNKNOWN},
        {"B.3": UNKNOWN, "B.5": UNKNOWN, "B.7": UNKNOWN, "B.8": UNKNOWN},
    ),
    "bastion-rate-limited": _both({EVERY: UNDECIDED}, {EVERY: UNKNOWN}),
    "host-key-changed": _both(
        {"C.1": UNKNOWN, "C.3[rke-cp02]": UNKNOWN},
        {"B.3": UNKNOWN, "B.5": UNKNOWN, "B.7": UNKNOWN, "B.8": UNKNOWN},
        "SHA256:",
    ),
    "kubeconfig-expired": _both(
        {"C.1": UNDECIDED, "C.2": UNDECIDED, "C.4": UNDECIDED, "C.7": UNDECIDED, "C.8": UNDECIDED},
        {"B.1": UNKNOWN, "B.5": UNKNOWN, "B.6": UNKNOWN},
    ),
    "controller-disk-full": (
        Expectation(
            "refused",
            ALL_READ_ONLY,
            statuses=frozenset({4}),
            says=("No space left on device",),
        ),
    ),
    "controller-disk-fills": (
        Expectation(
            "stopped",
            ALL_READ_ONLY,
            statuses=frozenset({3}),
            says=("No space left on device",),
        ),
    ),
}
