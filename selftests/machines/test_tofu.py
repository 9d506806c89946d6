"""The cases of plans, without OpenTofu."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from machines import tofu
from machines.errors import LabError
from machines.tofu import CONFIGURATION, HYPERVISOR, LEG, VARIABLES, Change, Workspace
from machines.tofu_cases import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from machines.tofu_case import Case


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace.here(tmp_path / "tofu", tmp_path / "layer")
    made.write()
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_change_of_the_configuration_fits(case: Case, workspace: Workspace) -> None:
    changes = [each for each in case.changes if not each.file.startswith(HYPERVISOR)]
    tofu.change(workspace.folder, (*case.given, *changes))


def test_no_two_cases_have_a_name_or_do_the_same() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    made = [(case.changes, case.given, case.arguments, case.damage) for case in CASES]
    assert len(set(made)) == len(made)


def test_the_leg_is_the_comment_of_the_example(workspace: Workspace) -> None:
    LEG.make(workspace.folder)
    assert '\n      { bridge = "vmbr2"' in (workspace.folder / VARIABLES).read_text()


def test_a_text_that_is_not_there_once_is_said(workspace: Workspace) -> None:
    for text in ("no such text", "nics"):
        with pytest.raises(LabError, match="not once"):
            Change(VARIABLES, text, "").make(workspace.folder)


def test_without_a_new_text_the_file_goes(workspace: Workspace) -> None:
    Change(VARIABLES, "hypervisor =", None).make(workspace.folder)
    assert not (workspace.folder / VARIABLES).exists()


def test_the_password_is_in_no_command_and_private(workspace: Workspace) -> None:
    holders = [path for path in workspace.folder.rglob("*") if path.is_file()]
    holders = [path for path in holders if tofu.PASSWORD in path.read_text()]
    assert [path.stat().st_mode & 0o777 for path in holders] == [0o600]
    assert tofu.PASSWORD not in repr(workspace)


def test_nothing_but_files_of_the_repository_is_copied(tmp_path: Path) -> None:
    shutil.copytree(CONFIGURATION, tmp_path / "copy")
    names = {path.name for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert names == {"main.tf", "terraform.tfvars.example"}
