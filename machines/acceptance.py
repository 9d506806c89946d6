"""`make machines`: the suite against the lab, healthy and with each fault, judged by its log."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from machines import cluster, dirs, faults, lab, network, plan
from machines.commands import tail
from machines.console import say
from machines.errors import LabError
from machines.expectations import ALL_READ_ONLY, EXPECTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from machines.expectations import Expectation

_RUN_LIMIT: Final = 600.0
_HEALTHY_AGAIN: Final = 90.0


class UnexpectedError(Exception):
    """A step of the acceptance did not end as it must; the text says what was seen instead."""


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What one pytest run left: exit status, gate → verdict, and everything it printed."""

    status: int
    verdicts: dict[str, str]
    output: str


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
        """A healthy run, then each chosen fault (all when empty) with a healthy run behind it."""
        with self.score.step("up"):
            lab.up(plan.Phase.C)
        with self.score.step("healthy lab: every gate PASS, exit 0"):
            self._healthy("healthy")
        for fault in faults.FAULTS:
            if not chosen or fault.name in chosen:
                self._with_fault(fault)

    def _with_fault(self, fault: faults.Fault) -> None:
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
            self._healthy(f"{fault.name}-mended")

    def _healthy(self, name: str) -> None:
        run = self._pytest(name, ALL_READ_ONLY, self.folder / "reports")
        bad = {gate: verdict for gate, verdict in run.verdicts.items() if verdict != "PASS"}
        if run.status != 0 or bad or not run.verdicts:
            raise UnexpectedError(f"exit {run.status}, not PASS: {bad}\n{tail(run.output, 40)}")

    def _expect(self, fault: faults.Fault, expectation: Expectation) -> None:
        on_tiny_disk = fault.name.startswith("controller-disk")
        reports = faults.tiny_disk() if on_tiny_disk else self.folder / "reports"
        run = self._pytest(f"{fault.name}-{expectation.name}", expectation.selection, reports)
        complaints = expectation.complaints(run.status, run.verdicts, run.output)
        if complaints:
            raise UnexpectedError("\n".join([*complaints, tail(run.output, 40)]))

    def _pytest(self, name: str, selection: str, reports: Path) -> SuiteRun:
        before = len(_log(reports))
        command = [
            *network.enter(network.CONTROLLER),
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", selection),
            f"--inventory={lab.inventory_path()}",
            f"--reports={reports}",
        ]
        try:
            done = subprocess.run(
                command,
                cwd=dirs.CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="backslashreplace",
                timeout=_RUN_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise UnexpectedError(
                f"pytest did not end within {_RUN_LIMIT:.0f} s ({late})"
            ) from None
        (self.folder / f"{name}.txt").write_text(done.stdout)
        lines = [line for line in _log(reports)[before:] if line.get("kind") == "gate"]
        verdicts = {
            f"{line['gate']}[{line['node']}]" if line.get("node") else line["gate"]: line["verdict"]
            for line in lines
        }
        return SuiteRun(done.returncode, verdicts, done.stdout)


def run(*, chosen: list[str], keep: bool) -> int:
    """Build, start, judge, stop. The exit status: 0 when every step passed.

    Raises:
        LabError: a chosen fault does not exist, or the build failed.
    """
    started = time.monotonic()
    for name in chosen:
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


def _log(reports: Path) -> list[dict[str, str]]:
    path = reports / plan.CLUSTER / "apply-log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _wait_healthy() -> None:
    deadline = time.monotonic() + _HEALTHY_AGAIN
    while complaints := cluster.complaints(plan.CONTROL_PLANES):
        if time.monotonic() > deadline:
            raise LabError("the lab did not recover: " + "; ".join(complaints))
        time.sleep(1)
