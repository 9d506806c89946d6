"""An ordinary OpenSSH client gets in with the lines that the lab prints."""

from __future__ import annotations

import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.external


def test_the_printed_lines_work(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "lab", f"--reports={tmp_path}", "--phase=c"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as lab:
        assert lab.stdout is not None
        said = []
        while not (said and said[-1].startswith("Ctrl-C")):
            said.append(lab.stdout.readline().rstrip("\n"))
        try:
            ways_in = {
                name.rstrip(":"): line.strip()
                for name, line in pairwise(said)
                if line.startswith("  ssh ")
            }
            assert len(ways_in) == 7
            for name, line in ways_in.items():
                assert _run(line, "hostname; exit 3") == (3, f"{name}\n")
            answer = _run(ways_in["rke-cp01"], "sudo -n head -c 1 /etc/rancher/rke2/rke2.yaml")
            assert answer == (0, "a")
            rc, text = _run(ways_in["wetopi-ops01"], "-W 10.72.0.99:22", option=True)
            assert rc == 255
            assert "No route to host" in text
        finally:
            lab.terminate()
    assert lab.returncode == 0


def _run(line: str, command: str, *, option: bool = False) -> tuple[int, str]:
    words = shlex.split(line)
    argv = [words[0], *shlex.split(command), *words[1:]] if option else [*words, command]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    return done.returncode, done.stdout + done.stderr
