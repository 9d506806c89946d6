"""What is mistyped, left empty or taken away must not widen a run, lose a report or show a trace.

Nothing is contacted: the inventory's bastion does not exist, and every case ends before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from selftests.session.suite import WETOPI, suite, verdicts

if TYPE_CHECKING:
    from pathlib import Path


def refused(*args: str) -> str:
    ended = suite(f"--inventory={WETOPI}", *args, RKE2_INVENTORY=WETOPI)
    assert ended.status == 4, ended.text
    assert "Traceback" not in ended.text
    assert "INTERNALERROR" not in ended.text
    return ended.text


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--gate="], "--gate names no gate"),
        (["--gate=", "--authorize=Ada"], "--gate names no gate"),
        (["--gate=C.5", "--authorize=Ada", "--scope="], "--scope names no gate"),
        (["-m", "gate_b", "--inventory="], "--inventory= names nothing"),
        (["-m", "gate_b", "--reports="], "--reports= names nothing"),
        (["--clear-latch="], "--clear-latch= names nothing"),
        (["--release-lock= "], "--release-lock= names nothing"),
        (["--lab-nodes=0", "-m", "gate_b"], "--lab-nodes need --lab"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_empty_value_never_selects_something_wider(args: list[str], said: str) -> None:
    assert said in refused(*args)


@pytest.mark.parametrize(
    ("given", "meant"), [("b.1", "B.1"), ("C.3[rke-cp01]", "C.3"), ("C-5", "C.5")]
)
def test_the_nearest_gate_is_named(given: str, meant: str) -> None:
    assert f"there is no gate {given}; did you mean {meant}?" in refused(f"--gate={given}")


@pytest.mark.parametrize(
    "args",
    [
        ["--plan", "--ping"],
        ["--plan", "--clear-latch=Ada: rehearsed"],
        ["--ping", "--release-lock=Ada: rehearsed"],
        ["--collect-only", "--ping"],
    ],
    ids=" ".join,
)
def test_what_contacts_a_host_is_refused_beside_what_promises_not_to(args: list[str]) -> None:
    assert "do different things: choose one" in refused(*args)


@pytest.mark.parametrize(
    "switch", ["--ping", "--clear-latch=Ada: rehearsed", "--release-lock=Ada: rehearsed"]
)
def test_what_runs_no_gate_loses_no_statement(switch: str) -> None:
    found = refused("--gate=0.3", "--attest=0.3=seen", "--operator=Ada", switch)
    assert f"{switch.partition('=')[0]} run no gate, so nothing would record what" in found


@pytest.mark.parametrize(
    "plugin",
    ["fixtures.session.guard", "fixtures.session.report", "html", "metadata"],
)
def test_a_part_without_which_verdicts_get_lost_cannot_be_taken_away(plugin: str) -> None:
    assert f"-p no:{plugin}: " in refused("-m", "gate_b", "-p", f"no:{plugin}")


def test_the_lab_is_never_replaced_by_the_real_cluster_of_the_inventory() -> None:
    assert "-p no:lab.plugin: " in refused("--lab", "-m", "gate_b", "-p", "no:lab.plugin")


@pytest.mark.parametrize("switch", ["--junitxml", "--html"])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_asked(
    switch: str, tmp_path: Path
) -> None:
    for place, why in (
        ("/proc/report", "cannot be written: "),
        ("/dev/null", "is not a regular file"),
    ):
        said = refused(f"--reports={tmp_path}", "-m", "gate_b", f"{switch}={place}")
        assert f"{switch}={place}: {why}" in said
    assert not list(tmp_path.rglob("apply-log.jsonl"))


def test_a_report_somewhere_else_is_still_one_file(tmp_path: Path, reports: Path) -> None:
    page = tmp_path / "elsewhere" / "report.html"
    ended = suite("--lab", f"--reports={reports}", "--gate=B.4", f"--html={page}")
    assert ended.status == 0, ended.text
    assert [each.name for each in page.parent.iterdir()] == ["report.html"]


def test_a_run_without_an_optional_plugin_decides_and_records_as_ever(reports: Path) -> None:
    ended = suite("--lab", f"--reports={reports}", "--gate=B.4,C.5", "-p", "no:skipping")
    assert ended.status == 1, ended.text
    assert "Traceback" not in ended.text
    assert verdicts(reports) == {"B.4": "PASS", "C.5": "BLOCKED"}


def test_warnings_as_errors_find_nothing_left_open(reports: Path) -> None:
    ended = suite("--lab", f"--reports={reports}", "--gate=B.4", "-W", "error")
    assert ended.status == 0, ended.text


def test_what_is_refused_after_collecting_leaves_no_report(tmp_path: Path) -> None:
    stated = ("--attest=0.3=seen by me", "--operator=Ada")
    assert "0.3 is not selected" in refused(f"--reports={tmp_path}", "--gate=B.1", *stated)
    assert not list(tmp_path.rglob("*.html"))
