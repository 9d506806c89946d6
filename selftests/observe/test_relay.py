"""The one shell line that forwards a port, asks, and leaves nothing behind, in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fixtures.core.inventory_file import load
from fixtures.observe.relay import NO_FORWARD, through_relay
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
SHELLS = [shell for shell in ("bash", "dash", "sh") if shutil.which(shell)]
FORWARDS = (
    'echo $$ >"$HOME/forward"; echo "Hubble Relay is available at 127.0.0.1:40123"; exec sleep 9'
)
REFUSES = "echo 'Error: unable to port forward' >&2; exit 1"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("rc", [0, 3])
def test_a_question_is_asked_at_the_forwarded_port(tmp_path: Path, shell: str, rc: int) -> None:
    ended = _asked(tmp_path, shell, FORWARDS, f'echo "$@"; echo why >&2; exit {rc}')
    assert ended.returncode == rc
    assert ended.stdout == "status -o json --server 127.0.0.1:40123\n"
    assert ended.stderr == "why\n"
    # `timeout` passes the signal on, which takes it a moment.
    forward = Path("/proc", (tmp_path / "forward").read_text().strip(), "stat")
    end = time.monotonic() + 3
    while _lives(forward) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _lives(forward)


@pytest.mark.parametrize("shell", SHELLS)
def test_no_forward_has_its_own_exit_status(tmp_path: Path, shell: str) -> None:
    ended = _asked(tmp_path, shell, REFUSES, "echo never")
    assert ended.returncode == NO_FORWARD
    assert ended.stdout == ""
    assert "unable to port forward" in ended.stderr


def _lives(stat: Path) -> bool:
    """Whether that process runs; one that nobody has collected does not."""
    try:
        return stat.read_text().split()[2] != "Z"
    except OSError:
        return False


def _asked(home: Path, shell: str, cilium: str, hubble: str) -> subprocess.CompletedProcess[str]:
    """What the line gives with these programs in place of the tools; no file is left."""
    for name, body in {"bin/cilium": cilium, "bin/hubble": hubble}.items():
        program = home / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    temporary = home / "tmp"
    temporary.mkdir()
    limits = replace(CLUSTER.limits, hubble=5.0)
    request = through_relay(replace(CLUSTER, limits=limits), "status -o json")
    ended = subprocess.run(
        [shell, "-c", request.command],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert list(temporary.iterdir()) == []
    return ended
