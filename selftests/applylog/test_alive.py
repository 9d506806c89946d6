"""A run is alive from its begin to its end, and dead as soon as its process is."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog.alive import Life, alive
from fixtures.applylog.errors import LedgerError
from selftests.project.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HOLD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from fixtures.applylog.alive import Life\n"
    "life = Life(Path(sys.argv[1]), 'other')\n"
    "life.begin()\n"
    "print('held', flush=True)\n"
    "time.sleep(60)\n"
)


def test_from_its_begin_to_its_end(tmp_path: Path) -> None:
    life = Life(tmp_path, "mine")
    assert not alive(tmp_path, "mine")
    life.begin()
    assert alive(tmp_path, "mine")
    assert not alive(tmp_path, "min")
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    life.end()
    assert not alive(tmp_path, "mine")
    life.end()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_another_process_is_alive_until_it_is_killed(tmp_path: Path, how: int) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
    )
    try:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        assert alive(tmp_path, "other")
        mine = Life(tmp_path, "mine")
        mine.begin()
        assert alive(tmp_path, "other")
    finally:
        os.kill(other.pid, how)
        other.wait(20)
        other.stdout.close()
    assert not alive(tmp_path, "other")
    # What it left is taken away by the next run, and its own is not.
    following = Life(tmp_path, "next")
    following.begin()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run-mine.alive", "run-next.alive"]


def test_runs_that_begin_at_once_do_not_take_each_other_for_dead(tmp_path: Path) -> None:
    lives = [Life(tmp_path, f"r{number}") for number in range(24)]
    gate = threading.Barrier(len(lives))

    def begin(life: Life) -> None:
        gate.wait()
        life.begin()

    threads = [threading.Thread(target=begin, args=(life,)) for life in lives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(alive(tmp_path, f"r{number}") for number in range(24))
    for life in lives:
        life.end()


def test_a_file_made_anew_while_the_old_one_is_looked_at_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs begin: one took the file away, a third holds a new one, the other comes late."""
    name = tmp_path / "run-third.alive"
    name.touch(mode=0o600)
    lock = fcntl.flock

    def late(handle: int, how: int) -> None:
        if how & fcntl.LOCK_NB and not held:
            name.unlink()
            held.append(os.open(name, os.O_RDWR | os.O_CREAT, 0o600))
            lock(held[0], fcntl.LOCK_EX)
        lock(handle, how)

    held: list[int] = []
    monkeypatch.setattr(fcntl, "flock", late)
    Life(tmp_path, "mine").begin()
    assert alive(tmp_path, "third")
    os.close(*held)


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (tmp_path / "run-mine.alive").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="symbolic link"):
        Life(tmp_path, "mine").begin()
    with pytest.raises(LedgerError, match="symbolic link"):
        alive(tmp_path, "mine")
