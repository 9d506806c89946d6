"""`make machines`: the suite against the lab: healthy, its drills, and under each fault."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from machines import ceph_secret, dirs, faults, lab, leg, plan, planted, suite, tofu_trial, witness
from machines.build import build
from machines.commands import tail
from machines.console import say
from machines.errors import LabError
from machines.expectation import these
from machines.expectations import (
    AGAIN,
    ALL_READ_ONLY,
    AUTHORIZED,
    BEFORE_B,
    BEFORE_SECRET,
    D2_PODS,
    D2_READ_ONLY,
    EXPECTATIONS,
    HEALTHY,
    IN_ETCD,
    NOT_FLIPPED,
    ROUTED,
    UNASKED_D2,
    UNASKED_E,
    D,
    planned,
)
from machines.suite import UnexpectedError
from machines.tofu_cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from machines.expectation import Expectation
    from machines.fault import Fault
    from machines.suite import SuiteRun

DRILLS: Final = "drills"
"""Chosen like a fault: the drills of the control planes alone."""

WORKERS: Final = "workers"
"""Chosen like a fault: the workers' phases and drills alone."""

PLANS: Final = "plans"
"""Chosen like a fault: the plans of OpenTofu alone, for which no machine is needed."""

CEPH: Final = "ceph"
"""Chosen like a fault: the workers, then the nodes' way to Ceph."""

_HEALTHY_AGAIN: Final = 90.0


@dataclass(slots=True)
class Score:
    """Steps that passed and failed, each told in one line as it ends."""

    passed: int = 0
    failed: int = 0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count and tell one step; `UnexpectedError` and `LabError` make it a failed one."""
        started = time.monotonic()
        try:
            yield
        except (UnexpectedError, LabError) as reason:
            self.failed += 1
            say(f"FAILED  {name}  {time.monotonic() - started:.1f} s\n{reason}")
        else:
            self.passed += 1
            say(f"passed  {name}  {time.monotonic() - started:.1f} s")


@dataclass(slots=True)
class Acceptance:
    """One acceptance run. `folder` keeps the reports and what each pytest run printed."""

    folder: Path
    score: Score = field(default_factory=Score)

    def run(self, chosen: list[str]) -> None:
        """Plans, a healthy run, drills, faults, workers, Ceph, or only what is chosen of them."""
        if not chosen or PLANS in chosen:
            self._plans()
        if chosen == [PLANS]:
            return
        wanted = [fault for fault in faults.FAULTS if not chosen or fault.name in chosen]
        if lab.reached() in {None, plan.Phase.ZERO}:
            self._preconditions()
        with self.score.step("up"):
            lab.up(plan.Phase.C)
        with self.score.step(f"healthy lab: {HEALTHY}"):
            self._expect(HEALTHY, reports=self.folder / "reports")
        if not chosen or DRILLS in chosen:
            self._drills()
        for fault in wanted:
            if not fault.phase.reaches(plan.Phase.D):
                self._with_fault(fault)
        of_workers = [fault for fault in wanted if fault.phase is plan.Phase.D]
        of_ceph = [fault for fault in wanted if fault.phase is plan.Phase.F]
        if of_workers or of_ceph or {WORKERS, CEPH} & set(chosen):
            self._workers()
        # Ceph first: a drill that fails under a fault of the workers would bar it.
        if of_ceph or CEPH in chosen:
            self._ceph()
        for fault in (*of_ceph, *of_workers):
            self._with_fault(fault)
        with self.score.step("no secret value is in what was written or printed"):
            if found := planted.shown(self.folder, planted.values()):
                raise UnexpectedError("\n".join(found))

    def _plans(self) -> None:
        """What the real OpenTofu plans, judged by the suite."""
        with self.score.step(f"{len(CASES)} plans of OpenTofu: the right verdict on each"):
            layer, folder = build().rke2, dirs.cache() / "plans"
            tofu_trial.make(folder, layer)
            if wrong := tofu_trial.judge(folder, layer):
                raise UnexpectedError("\n".join(wrong))

    def _preconditions(self) -> None:
        """Phase 0 before there is a cluster."""
        with self.score.step("machines without RKE2"):
            lab.up(plan.Phase.ZERO)
        with self.score.step(f"before phase B: {BEFORE_B}"):
            self._expect(BEFORE_B, reports=self.folder / "reports")

    def _drills(self) -> None:
        """Phase C with its drills beside an independent measurement, then the restore."""
        with self.score.step("phase B: every gate PASS, exit 0"):
            self._all_pass("drills-b", ("-m", "gate_b"))
        record = self.folder / "witness.jsonl"
        with self.score.step("phase C with its drills: every gate PASS, exit 0"):
            with witness.watching(record):
                drilled = self._suite("drills-c", ("-m", "gate_c", AUTHORIZED))
            drilled.require("PASS")
            with self.score.step("C.5: its outage is what the bastion measured by itself"):
                say(f"  {_compared(drilled.lines, record)}")
        with self.score.step("snapshot, outage, restore: every gate PASS or ATTESTED, exit 0"):
            self._suite("drills-f6", ("-m", "destructive", AUTHORIZED)).require("PASS", "ATTESTED")
        with self.score.step("restored: every gate PASS, exit 0"):
            self._all_pass("restored", ALL_READ_ONLY)

    def _workers(self) -> None:
        """Phases D, D2 and W; what only a real Cilium could answer is not asked."""
        reports = self.folder / "reports"
        with self.score.step("workers join"):
            lab.up(plan.Phase.D)
            suite.record_unasked(reports, UNASKED_E)
        with self.score.step("joined: phases B and C say the same, every gate PASS, exit 0"):
            self._all_pass("joined-control-planes", ALL_READ_ONLY)
        with self.score.step("joined: phase D and D2's real part PASS, exit 0"):
            self._all_pass("joined", these(*D, *D2_READ_ONLY, *D2_PODS))
            suite.record_unasked(reports, UNASKED_D2)
        with self.score.step("drain and reboot of workers: every gate PASS, exit 0"):
            self._all_pass("workers-w", ("-m", "gate_w", AUTHORIZED))
        with self.score.step("the saved plan of the gateway's leg: PASS, its apply ATTESTED"):
            self._expect(planned(leg.digest()), reports=reports)

    def _ceph(self) -> None:
        """The nodes' way to Ceph (F1), before the flip and after it."""
        with self.score.step("before the flip: what follows it is BLOCKED, nothing FAIL"):
            self._expect(NOT_FLIPPED, reports=self.folder / "reports")
        with self.score.step("the gateway gets its leg, the flip is committed and applied"):
            lab.up(plan.Phase.F)
        with self.score.step("routed: every gate of F1 PASS or ATTESTED, exit 0"):
            self._suite("ceph-routed", ROUTED).require("PASS", "ATTESTED")
        with self.score.step("encryption, before the Ceph Secret is made: PASS, exit 0"):
            self._all_pass("ceph-encryption", BEFORE_SECRET)
        with self.score.step("the Ceph Secret in etcd: PASS, exit 0"):
            ceph_secret.make()
            self._all_pass("ceph-secret", IN_ETCD)

    def _with_fault(self, fault: Fault) -> None:
        say(f"{fault.name}: {fault.summary}")
        with self.score.step(f"{fault.name}: break"):
            fault.break_()
        if fault.active:
            for expectation in EXPECTATIONS[fault.name]:
                with self.score.step(f"{fault.name}: {expectation}"):
                    self._under(fault, expectation)
        with self.score.step(f"{fault.name}: mend"):
            fault.mend()
            _wait_healthy()
        with self.score.step(f"{fault.name} mended: every gate PASS, exit 0"):
            self._suite(f"{fault.name}-mended", AGAIN.get(fault.name, ALL_READ_ONLY)).require(
                "PASS", "ATTESTED"
            )

    def _all_pass(self, name: str, selection: Sequence[str]) -> None:
        self._suite(name, selection).require("PASS")

    def _under(self, fault: Fault, expectation: Expectation) -> None:
        on_tiny_disk = fault.name.startswith("controller-disk")
        reports = faults.tiny_disk() if on_tiny_disk else self.folder / "reports"
        self._expect(expectation, reports=reports, of=f"{fault.name}-")

    def _expect(self, expectation: Expectation, *, reports: Path, of: str = "") -> None:
        name = f"{of}{expectation.name}"
        seen = suite.run(expectation.selection, reports=reports, output=self.folder / f"{name}.txt")
        complaints = expectation.complaints(seen.status, seen.verdicts, seen.output)
        if expectation.undone:
            complaints += lab.complaints(lab.Facts.load().phase)
        if complaints:
            raise UnexpectedError("\n".join([*complaints, tail(seen.output, 40)]))

    def _suite(self, name: str, selection: Sequence[str]) -> SuiteRun:
        output = self.folder / f"{name}.txt"
        return suite.run(selection, reports=self.folder / "reports", output=output)


def run(*, chosen: list[str], keep: bool) -> int:
    """Build, start, judge, stop. The exit status: 0 when every step passed.

    Raises:
        LabError: a chosen fault does not exist, or the build failed.
    """
    started = time.monotonic()
    for name in chosen:
        if name not in {DRILLS, PLANS, WORKERS, CEPH}:
            faults.find(name)
    folder = dirs.make_private(dirs.cache()) / "acceptance"
    shutil.rmtree(folder, ignore_errors=True)
    acceptance = Acceptance(dirs.make_private(folder))
    try:
        acceptance.run(chosen)
    finally:
        if not keep:
            lab.down()
    score = acceptance.score
    say(f"reports and outputs: {folder}")
    say(f"{score.passed} passed, {score.failed} failed in {time.monotonic() - started:.1f}s")
    return 1 if score.failed else 0


def _compared(lines: Iterable[Mapping[str, Any]], record: Path) -> str:
    start, end, suite_s = witness.drill_of(lines, "C.5")
    own = witness.longest_outage(witness.read(record), start, end)
    told = f"the suite measured {suite_s:.2f} s, the bastion by itself {own:.2f} s"
    if abs(suite_s - own) > witness.TOLERANCE or not own:
        raise UnexpectedError(f"{told}: they may differ by {witness.TOLERANCE} s")
    return told


def _wait_healthy() -> None:
    deadline = time.monotonic() + _HEALTHY_AGAIN
    phase = lab.Facts.load().phase
    while complaints := lab.complaints(phase):
        if time.monotonic() > deadline:
            raise LabError("the lab did not recover: " + "; ".join(complaints))
        time.sleep(1)
