"""Runners of drills, in processes of their own, and what they leave in their log."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from fixtures.applylog.__main__ import main as applylog
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.log import Log
from fixtures.applylog.reading import read
from fixtures.core.milestones import LOOKED_AFTER
from fixtures.gates import GATES
from selftests.passed import CONTROL_PLANES, RUN, write
from selftests.project.tree import ROOT
from selftests.session.suite import Ended, environment, log_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selftests.drills.outliving import Outliving


@dataclass(frozen=True)
class Kill:
    """How a runner is ended: with what, at which step line of which gate."""

    gate: str
    at: int
    means: str = "SIGKILL"


class Runners:
    """Makes runners against one lab, with one reports folder. Use it as a context."""

    def __init__(self, lab: Outliving, folder: Path) -> None:
        self.lab = lab
        self.folder = folder
        self._numbers = count(1)
        self.reports = folder
        self.begin_log()

    def __enter__(self) -> Self:
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "selftests.drills.nursery"],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._nursery.stdin
        self._nursery.stdin.close()
        self._nursery.wait(20)

    def begin_log(self) -> None:
        """A new log, in which everything but what each run must prove itself has passed."""
        self.reports = self.folder / f"reports-{next(self._numbers)}"
        workers = [machine.name for machine in self.lab.world.layout.workers]
        nodes = {"control-plane": CONTROL_PLANES, "worker": workers}
        write(Ledger.open(self.reports, "lab", run=RUN), GATES, nodes)

    def run(self, *arguments: str, kill: Kill | None = None) -> Ended:
        """`pytest …` as its own process; the step at which it was killed is in `struck`."""
        self.begin(*arguments, kill=kill)
        return self.end()

    def begin(self, *arguments: str, kill: Kill | None = None) -> None:
        """Start one; `end` waits for it."""
        number = next(self._numbers)
        self._output = self.folder / f"output-{number}"
        self._note = self.folder / f"note-{number}"
        environment = {"KILL_NOTE": str(self._note), "KILL_CONTROL": str(self.lab.control)}
        if kill:
            environment |= {
                "KILL_GATE": kill.gate,
                "KILL_AT": str(kill.at),
                "KILL_WITH": kill.means,
            }
        order = {
            "arguments": [
                "-p",
                "no:cacheprovider",
                "-p",
                "selftests.drills.killing",
                f"--inventory={self.lab.inventory}",
                f"--reports={self.reports}",
                "--operator=ada@desk",
                *arguments,
            ],
            "environment": environment,
            "output": str(self._output),
        }
        assert self._nursery.stdin
        self._nursery.stdin.write(json.dumps(order) + "\n")
        self._nursery.stdin.flush()

    def end(self) -> Ended:
        """Wait for the one that was begun."""
        assert self._nursery.stdout
        status = json.loads(self._nursery.stdout.readline())["status"]
        return Ended(status, self._output.read_text())

    @property
    def struck(self) -> str | None:
        """The step at which the last one was killed; None if it had not so many."""
        return self._note.read_text() if self._note.exists() else None

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log."""
        return log_lines(self.reports)

    @property
    def last_run(self) -> str:
        """The run that wrote the last line."""
        return str(self.lines[-1]["run"])

    def last_lines(self, kind: str, **fields: object) -> Iterator[dict[str, Any]]:
        """The last run's lines of a kind, with these fields."""
        lines = self.lines
        wanted = {"run": lines[-1]["run"], "kind": kind, **fields}
        return (line for line in lines if wanted.items() <= line.items())

    def steps(self, gate: str) -> list[dict[str, Any]]:
        """The last run's step lines of that gate's drill."""
        lines = self.last_lines("step", gate=gate)
        return [line for line in lines if line["step"] != LOOKED_AFTER]

    def titles(self, gate: str) -> list[str]:
        """Their steps and states."""
        return [f"{line['step']}: {line['state']}" for line in self.steps(gate)]

    def servers(self) -> dict[str, tuple[bool, bool]]:
        """By control plane: active and masked, as the finished steps of a restore leave it."""
        states = dict.fromkeys(CONTROL_PLANES, (True, False))
        for line in self.steps("F6-3"):
            verb, _, what = line["step"].partition(" ")
            if line["state"] != "done" or what != "rke2-server":
                continue
            active, masked = states[line["host"]]
            active = {"stop": False, "start": True}.get(verb, active)
            masked = {"mask": True, "unmask": False}.get(verb, masked)
            states[line["host"]] = active, masked
        return states

    def told_of(self, run: str) -> dict[str, Any]:
        """What the last run told of an unfinished drill of that run, before it did anything."""
        mine = [each for each in self.lines if each["run"] == self.last_run]
        told = next(
            each for each in mine if each.get("step") == LOOKED_AFTER and each.get("of") == run
        )
        before = [each for each in mine if each["seq"] < told["seq"]]
        # What it did before was to undo that drill.
        others = [each for each in before if each.get("of") != run]
        kinds = {each["kind"] for each in others if each.get("step") != LOOKED_AFTER}
        assert kinds == {"run-start"}
        return told

    @property
    def undos(self) -> list[str]:
        """What the log says is not known to be brought back."""
        return [f"{each.key} {each.verdict}" for each in Log.of(read(self.reports / "lab")).undos]

    def owed(self, gate: str) -> list[str]:
        """The same, as the last run's steps have it, which was killed."""
        titles = self.titles(gate)
        sent = [each for each in titles if each.endswith(": sending")]
        changed = len(sent) > 1 and "recovery: done" not in titles
        return [f"{gate}.undo UNKNOWN"] if changed else []

    def verify(self) -> None:
        """The log holds."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = applylog(["verify", f"--reports={self.reports}", "--cluster=lab"])
        assert status == 0, said.getvalue()
