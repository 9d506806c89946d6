"""Folders, names, control groups and the command line, without starting anything."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from machines import __main__ as cli
from machines import acceptance, build, cgroups, dirs, lab, mounts, plan
from machines.commands import run
from machines.container import Container
from machines.errors import LabError
from machines.pki import Pair


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def hierarchy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hybrid host's control group mount with both trees."""
    mount = tmp_path / "cgroup"
    for name in ("systemd", "unified"):
        (mount / name).mkdir(parents=True)
    monkeypatch.setattr(cgroups, "_MOUNT", mount)
    return mount


@pytest.mark.parametrize("name", ["rke-cp01", "cp01", "ops01", "wetopi-ops01", "platform03"])
def test_a_machine_is_found_by_an_unambiguous_ending(name: str) -> None:
    assert plan.find(name).name.endswith(name)


@pytest.mark.parametrize("name", ["", "01", "cp04", "rke-cp"])
def test_another_name_is_answered_with_the_machines(name: str) -> None:
    with pytest.raises(LabError, match="rke-platform03"):
        plan.find(name)


def test_phase_b_applies_the_first_control_plane_alone() -> None:
    assert plan.applied(plan.Phase.ZERO) == ()
    assert plan.applied(plan.Phase.B) == plan.CONTROL_PLANES[:1]
    assert plan.applied(plan.Phase.C) == plan.CONTROL_PLANES


def test_private_files_are_private_from_the_start(state: Path) -> None:
    folder = dirs.make_private(state)
    path = folder / "secret"
    path.write_text("old")
    path.chmod(0o644)
    dirs.write_private(path, "new")
    assert (_mode(folder), _mode(path), path.read_text()) == (0o700, 0o600, "new")


def test_facts_are_read_back_as_written(state: Path) -> None:
    dirs.make_private(state)
    facts = lab.Facts(plan.Phase.C, "upper:lower", Pair("certificate", "key"))
    facts.save()
    assert lab.Facts.load() == facts
    assert _mode(state / "lab.json") == 0o600


def test_machines_without_rke2_have_no_authority(state: Path) -> None:
    dirs.make_private(state)
    lab.Facts(plan.Phase.ZERO, "layers").save()
    assert lab.Facts.load() == lab.Facts(plan.Phase.ZERO, "layers")
    with pytest.raises(LabError, match="not applied"):
        _ = lab.Facts.load().client_authority


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"phase": "z"}'])
def test_damaged_facts_ask_for_down(state: Path, content: str) -> None:
    dirs.make_private(state)
    (state / "lab.json").write_text(content)
    with pytest.raises(LabError, match="machines down"):
        lab.Facts.load()


def test_a_hybrid_host_has_two_trees_and_an_empty_one_none(hierarchy: Path) -> None:
    assert cgroups.hierarchies() == (hierarchy / "systemd", hierarchy / "unified")
    for tree in hierarchy.iterdir():
        tree.rmdir()
    with pytest.raises(LabError, match="no control group"):
        cgroups.hierarchies()


def test_a_unified_host_has_one_tree(hierarchy: Path) -> None:
    (hierarchy / "cgroup.controllers").touch()
    assert cgroups.hierarchies() == (hierarchy,)


def test_a_lab_that_runs_on_this_host_is_not_seen() -> None:
    assert not any(tree.is_relative_to("/sys") for tree in cgroups.hierarchies())
    assert cgroups.units() == []
    assert not any(Container(machine).running for machine in plan.MACHINES)


@pytest.mark.usefixtures("hierarchy")
def test_processes_of_a_machine_are_all_below_its_groups() -> None:
    first, second = cgroups.create("rke-cp01")
    cgroups.create("rke-cp02")
    payload = first / "payload/init.scope"
    payload.mkdir(parents=True)
    (first / "cgroup.procs").write_text("11\n")
    (payload / "cgroup.procs").write_text("12\n13\n")
    (second / "cgroup.procs").write_text("11\n")
    assert cgroups.processes("rke-cp01") == {11, 12, 13}
    assert cgroups.processes("rke-cp01/payload/init.scope") == {12, 13}
    assert cgroups.processes() == {11, 12, 13}
    assert cgroups.units() == ["rke-cp01", "rke-cp02"]


def test_a_group_that_goes_away_while_we_look_is_passed_over(
    hierarchy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = cgroups.create("rke-cp01")
    (first / "cgroup.procs").write_text("11\n")
    (first / "payload/going.service").mkdir(parents=True)
    scandir = os.scandir

    def gone(folder: str) -> Any:
        if str(folder).endswith("going.service"):
            raise FileNotFoundError(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", gone)
    assert hierarchy in first.parents
    assert cgroups.processes() == {11}


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENODEV, errno.EACCES])
@pytest.mark.usefixtures("hierarchy")
def test_a_group_that_goes_away_under_the_reader_is_empty(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cgroups.create("rke-cp01")

    def gone(_: Path) -> str:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "read_text", gone)
    if number == errno.EACCES:
        with pytest.raises(PermissionError):
            cgroups.processes()
    else:
        assert cgroups.processes() == set()


def test_ending_an_empty_lab_removes_its_groups(hierarchy: Path) -> None:
    for group in cgroups.create("rke-cp01"):
        (group / "payload/init.scope").mkdir(parents=True)
    assert cgroups.end() == 0
    assert [list(tree.iterdir()) for tree in hierarchy.iterdir()] == [[], []]
    assert cgroups.end() == 0


def test_mount_points_with_spaces_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unmounted: list[str] = []

    def note(argv: list[str]) -> None:
        unmounted.append(argv[1])

    monkeypatch.setattr(mounts, "run", note)
    monkeypatch.setattr(mounts, "MOUNTINFO", tmp_path / "mountinfo")
    (tmp_path / "mountinfo").write_text(
        "1 0 0:1 / / rw - ext4 /dev/vda rw\n"
        "2 1 0:2 / /lab\\040state rw - tmpfs x rw\n"
        "3 2 0:3 / /lab\\040state/tiny rw - tmpfs x rw\n"
        "4 1 0:4 / /lab\\040statement rw - tmpfs x rw\n"
    )
    mounts.unmount_below(Path("/lab state"))
    assert unmounted == ["/lab state/tiny", "/lab state"]


def test_a_failing_command_says_its_last_words() -> None:
    with pytest.raises(LabError, match=r"rc 3:\n\s+the reason"):
        run(["sh", "-c", "echo the reason >&2; exit 3"])
    with pytest.raises(LabError, match="not installed"):
        run(["no-such-program-anywhere"])
    with pytest.raises(LabError, match="did not end"):
        run(["sleep", "5"], limit=0.05)


def test_the_lab_wants_linux_and_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="root"):
        build.require_root()
    monkeypatch.setattr(build.platform, "system", lambda: "Darwin")
    with pytest.raises(LabError, match="Linux"):
        build.require_root()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["exec", "nobody", "true"], "no machine is called"),
        (["status"], "not up|root"),
        (["run", "true"], "not up|root"),
        (["break", "nonsense"], "no fault is called|root"),
    ],
)
@pytest.mark.usefixtures("hierarchy")
def test_a_mistake_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 1
    with pytest.raises(AssertionError, match=sentence):
        raise AssertionError(capsys.readouterr().err)


def test_the_faults_are_listed_without_a_lab(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["faults"]) == 0
    assert "keepalived-killed" in capsys.readouterr().out


def test_a_step_is_counted_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    score = acceptance.Score()
    with score.step("good"):
        pass
    with score.step("bad"):
        raise acceptance.UnexpectedError("C.1 is PASS")
    assert (score.passed, score.failed) == (1, 1)
    printed = capsys.readouterr().out
    assert "passed  good" in printed
    assert "FAILED  bad" in printed
    assert "C.1 is PASS" in printed
