"""Before the first change to a real cluster: plan, authorization, and time to stop."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import yaml

from fixtures.gates import Phase
from lab.child import Child
from selftests.passed import pass_all_before, pass_also
from selftests.project.tree import ROOT
from selftests.scenarios.replay import SCENARIOS
from selftests.session.suite import log_lines, suite, verdicts
from selftests.session.terminal import Attended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READ = "B.1,B.2,B.3,B.4,B.5,B.6,B.7,B.8,C.1,C.2,C.3,C.4"
CTRL_C = b"\x03"


@contextmanager
def taken_for_real(
    reports: Path, countdown: float, phase: str = "c", *more: str
) -> Iterator[list[str]]:
    """A lab that its inventory does not call one; the options to meet it."""
    child = Child.start(ROOT, [f"--reports={reports}", *more])
    try:
        child.apply(phase)
        document = yaml.safe_load(child.inventory.read_text("utf-8"))
        document["rehearsal"] = False
        document["limits"]["authorization_countdown"] = countdown
        child.inventory.write_text(yaml.safe_dump(document), "utf-8")
        yield [f"--inventory={child.inventory}", f"--reports={reports}"]
    finally:
        child.stop()


def changes(reports: Path) -> list[str]:
    """What the lab was sent that takes, makes or stops anything."""
    (log,) = (reports / ".lab" / "runs").glob("*/commands.jsonl")
    sent = (json.loads(line)["command"] for line in log.read_text("utf-8").splitlines())
    return [each for each in sent if "systemd-run" in each or "mkdir ~/.rke2-acceptance" in each]


def test_ctrl_c_in_the_countdown_changes_nothing(tmp_path: Path) -> None:
    pass_all_before(tmp_path, Phase.B)
    with taken_for_real(tmp_path, 60.0) as target:
        run = Attended.start(f"--gate={READ},C.5,C.6,C.7", *target, "--authorize=Ada")
        run.until("the first change in ")
        run.type(CTRL_C)
        ended = run.end()
    assert ended.status == 2, ended.text
    assert changes(tmp_path) == []
    assert verdicts(tmp_path)["C.5"] == "UNKNOWN"
    assert not verdicts(tmp_path).keys() & {"C.6", "C.7"}
    assert "interrupted before the first change (SIGINT): nothing was changed" in ended.text
    shown = ended.text.partition("the first change in ")[0]
    for text in (
        "lab is a real cluster. Ada authorizes C.5, C.6 until ",
        "stop keepalived, <vip-owner>: systemctl stop keepalived.service",
        "stop rke2-server, <target>: systemctl stop rke2-server.service",
        "expected: at most one gap in the API, 1.2 s at the longest",
        "undo: by this run; without it, <target> does it by itself 20s after it was armed",
    ):
        assert text in shown


def test_the_drill_follows_the_countdown(tmp_path: Path) -> None:
    pass_all_before(tmp_path, Phase.B)
    with taken_for_real(tmp_path, 0.5) as target:
        ended = Attended.start(f"--gate={READ},C.5", *target, "--authorize=Ada").end()
    assert ended.status == 0, ended.text
    assert ended.text.count("is a real cluster") == 1
    assert [line["name"] for line in log_lines(tmp_path) if line["kind"] == "authorization"] == [
        "Ada"
    ]


def test_nobody_is_waited_for_without_a_terminal(tmp_path: Path) -> None:
    pass_all_before(tmp_path, Phase.B)
    with taken_for_real(tmp_path, 60.0) as target:
        ended = suite(f"--gate={READ},C.5", *target, "--authorize=Ada")
    assert ended.status == 0, ended.text
    assert "is a real cluster" not in ended.text


def test_a_rehearsal_is_not_announced(tmp_path: Path) -> None:
    pass_all_before(tmp_path, Phase.B)
    run = Attended.start("--lab", f"--reports={tmp_path}", f"--gate={READ},C.5", "--authorize=Ada")
    ended = run.end()
    assert ended.status == 0, ended.text
    assert "the first change in" not in ended.text


def test_what_is_only_perhaps_changed_is_announced_as_that_and_its_latch_comes_first(
    tmp_path: Path,
) -> None:
    pass_all_before(tmp_path, Phase.G)
    pass_also(tmp_path, "G.4", "G.6", "G.7")
    plaintext = f"--scenario={SCENARIOS / 'gitops' / 'plaintext.yaml'}"
    options = ("--authorize=Ada", "--scope=G.4,G.9")
    with taken_for_real(tmp_path, 60.0, "g", plaintext) as target:
        run = Attended.start("--gate=G.4,G.9", *target, *options)
        run.until("the first change in ")
        run.type(CTRL_C)
        ended = run.end()
    assert ended.status == 2, ended.text
    shown = ended.text.partition("the first change in ")[0]
    for text in (
        "expected: no undo: a Secret that is deleted does not come back",
        "only, if its value is plaintext, and --authorize=NAME --scope=G.4 is given: take the lock",
        ", delete an exposed Secret on the Kubernetes API",
        "edit what Git manages, the Kubernetes API: PATCH /api/v1/namespaces/<namespace>/",
        "undo, if it is not healed: restore what Git manages on the Kubernetes API",
    ):
        assert text in " ".join(shown.split()), shown
    assert verdicts(tmp_path)["G.4"] == "FAIL"
    states = [line["state"] for line in log_lines(tmp_path) if line.get("step") == "CLEANUP STOP"]
    assert states == ["set"]
    assert "NOT deleted: interrupted before the first change" in " ".join(ended.text.split())
