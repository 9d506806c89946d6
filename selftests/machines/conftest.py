"""Every test has a lab state, a cache and control groups of its own, and never the machine's.

A lab that runs here is found by its control group alone: no test may see it, or end it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core import inventory_file
from machines import cgroups, controller, plan
from machines import inventory as lab_inventory

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.core.inventory import Cluster


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that stands for the lab's state."""
    folder = tmp_path / "state"
    monkeypatch.setenv("RKE2_LAB_STATE", str(folder))
    monkeypatch.setenv("RKE2_LAB_CACHE", str(tmp_path / "cache"))
    empty = tmp_path / "control-groups"
    for name in ("systemd", "unified"):
        (empty / name).mkdir(parents=True)
    monkeypatch.setattr(cgroups, "_MOUNT", empty)
    return folder


@pytest.fixture
def inventory_text() -> str:
    """The lab's inventory, as it is written."""
    return lab_inventory.text(
        key="keys/id_ed25519",
        known_hosts="known_hosts",
        controller=controller.PATHS,
        group_vars=controller.GROUP_VARS,
        commits={"infrastructure": "1e5" + "0" * 37},
        versions={"rke2": plan.RKE2_VERSION, "etcd": plan.ETCD_VERSION},
    )


@pytest.fixture
def inventory(tmp_path: Path, inventory_text: str) -> Cluster:
    """The lab's inventory, as the suite itself reads it."""
    path = tmp_path / "inventory.yaml"
    path.write_text(inventory_text)
    return inventory_file.load(path)
