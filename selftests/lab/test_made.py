"""What an operator makes by hand between two runs of one lab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.phase import Phase
from lab.scenario import load
from lab.server import Lab, Settings
from lab.storage import SECRET, missed

if TYPE_CHECKING:
    from pathlib import Path

    from lab.objects import Object
    from lab.scenario import Scenario

NAMESPACE, NAME = SECRET


def lab(reports: Path, *scenarios: Scenario) -> Lab:
    return Lab(Settings(reports, scenarios, phase=Phase.F))


def seen(started: Lab) -> Object | None:
    return started.world.objects.get("Secret", NAMESPACE, NAME)


def test_a_secret_that_was_made_is_there_in_the_next_run_with_its_time(tmp_path: Path) -> None:
    first = lab(tmp_path)
    assert seen(first) is None
    missed(first.world, first.world.objects, NAMESPACE, NAME)
    made = seen(first)
    assert made is not None
    assert seen(lab(tmp_path)) == made
    assert (tmp_path / ".lab" / "made.json").stat().st_mode & 0o077 == 0


def test_what_a_scenario_has_made_is_over_with_its_run(tmp_path: Path) -> None:
    path = tmp_path / "anything.yaml"
    path.write_text("name: nothing of note\nfaults: []\n")
    first = lab(tmp_path, load(path))
    missed(first.world, first.world.objects, NAMESPACE, NAME)
    assert seen(first) is not None
    assert seen(lab(tmp_path)) is None


def test_a_file_that_is_not_whole_counts_as_none(tmp_path: Path) -> None:
    home = tmp_path / ".lab"
    home.mkdir(mode=0o700)
    (home / "made.json").write_text('{"kube-')
    assert seen(lab(tmp_path)) is None
