"""What the suite must say of each fault (gates: `gate` or `gate[node]` → verdicts allowed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from machines import plan
from machines.expectation import (
    ATTESTED,
    BLOCKED,
    EVERY,
    FAIL,
    NOT_GREEN,
    PASS,
    UNDECIDED,
    UNKNOWN,
    Expectation,
    these,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTHORIZED: Final = "--authorize=Machines Lab"

_NO_PROXMOX: Final = ", ".join(machine.name for machine in plan.MACHINES)
STATED_0: Final = (
    "--operator=Machines Lab",
    "--attest=0.3=nobody but the lab itself writes to the origin of its checkouts",
    f"--attest=0.6=the lab has no Proxmox and no snapshots, of none of {_NO_PROXMOX}",
)
"""What of phase 0 a human states, and what is true of it here: nothing of it is measured."""

MEASURED_0: Final = ("0.1", "0.2", "0.4", "0.5", "0.7", "0.9")
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


JOINED: Final = these(*D, *D2_READ_ONLY)

BEFORE_FLIP: Final = ("F1.a", "F1.b", "F1.nat", "F1.f")
AFTER_FLIP: Final = (
    *("F1.c", "F1.d", "F1.e", "F1.gw", "F1.ping", "F1.trace"),
    *(f"F1.{port}" for port in plan.CEPH_PORTS),
)
MEASURED_F1: Final = ("F1.nat", "F1.f", *AFTER_FLIP)
ALLOCATED: Final = (
    "--operator=Machines Lab",
    f"--attest=F1.a={plan.CEPH_GATEWAY.ip} is allocated to {plan.GATEWAY.name} by the lab's plan",
)
_RETURNED: Final = (
    f"--attest=F1.b=the route to {plan.NODE_LAN} is part of {plan.MONITOR.name}'s interfaces"
)
ROUTED: Final = (*these(*BEFORE_FLIP, *AFTER_FLIP), *ALLOCATED, _RETURNED)


BEFORE_SECRET: Final = these("F2.enc-i")
IN_ETCD: Final = these("F2.enc-ii")
"""The encryption gate, of the Secret with the Ceph user's key."""

_ROTATED: Final = "--attest=F2.enc-ii=no Ceph user has the key; the lab planted it"


def _precondition(gate: str, says: str) -> Expectation:
    """A row of phase 0 on which phase B stands."""
    return Expectation("before-b", these(gate, "B.2"), {gate: FAIL, "B.2": BLOCKED}, says=(says,))


def _both(
    phase_c: Mapping[str, frozenset[str]],
    phase_b: Mapping[str, frozenset[str]],
    *says: str,
) -> tuple[Expectation, ...]:
    return (
        Expectation("phase-c", _PHASE_C, phase_c, says=says),
        Expectation("phase-b", _PHASE_B, phase_b, says=says),
    )


_OF_0: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(MEASURED_0, PASS),
    **dict.fromkeys(("0.3", "0.6"), ATTESTED),
}
BEFORE_B: Final = Expectation(
    "before-b",
    ("-m", "gate_0", *STATED_0),
    _OF_0 | {"0.8": frozenset({"DEFERRED"})},
    statuses=frozenset({0}),
    says=("RKE2 is applied on none of",),
)
"""Phase 0 of machines without RKE2."""

HEALTHY: Final = Expectation(
    "healthy",
    ("-m", "(gate_0 or gate_b or gate_c) and not drill", *STATED_0),
    _OF_0 | {"0.8": PASS, "B": PASS, "C": PASS},
    statuses=frozenset({0}),
)


def _f1(
    gates: Mapping[str, frozenset[str]], *says: str, status: int = 1
) -> tuple[Expectation, ...]:
    # A statement that met a red gate does not count any more.
    stated = ALLOCATED if "F1.a" in gates else ()
    statuses = frozenset({status})
    return (Expectation("f1", (*these(*gates), *stated), gates, statuses, says),)


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
            # Its log is a new one.
            (*ALL_READ_ONLY, "--with-prerequisites"),
            statuses=frozenset({3}),
            says=("No space left on device",),
        ),
    ),
    "checkout-dirty": (_precondition("0.2", "main.yml"),),
    "token-readable": (_precondition("0.4", "mode 0644"),),
    "jump-missing": (_precondition("0.5", "rke-cp02"),),
    "encryption-off": (
        Expectation("at-rest", these("0.8"), {"0.8": FAIL}, says=("rke-cp02", "not enabled")),
    ),
    "secrets-in-plaintext": (
        Expectation(
            "stop", IN_ETCD, {"F2.enc-ii": FAIL}, says=("CLEANUP STOP: etcd keeps", "PLAINTEXT")
        ),
        Expectation(
            "stands",
            (*IN_ETCD, "--operator=Machines Lab", _ROTATED),
            {"F2.enc-ii": FAIL},
            says=("CLEANUP STOP stands since", "Secret kube-system/csi-rbd-secret is there"),
        ),
        Expectation(
            "released",
            (*IN_ETCD, AUTHORIZED, "--scope=F2.enc-ii"),
            {"F2.enc-ii": UNKNOWN},
            says=("as Machines Lab authorized, and gone", "CLEANUP STOP is released"),
        ),
        Expectation("at-rest", these("0.8"), {"0.8": FAIL}, says=("PLAINTEXT",)),
    ),
    "plan-replaces-another": (
        Expectation("f0", these("F0.plan"), {"F0.plan": FAIL}, says=("wetopi-ops01", "replaces")),
    ),
    "plan-cut-off": (
        Expectation("f0", these("F0.plan"), {"F0.plan": UNKNOWN}, says=("not a valid zip file",)),
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
    "ceph-rule-missing": _f1({"F1.c": FAIL, "F1.ping": FAIL, "F1.3300": FAIL}, "timed out"),
    "nat-everywhere": _f1({"F1.nat": FAIL, "F1.ping": PASS}),
    "ceph-mtu-lowered": _f1({"F1.e": FAIL, "F1.ping": PASS}, "takes 1400 bytes at most"),
    "ceph-leg-bare": _f1({"F1.gw": FAIL, "F1.3300": FAIL}, "no connected route"),
    "ceph-address-claimed": _f1({"F1.a": FAIL}, "answers ARP"),
    "monitor-ports-shut": _f1(
        {"F1.ping": PASS, "F1.3300": FAIL, "F1.6789": FAIL},
        "port 3300: refused",
        "port 6789: timed out",
    ),
    "return-route-missing": _f1({"F1.c": PASS, "F1.ping": FAIL, "F1.trace": FAIL}),
    "answers-another-way": _f1({"F1.d": FAIL, "F1.ping": FAIL}, "reverse-path filter"),
    "ceph-route-overlaps": _f1({"F1.f": FAIL}, "rke-cp03", "overlaps"),
    # Other programs say the same.
    "tools-missing": _f1(
        {"F1.a": ATTESTED, "F1.trace": PASS, "F1.3300": PASS, "F1.6789": PASS}, status=0
    ),
}

NOT_FLIPPED: Final = Expectation(
    "before-the-flip",
    ROUTED,
    {"F1.a": ATTESTED, "F1.b": ATTESTED, "F1.nat": PASS, "F1.f": PASS}
    | dict.fromkeys(AFTER_FLIP, BLOCKED),
    says=("before the flip",),
)


def planned(sha256: str) -> Expectation:
    """The saved plan of the gateway's leg, and the statement that it was applied.

    Args:
        sha256: of the plan file, as the bastion has it.
    """
    return Expectation(
        "f0",
        (*these("F0.plan", "F0.apply"), STATED_0[0], f"--attest=F0.apply=applied {sha256}"),
        {"F0.plan": PASS, "F0.apply": ATTESTED},
        statuses=frozenset({0}),
    )


STATED: Final = ("0.3", "0.6", "F0.apply", "F1.a", "F1.b")
"""What of the lab is stated to the suite, and by nothing measured."""

AGAIN: Final[dict[str, tuple[str, ...]]] = {
    "checkout-dirty": these("0.2", "B.2"),
    "token-readable": these("0.4", "B.2"),
    "jump-missing": these("0.5", "B.2"),
    "encryption-off": these("0.8"),
    "secrets-in-plaintext": these("0.8", "F2.enc-ii"),
    **dict.fromkeys(("plan-replaces-another", "plan-cut-off"), these("F0.plan")),
    "label-removed": JOINED,
    "taint-removed": JOINED,
    "coredns-stopped": these(*D2_READ_ONLY, "D2.dns", "D2.dns-utils"),
    "reboot-ignored": JOINED,
    "eviction-forbidden": JOINED,
    "agent-stopped": JOINED,
} | {
    name: cases[0].selection
    for name, cases in EXPECTATIONS.items()
    if set(cases[0].gates) <= {*BEFORE_FLIP, *AFTER_FLIP}
}
"""What must be PASS after a fault was mended; of those not named, `ALL_READ_ONLY`."""
