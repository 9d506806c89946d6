"""`python -m lab` as a process: orders, mistakes, how it ends, several side by side."""

from __future__ import annotations

import json
import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.child import Child, LabFailed
from lab.seed import Seed
from lab.server import milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
_RUNNER = """
import sys, time
from pathlib import Path
from lab.child import Child
child = Child.start(Path(sys.argv[1]), sys.argv[2:])
print(child.process.pid, flush=True)
time.sleep(60)
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lab", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def hear(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    message: dict[str, Any] = json.loads(process.stdout.readline())
    return message


def order(process: subprocess.Popen[str], **message: str) -> dict[str, Any]:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    return hear(process)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = start("serve", "--control", f"--reports={tmp_path}")
    yield process
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_obeys_until_stdin_ends(served: subprocess.Popen[str], tmp_path: Path) -> None:
    hello = hear(served)
    assert Path(hello["inventory"]).is_relative_to(tmp_path)
    assert hello["port"] > 0
    assert order(served, apply="b") == {"ok": True}
    assert order(served, apply="z")["ok"] is False
    assert order(served, nonsense="b")["ok"] is False
    assert served.stdin is not None
    served.stdin.close()
    assert served.wait(10) == 0


def test_ctrl_c_is_the_runners(served: subprocess.Popen[str]) -> None:
    hear(served)
    os.killpg(served.pid, signal.SIGINT)
    assert order(served, apply="c") == {"ok": True}
    os.killpg(served.pid, signal.SIGTERM)
    assert served.wait(10) == 0


def test_a_killed_runner_leaves_no_lab(tmp_path: Path) -> None:
    runner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _RUNNER,
            str(ROOT),
            f"--reports={tmp_path}",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdout is not None
    lab = int(runner.stdout.readline())
    watch = os.pidfd_open(lab)
    runner.kill()
    runner.communicate()
    assert select.select([watch], [], [], 10)[0], "the lab outlived its runner"
    os.close(watch)


def test_several_side_by_side(tmp_path: Path) -> None:
    labs = [Child.start(ROOT, [f"--reports={tmp_path}"]) for _ in range(3)]
    try:
        inventories = {lab.inventory for lab in labs}
        assert len(inventories) == 3
        for lab in labs:
            lab.apply("c")
        keys = {(path.parent / "id_ed25519.pub").read_text() for path in inventories}
        assert len(keys) == 1, "labs of one reports folder are one cluster"
        ports = {path.read_text().partition("port: ")[2].split(",")[0] for path in inventories}
        assert len(ports) == 3
    finally:
        for lab in labs:
            lab.stop()
    assert all(lab.process.returncode == 0 for lab in labs)
    with pytest.raises(LabFailed, match="has ended"):
        labs[0].apply("c")


def test_everything_is_private(served: subprocess.Popen[str], tmp_path: Path) -> None:
    folder = Path(hear(served)["inventory"]).parent
    assert stat.S_IMODE((tmp_path / ".lab").stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("id_ed25519", "inventory.yaml", "known_hosts", "commands.jsonl"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "--nodes=2"], "the lab has 3 to 300 nodes, not 2"),
        (["serve", "--phase=z"], "no phase `z`"),
        (["serve", "--rtt=soon"], "`soon` is not a round-trip time"),
        (["serve", "--scenario=/nowhere.yaml"], "/nowhere.yaml: the scenario cannot be read"),
        (["serve", "--scenario=/dev/zero"], "/dev/zero: not a scenario: it is no regular file"),
        (["describe", "--reports=/dev/zero"], "lab: /dev/zero/.lab: Not a directory"),
        (["frobnicate"], "invalid choice"),
    ],
)
def test_mistakes_end_with_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    process = start(f"--reports={tmp_path}", *arguments)
    _, complaint = process.communicate(timeout=20)
    assert process.returncode == 4
    assert said in complaint
    assert len(complaint.splitlines()) == 1


def test_a_child_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(LabFailed, match="the scenario cannot be read"):
        Child.start(ROOT, [f"--reports={tmp_path}", "--scenario=/nowhere.yaml"])
    (tmp_path / "file").write_text("")
    with pytest.raises(LabFailed, match=r"Not a directory|File exists"):
        Child.start(ROOT, [f"--reports={tmp_path / 'file'}"])


def test_the_foreground_says_how_to_get_in(tmp_path: Path) -> None:
    process = start("--nodes=4", f"--reports={tmp_path}", "--phase=b")
    assert process.stdout is not None
    lines = []
    while not (lines and lines[-1].startswith("Ctrl-C")):
        lines.append(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    rest, complaint = process.communicate(timeout=10)
    text = "".join(lines)
    assert "4 nodes, applied up to phase b" in text
    assert text.count("\n  ssh -F none -i ") == 5
    assert text.count("ssh -W %h:%p ") == 4
    assert "ubuntu@10.72.0.21" in text
    assert f"inventory: {tmp_path}" in text
    assert (process.returncode, complaint) == (0, "")
    assert "ended" in rest


def test_the_faults_are_listed(tmp_path: Path) -> None:
    process = start("faults")
    text, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "vip-held-by: {nodes}" in text


def test_a_rehearsal_goes_on_where_it_was(tmp_path: Path) -> None:
    """Each run has a lab of its own, but the cluster does not shrink between runs."""
    for orders, expected in ((["c"], "c"), (["b"], "c"), ([], "c")):
        process = start("serve", "--control", f"--reports={tmp_path}")
        hear(process)
        for phase in orders:
            assert order(process, apply=phase) == {"ok": True}
        process.communicate(timeout=10)
        assert (tmp_path / ".lab" / "applied").read_text().strip() == expected


def test_the_seed_is_drawn_once(tmp_path: Path) -> None:
    assert Seed.kept_in(tmp_path) == Seed.kept_in(tmp_path)
    (tmp_path / "seed.json").write_text("{}")
    with pytest.raises(ValueError, match="is not a seed of the lab"):
        Seed.kept_in(tmp_path)


def test_round_trip_times() -> None:
    assert milliseconds("10ms") == milliseconds("10") == milliseconds("0.01s") == 0.01
    for text in ("x", "-1ms", "11s", ""):
        with pytest.raises(ValueError, match="round-trip time"):
            milliseconds(text)
