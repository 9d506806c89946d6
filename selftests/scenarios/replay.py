"""Runs a scenario file as an operator would, and reads what became of it."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.scenario import Scenario

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "lab" / "scenarios"
LIMIT = 90

# A process of its own for each run, as for an operator, but forked from one that has imported the
# libraries already: fifty runs spend most of their time on that otherwise.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["selftests.scenarios.warm"])


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished run.

    Attributes:
        verdicts: gate key (`C.3[rke-cp01]`) to verdict and summary, of this run alone.
        unknown: lines of the lab's command log that the lab did not know how to answer.
    """

    rc: int
    console: str
    verdicts: dict[str, tuple[str, str]]
    unknown: list[str]


def needs_phase_b(scenario: Scenario) -> bool:
    """Whether the fault comes after phase B was passed, as only gates of C are touched."""
    gates = [gate for gate, verdict in scenario.expect.items() if verdict != "BLOCKED"]
    return bool(gates) and not any(gate.startswith("B.") for gate in gates)


def replay(reports: Path, scenario: Path | None, selection: str, *options: str) -> Replay:
    """Run the suite on the embedded lab with that scenario; no selection is for `--gate`."""
    before = len(_log(reports))
    arguments = [f"--scenario={scenario}"] if scenario else []
    # Hypothesis' own plugin takes longer to import than a whole scenario takes to run.
    arguments += ["-p", "no:hypothesispytest", "-p", "no:cacheprovider", *options]
    arguments += ["-m", selection] if selection else []
    console = reports / "console.txt"
    process = _CONTEXT.Process(
        target=_pytest, args=(console, ["--lab", f"--reports={reports}", *arguments])
    )
    process.start()
    process.join(LIMIT)
    if process.exitcode is None:
        process.kill()
        process.join()
    lines = _log(reports)[before:]
    return Replay(
        rc=process.exitcode or 0,
        console=console.read_text(),
        verdicts={
            _key(line): (line["verdict"], line["summary"])
            for line in lines
            if line["kind"] == "gate"
        },
        unknown=_unknown(reports),
    )


def _pytest(console: Path, arguments: list[str]) -> None:
    """`python -m pytest ARGUMENTS` with everything it prints in a file."""
    handle = os.open(console, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for stream, target in ((0, null), (1, handle), (2, handle)):
        os.dup2(target, stream)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "RKE2_"))]:
        del os.environ[name]
    os.chdir(ROOT)
    import pytest  # noqa: PLC0415 in the process that runs it alone

    sys.exit(pytest.main(arguments))


def _log(reports: Path) -> list[dict[str, str]]:
    path = reports / "lab" / "apply-log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _key(line: dict[str, str]) -> str:
    return f"{line['gate']}[{line['node']}]" if line["node"] else line["gate"]


def _unknown(reports: Path) -> list[str]:
    return [
        line
        for log in (reports / ".lab" / "runs").glob("*/commands.jsonl")
        for line in log.read_text().splitlines()
        if not json.loads(line)["known"]
    ]
