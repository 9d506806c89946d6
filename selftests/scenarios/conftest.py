"""A reports folder in which phase B was passed, for the scenarios of phase C."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from selftests.scenarios.replay import replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def passed_phase_b(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of a run that passed B."""
    reports = tmp_path_factory.mktemp("reports")
    ended = replay(reports, None, "gate_b")
    assert ended.rc == 0, ended.console
    return reports


@pytest.fixture
def reports_after_b(passed_phase_b: Path, tmp_path: Path) -> Callable[[], Path]:
    """Makes a copy of those reports: the same lab cluster, the same log."""

    def copy() -> Path:
        return shutil.copytree(passed_phase_b, tmp_path / "reports")

    return copy
