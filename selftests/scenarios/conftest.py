"""Reports folders in which earlier phases were passed, for the scenarios of later ones."""

from __future__ import annotations

import fcntl
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from selftests.passed import pass_all_before
from selftests.scenarios.replay import replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Everything a drill waits for comes sooner: what is replayed here is what becomes of it.
SHORT = """\
name: short
faults:
  - pace: 0.5
  - limit: {name: outage_watch, value: 0.5}
  - limit: {name: vip_poll, value: 0.05}
"""


@pytest.fixture(scope="session")
def passed_phase_b(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of a run that passed B."""
    reports = pass_all_before(tmp_path_factory.mktemp("reports"), Phase.B)
    ended = replay(reports, None, "gate_b")
    assert ended.rc == 0, ended.console
    return reports


@pytest.fixture
def reports_after_b(passed_phase_b: Path, tmp_path: Path) -> Callable[[], Path]:
    """Makes a copy of those reports: the same lab cluster, the same log."""

    def copy() -> Path:
        return shutil.copytree(passed_phase_b, tmp_path / "reports")

    return copy


@pytest.fixture(scope="session")
def passed_drills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of runs that passed B, C and F6-2, made once for all workers."""
    shared = tmp_path_factory.getbasetemp().parent
    reports = shared / "passed-drills"
    with (shared / "passed-drills.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (reports / "complete").exists():
            _pass_drills(reports)
    return reports


def _pass_drills(reports: Path) -> None:
    reports.mkdir()
    pass_all_before(reports, Phase.B)
    short = reports / "short.yaml"
    short.write_text(SHORT)
    for selection, options in (
        ("gate_b", []),
        ("gate_c", ["--authorize=Ana"]),
        ("", ["--gate=F6-1,P1,P2,P3,P4,F6-2", "--authorize=Ana"]),
    ):
        ended = replay(reports, short, selection, *options)
        assert ended.rc == 0, ended.console
    (reports / "complete").touch()


@pytest.fixture
def reports_after_drills(passed_drills: Path, tmp_path: Path) -> Path:
    """A copy of those reports: the same lab cluster, the same log."""
    return shutil.copytree(passed_drills, tmp_path / "reports")
