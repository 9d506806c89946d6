"""One pytest run of the suite from the controller's place, judged by its apply log."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from machines import commands, dirs, lab, network, plan
from machines.commands import tail

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LIMIT: Final = 600.0


class UnexpectedError(Exception):
    """A step of the acceptance did not end as it must; the text says what was seen instead."""


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What one pytest run left: exit status, gate → verdict, its log lines, what it printed."""

    status: int
    verdicts: dict[str, str]
    lines: list[dict[str, Any]]
    output: str

    def require(self, *allowed: str) -> None:
        """Every gate has one of these verdicts, and the exit status is 0.

        Raises:
            UnexpectedError: not so.
        """
        bad = {gate: verdict for gate, verdict in self.verdicts.items() if verdict not in allowed}
        if self.status != 0 or bad or not self.verdicts:
            seen = f"not {' or '.join(allowed)}: {bad}"
            raise UnexpectedError(f"exit {self.status}, {seen}\n{tail(self.output, 40)}")


def run(selection: Sequence[str], *, reports: Path, output: Path) -> SuiteRun:
    """Run pytest with the arguments `selection`; what it prints is kept in `output`.

    Raises:
        UnexpectedError: it did not end within ten minutes.
    """
    before = len(_log(reports))
    command = [
        *network.enter(network.CONTROLLER),
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
        *("-p", "selftests.machines.unasked"),
        *(f"--inventory={lab.inventory_path()}", f"--reports={reports}", *selection),
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
            timeout=_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise UnexpectedError(f"pytest did not end within {_LIMIT:.0f} s ({late})") from None
    output.write_text(done.stdout)
    lines = _log(reports)[before:]
    verdicts = {
        f"{line['gate']}[{line['node']}]" if line.get("node") else line["gate"]: line["verdict"]
        for line in lines
        if line.get("kind") == "gate"
    }
    return SuiteRun(done.returncode, verdicts, lines, done.stdout)


def record_unasked(reports: Path, gates: Sequence[str]) -> None:
    """Record gates that this lab cannot be asked as attested, and not as measured.

    The suite's own writer does it, in a process of its own: the lab knows nothing of the log.

    Raises:
        LabError: it could not.
    """
    helper = [sys.executable, "-m", "selftests.machines.unasked"]
    commands.run([*helper, str(reports), plan.CLUSTER, *gates], cwd=dirs.CHECKOUT)


def _log(reports: Path) -> list[dict[str, Any]]:
    path = reports / plan.CLUSTER / "apply-log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
