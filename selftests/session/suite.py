"""Runs the suite as an operator would: a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selftests.passed import RUN
from selftests.project.tree import ROOT


def _nowhere() -> str:
    """Wetopi's inventory with a bastion that is nobody: a test that selects gates by mistake must
    not knock at a real one. The folder is left to the system's cleaning, like pytest's own.
    """
    real = ROOT / "inventories" / "wetopi.yaml"
    text, count = re.subn(r"(?m)^  address: (?!10\.)\S+$", "  address: 127.0.0.1", real.read_text())
    assert count == 1
    path = Path(tempfile.mkdtemp(prefix="rke2-selftests-")) / "wetopi.yaml"
    path.write_text(text.replace("  port: 22", "  port: 1", 1))
    return str(path)


WETOPI = _nowhere()


@dataclass(frozen=True)
class Ended:
    """How a run ended and all it printed."""

    status: int
    text: str


def environment(**more: str) -> dict[str, str]:
    """This environment without what an outer test run or an operator left in it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "RKE2_", "COV_", "PYTHONDONTWRITE"))
    }
    return {**kept, "TERM": "dumb", **more}


def suite(*args: str, cwd: Path = ROOT, python: tuple[str, ...] = (), **env: str) -> Ended:
    """`pytest …` in a process of its own, at most a minute."""
    done = subprocess.run(
        [sys.executable, *python, "-m", "pytest", "-p", "no:cacheprovider", *args],
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Ended(done.returncode, done.stdout + done.stderr)


def log_lines(reports: Path, cluster: str = "lab") -> list[dict[str, Any]]:
    """The apply log's lines as they are in the file."""
    text = (reports / cluster / "apply-log.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def verdicts(reports: Path, cluster: str = "lab") -> dict[str, str]:
    """Gate key to its last verdict in the log, of what was decided and not only recorded."""
    return {
        f"{line['gate']}[{line['node']}]" if line["node"] else line["gate"]: line["verdict"]
        for line in log_lines(reports, cluster)
        if line["kind"] == "gate" and line["run"] != RUN
    }
