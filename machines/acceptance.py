"""`make machines`: the suite against the lab: healthy, its drills, and under each fault."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from machines import dirs, faults, lab, plan, suite, witness
from machines.commands import tail
from machines.console import say
from machines.errors import LabError
from machines.expectations import (
    AGAIN,
    ALL_READ_ONLY,
    AUTHORIZED,
    D2_PODS,
    D2_READ_ONLY,
    EXPECTATIONS,
    UNASKED_D2,
    UNASKED_E,
    D,
    these,
)
from machines.suite import UnexpectedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from machines.expectations import Expectation
    from machines.fault import Fault
    from machines.suite import SuiteRun

DRILLS: Final = "drills"
"""Chosen like a fault: the drills of the control planes alone."""

WORKERS: Final = "workers"
"""Chosen like a fault: the workers' phases and drills alone."""

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
        """A healthy run, then drills, faults and workers, or only what is chosen of them."""
        wanted = [fault for fault in faults.FAULTS if not chosen or fault.name in chosen]
        with self.score.step("up"):
            lab.up(plan.Phase.C)
        with self.score.step("healthy lab: every gate PASS, exit 0"):
            self._all_pass("healthy", ALL_READ_ONLY)
        if not chosen or DRILLS in chosen:
            self._drills()
        for fault in wanted:
            if fault.phase is plan.Phase.C:
                self._with_fault(fault)
        of_workers = [fault for fault in wanted if fault.phase is plan.Phase.D]
        if of_workers or WORKERS in chosen:
            self._workers()
        for fault in of_workers:
            self._with_fault(fault)

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

    def _with_fault(self, fault: Fault) -> None:
        say(f"{fault.name}: {fault.summary}")
        with self.score.step(f"{fault.name}: break"):
            fault.break_()
        if fault.active:
            for expectation in EXPECTATIONS[fault.name]:
                with self.score.step(f"{fault.name}: {expectation}"):
                    self._expect(fault, expectation)
        with self.score.step(f"{fault.name}: mend"):
            fault.mend()
            _wait_healthy()
        with self.score.step(f"{fault.name} mended: every gate PASS, exit 0"):
            self._all_pass(f"{fault.name}-mended", AGAIN.get(fault.name, ALL_READ_ONLY))

    def _all_pass(self, name: str, selection: Sequence[str]) -> None:
        self._suite(name, selection).require("PASS")

    def _expect(self, fault: Fault, expectation: Expectation) -> None:
        on_tiny_disk = fault.name.startswith("controller-disk")
        reports = faults.tiny_disk() if on_tiny_disk else self.folder / "reports"
        name = f"{fault.name}-{expectation.name}"
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
        if name not in {DRILLS, WORKERS}:
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
