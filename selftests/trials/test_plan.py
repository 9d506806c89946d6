"""A plan of gates that make objects is what the lab's API is really sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, f1, f2
from selftests.passed import pass_all_before, pass_also
from selftests.session.suite import log_lines, suite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.thorough

PODS = "--gate=D2.dns,D2.dns-utils,D2.sched,D2.netpol"
VOLUME = "--gate=F2.bound,F2.b,F2.c,F2.d,F2.e"
PLANNED = re.compile(r"bastion -> the Kubernetes API (.*)")
# What a run puts in the place of a placeholder.
PLACES = {
    r"pods/ceph-csi-rbd-[a-z0-9-]+/log": "pods/<csi-pod>/log",
    r"\?container=[a-z-]+&": "?container=<container>&",
    r"sinceTime=[0-9TZ:-]+": "sinceTime=<claimed>",
    r"persistentvolumes/pvc-[0-9a-f-]+": "persistentvolumes/<volume>",
    r"(printf .* sh <run>) [0-9a-f-]+": r"\1 <uid>",
}
OPTIONAL = re.compile(r"  only if .*:")
BEGINS = re.compile(r"\S.*|  repeat until .*:")


def planned(text: str) -> set[str]:
    """What a printed plan sends to the API for sure."""
    found, optional = set(), False
    for line in text.splitlines():
        if OPTIONAL.fullmatch(line):
            optional = True
        elif BEGINS.fullmatch(line) or not line.startswith("      "):
            optional = False
        if (match := PLANNED.search(line)) and not optional:
            # The lab writes a program's arguments down unquoted.
            found.add(match[1].replace("'", ""))
    return found


def sent(reports: Path, run: str) -> set[str]:
    """What the lab's API was sent in its last run, and what it ran in pods."""
    log = max((reports / ".lab" / "runs").glob("*/commands.jsonl"), key=lambda each: each.parent)
    lines = [json.loads(line)["command"] for line in log.read_text("utf-8").splitlines()]
    calls = [line for line in lines if re.match(r"GET|POST|DELETE|exec ", line)]
    plain = [re.sub(r"[?&]limit=\d+", "", call) for call in calls if "/readyz" not in call]
    plain = [re.sub(re.escape(run), "<run>", call, flags=re.IGNORECASE) for call in plain]
    for seen, place in PLACES.items():
        plain = [re.sub(seen, place, call) for call in plain]
    return set(plain)


@pytest.mark.parametrize(
    ("phase", "gates", "least"), [(Phase.D2, PODS, 25), (Phase.F, VOLUME, 20)], ids=["D2", "F2"]
)
def test_what_is_sent_is_what_was_planned(
    tmp_path: Path, phase: Phase, gates: str, least: int
) -> None:
    pass_all_before(tmp_path, phase)
    if phase is Phase.F:
        before = f2.GATES[: [each.id for each in f2.GATES].index("F2.bound")]
        pass_also(tmp_path, *(gate.id for gate in (*f1.GATES, *before)))
    plan = suite("--plan", "--lab", f"--reports={tmp_path}", gates)
    assert plan.status == 0, plan.text
    assert "depends on the answers" not in plan.text
    assert "…" not in plan.text.replace("<…>", "")
    ran = suite("--lab", f"--reports={tmp_path}", gates)
    assert ran.status == 0, ran.text
    wanted = planned(plan.text)
    assert len(wanted) > least
    assert sent(tmp_path, str(log_lines(tmp_path)[-1]["run"])) == wanted


def test_a_plan_names_the_logs_from_before_a_restart(tmp_path: Path) -> None:
    plan = suite("--plan", "--lab", f"--reports={tmp_path}", VOLUME)
    former = "/pods/<csi-pod>/log?container=<container>&timestamps=true&sinceTime=<claimed>"
    assert f"{former}&previous=true" in plan.text
