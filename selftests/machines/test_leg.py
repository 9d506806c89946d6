"""The saved plan on the bastion, without OpenTofu."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from machines import leg, leg_faults, tofu
from machines.errors import LabError
from machines.tofu import PLAN, PRODUCTION, VARIABLES, Workspace
from selftests.gates.real_plans import FOLDER, decided, replayed

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.core.inventory import Cluster


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What each plan was made of: the variables at that time."""
    place = Workspace.here(tmp_path / "tofu", tmp_path / "layer")
    place.write()
    made: list[str] = []

    def plan(self: Workspace) -> None:
        variables = (self.folder / VARIABLES).read_text()
        made.append(variables)
        (self.folder / PRODUCTION / PLAN).write_text(variables)

    monkeypatch.setattr(leg, "workspace", lambda: place)
    monkeypatch.setattr(Workspace, "plan", plan)
    return made


def test_each_plan_begins_with_the_reviewed_change_alone(planned: list[str]) -> None:
    leg.save()
    replaced = leg_faults.FAULTS[0]
    replaced.inject()
    replaced.undo("")
    healthy, other, again = planned
    assert healthy == again != other
    assert '\n      { bridge = "vmbr2"' in healthy
    assert leg.digest() == hashlib.sha256(again.encode()).hexdigest()


def test_a_plan_that_is_cut_off_is_saved_anew(planned: list[str], tmp_path: Path) -> None:
    leg.save()
    saved = tmp_path / "tofu" / tofu.PRODUCTION / tofu.PLAN
    saved.write_bytes(b"x" * 5000)
    cut_off = leg_faults.FAULTS[1]
    cut_off.inject()
    assert saved.stat().st_size == 2000
    cut_off.undo("")
    assert saved.read_text() == planned[0] == planned[1]


def test_without_a_saved_plan_there_is_no_digest(planned: list[str]) -> None:
    with pytest.raises(LabError, match=r"wetopi-ops01: no saved plan: .*No such file"):
        leg.digest()
    leg.save()
    assert leg.digest() == hashlib.sha256(planned[0].encode()).hexdigest()


def test_the_lab_s_inventory_says_what_is_in_its_plan(inventory: Cluster) -> None:
    verdict, said = decided(inventory, replayed(FOLDER / "leg.json"))
    assert verdict == "PASS", said
