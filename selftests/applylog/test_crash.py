"""A writer that is killed: before each of its system calls, and in the middle of a write."""

from __future__ import annotations

import os
import random
import signal
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.applylog import anchors
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CALLS = ("open", "write", "fsync", "replace", "ftruncate", "lseek", "close", "fstat")


class Fuse:
    """Kills this process at the n-th system call; a write is half done by then."""

    def __init__(self, count: int) -> None:
        self._left = count

    def wrap(self, name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*arguments: Any, **more: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                if name == "write":
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **more)

        return call


def child(reports: Path, acknowledge: int, work: Callable[[Ledger], None], fuse: int) -> None:
    """In a fork: write until the fuse burns."""
    try:
        ledger = Ledger.open(reports, "lab", run="killed")
        burning = Fuse(fuse)
        for name in CALLS:
            setattr(os, name, burning.wrap(name))
        work(ledger)
    finally:
        os._exit(0)


def killed(reports: Path, fuse: int) -> tuple[bool, int]:
    """Whether the fuse burnt, and how many lines were acknowledged before."""
    reading, writing = os.pipe()
    real_write = os.write

    def work(ledger: Ledger) -> None:
        for _ in range(2):
            ledger.append(Kind.STEP, padding="x" * 300)
            real_write(writing, b".")

    pid = os.fork()
    if pid == 0:
        child(reports, writing, work, fuse)
    os.close(writing)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(reading, "rb") as acknowledged:
        return os.WIFSIGNALED(status), len(acknowledged.read())


def test_a_kill_at_any_system_call_leaves_a_log_that_verifies(tmp_path: Path) -> None:
    fuse, burnt = 0, True
    while burnt:
        fuse += 1
        reports = tmp_path / str(fuse)
        Ledger.open(reports, "lab", run="before").append(Kind.RUN_START)

        burnt, acknowledged = killed(reports, fuse)

        found = anchors.verify(reports / "lab")
        assert found.problems == ()
        assert found.lines >= 1 + acknowledged
        line = Ledger.open(reports, "lab", run="after").append(Kind.RUN_START)
        assert line.seq == found.lines + 1
        assert anchors.verify(reports / "lab").problems == ()
        assert not [path for path in (reports / "lab").iterdir() if path.suffix == ".tmp"]
    assert fuse > 40


def test_a_kill_at_a_random_moment_leaves_a_log_that_verifies(tmp_path: Path) -> None:
    seed = random.Random(20261130)
    for _ in range(4):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                ledger = Ledger.open(tmp_path, "lab", run="killed")
                while True:
                    ledger.append(Kind.STEP, padding="x" * 20_000)
                    os.write(writing, b".")
            finally:
                os._exit(1)
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as acknowledged:
            got = 0
            for _ in range(seed.randint(1, 30)):
                got += len(acknowledged.read(1))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            got += len(acknowledged.read())

        assert anchors.verify(tmp_path / "lab").problems == ()
        lines = [line for line in Ledger.open(tmp_path, "lab").lines() if line.kind is Kind.STEP]
        assert len(lines) >= got


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_every_length_of_a_torn_last_line_is_settled(tmp_path: Path, cut: int) -> None:
    ledger = Ledger.open(tmp_path, "lab")
    ledger.append(Kind.STEP)
    head = (ledger.folder / "apply-log.head").read_bytes()
    ledger.append(Kind.STEP, padding="x" * 100)
    with ledger.path.open("rb+") as log:
        log.truncate(ledger.path.stat().st_size - cut)
    (ledger.folder / "apply-log.head").write_bytes(head)

    found = anchors.verify(ledger.folder)
    assert found.problems == ()
    assert "moves them aside" in found.notes[0]
    assert Ledger.open(tmp_path, "lab").append(Kind.STEP).seq == 2
