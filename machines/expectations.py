"""What the suite must say of each fault (gates: `gate` or `gate[node]` → verdicts allowed)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTHORIZED: Final = "--authorize=Machines Lab"

ALL_READ_ONLY: Final = ("-m", "(gate_b or gate_c) and not drill")
# Phase C first: a red gate of B in the log would bar it, and its own verdict would not be seen.
_PHASE_C: Final = ("-m", "gate_c and not drill")
_PHASE_B: Final = ("-m", "gate_b")

D: Final = ("D.1", "D.2", "D.3", "D.4", "D.5", "D.6")
D2_READ_ONLY: Final = (
    *("D2.nodes", "D2.labels", "D2.coredns", "D2.autoscaler", "D2.metrics", "D2.operator"),
    *("D2.relay", "D2.agents", "D2.kube-proxy", "D2.ciliumnodes"),
)
D2_PODS: Final = ("D2.dns", "D2.dns-utils", "D2.sched")
UNASKED_E: Final = ("E.0", "E.1", "E.2", "E.3", "E.4", "E.5", "E.6", "E.7")
UNASKED_D2: Final = ("D2.netpol", "D2.status", "D2.connectivity", "D2.hubble", "D2.flows")
"""What only a real Cilium, its tools and its network could answer; the embedded lab covers it."""


def these(*gates: str) -> tuple[str, ...]:
    """The arguments that select these gates."""
    return (f"--gate={','.join(gates)}",)


JOINED: Final = these(*D, *D2_READ_ONLY)

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
        gates: gate, `gate[node]` or `EVERY` → the verdicts it may have.
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
    # D2 first, as C before B: a red gate of D would bar it.
    "label-removed": (
        Expectation("d2", these("D2.labels"), {"D2.labels": FAIL}, says=("rke-platform02",)),
        Expectation("d", these("D.2"), {"D.2": FAIL}, says=("rke-platform02",)),
    ),
    "taint-removed": (Expectation("d", these("D.3"), {"D.3": FAIL}, says=("rke-cp02",)),),
    "coredns-stopped": (
        Expectation(
            "d2",
            these("D2.coredns", "D2.dns", "D2.dns-utils"),
            {"D2.coredns": FAIL, "D2.dns": FAIL, "D2.dns-utils": FAIL},
        ),
    ),
    "reboot-ignored": (
        Expectation("w-2", (*these("W-2"), AUTHORIZED), {"W-2": FAIL}, says=("was not rebooted",)),
    ),
    "eviction-forbidden": (
        Expectation(
            "w-1",
            (*these("W-1"), AUTHORIZED),
            {"W-1": FAIL},
            says=("machines-lab/shop",),
            undone=True,
        ),
    ),
    "agent-stopped": (
        Expectation("d2", these("D2.nodes"), {"D2.nodes": FAIL}, says=("rke-platform03",)),
        Expectation(
            "d", these("D.1"), {"D.1[rke-platform03]": FAIL}, says=("rke2-agent", "inactive")
        ),
    ),
}

AGAIN: Final[dict[str, tuple[str, ...]]] = {
    "label-removed": JOINED,
    "taint-removed": JOINED,
    "coredns-stopped": these(*D2_READ_ONLY, "D2.dns", "D2.dns-utils"),
    "reboot-ignored": JOINED,
    "eviction-forbidden": JOINED,
    "agent-stopped": JOINED,
}
"""What must be PASS after a fault was mended; of those not named, `ALL_READ_ONLY`."""
