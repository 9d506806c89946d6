"""Every test has a lab state and a cache of its own, and never the machine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that stands for the lab's state."""
    folder = tmp_path / "state"
    monkeypatch.setenv("RKE2_LAB_STATE", str(folder))
    monkeypatch.setenv("RKE2_LAB_CACHE", str(tmp_path / "cache"))
    return folder
