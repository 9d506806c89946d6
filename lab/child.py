"""The lab as a child process of a runner.

It ends with its stdin, so a runner that is killed leaves none behind.
"""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# Starting takes well under a second; a machine under full load may need longer.
_START_LIMIT = 30.0
_ORDER_LIMIT = 10.0
_STOP_LIMIT = 5.0


class LabFailed(Exception):  # noqa: N818
    """The lab did not start, or no longer answers; the text says why."""


@dataclass(slots=True)
class Child:
    """A running lab.

    Attributes:
        inventory: what to give a runner as its inventory.
    """

    process: subprocess.Popen[bytes]
    inventory: Path

    @classmethod
    def start(cls, checkout: Path, arguments: Sequence[str]) -> Child:
        """Start `python -m lab serve --control` with these arguments.

        Raises:
            LabFailed: it ended or stayed silent.
        """
        # A file, because nobody reads a pipe once the lab runs.
        with tempfile.TemporaryFile() as complaints:
            process = _spawn(checkout, ["serve", "--control", *arguments], complaints)
            try:
                return cls(process, Path(_hear(process, _START_LIMIT)["inventory"]))
            except LabFailed as error:
                _end(process)
                raise LabFailed(_last_line(complaints) or str(error)) from None

    @staticmethod
    def describe(checkout: Path, arguments: Sequence[str]) -> Path:
        """Write the inventory of such a lab without starting one; its path.

        Raises:
            LabFailed: the arguments have a mistake.
        """
        with tempfile.TemporaryFile() as complaints:
            process = _spawn(checkout, ["describe", *arguments], complaints)
            output, _ = process.communicate()
            if process.returncode != 0:
                raise LabFailed(_last_line(complaints) or "it ended")
        return Path(json.loads(output)["inventory"])

    def apply(self, phase: str) -> None:
        """Bring the cluster to a phase.

        Raises:
            LabFailed: the lab is gone or refuses.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"apply": phase}).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise LabFailed("the lab has ended; start the run again") from None
        answer = _hear(self.process, _ORDER_LIMIT)
        if not answer.get("ok"):
            raise LabFailed(f"the lab could not apply phase {phase}: {answer.get('error')}")

    def stop(self) -> None:
        """End the lab and wait for it."""
        _end(self.process)


def _spawn(
    checkout: Path, arguments: Sequence[str], complaints: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "lab", *(_absolute(argument) for argument in arguments)],
        cwd=checkout,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        # A Ctrl-C in the terminal goes to the runner's group; the lab must outlive its undo.
        start_new_session=True,
    )


def _absolute(argument: str) -> str:
    # The child runs in the checkout, paths were given in the runner's folder.
    name, mark, value = argument.partition("=")
    return f"{name}={Path(value).absolute()}" if mark and name in _PATHS else argument


_PATHS = frozenset({"--reports", "--scenario"})


def _hear(process: subprocess.Popen[bytes], limit: float) -> dict[str, Any]:
    """The next line the child says."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], limit)
    if not ready:
        raise LabFailed(f"it said nothing within {limit:.0f} s")
    line = process.stdout.readline()
    if not line:
        raise LabFailed("it ended")
    message: dict[str, Any] = json.loads(line)
    return message


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_STOP_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last_line(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    text = complaints.read().decode(errors="replace").strip()
    return text.splitlines()[-1].removeprefix("lab: ") if text else ""
