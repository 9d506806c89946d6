"""Plugins that stand in for what an operator, a defect or the system does to a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from selftests.passed import pass_all_before
from selftests.session.suite import Ended, suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Where phase 0 was passed already."""
    return pass_all_before(tmp_path / "reports", Phase.B)


@pytest.fixture
def with_plugin(tmp_path: Path) -> Callable[..., Ended]:
    """Runs the suite with a plugin made of the given source."""

    def run(source: str, *args: str) -> Ended:
        (tmp_path / "meddling.py").write_text(source)
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        return suite("-p", "meddling", *args, PYTHONPATH=path)

    return run
