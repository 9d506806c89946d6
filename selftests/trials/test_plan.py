"""A plan of gates that make objects is what the lab's API is really sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from selftests.scenarios.passed import pass_all_before
from selftests.session.suite import log_lines, suite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.thorough

GATES = "--gate=D2.dns,D2.dns-utils,D2.sched,D2.netpol"
PLANNED = re.compile(r"bastion -> the Kubernetes API (.*)")
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
            found.add(match[1])
    return found


def sent(reports: Path, run: str) -> set[str]:
    """What the lab's API was sent in its last run, and what it ran in pods."""
    log = max((reports / ".lab" / "runs").glob("*/commands.jsonl"), key=lambda each: each.parent)
    lines = [json.loads(line)["command"] for line in log.read_text("utf-8").splitlines()]
    calls = (line for line in lines if re.match(r"GET|POST|DELETE|exec ", line))
    plain = (re.sub(r"[?&]limit=\d+", "", call) for call in calls if "/readyz" not in call)
    return {re.sub(re.escape(run), "<run>", call, flags=re.IGNORECASE) for call in plain}


def test_what_is_sent_is_what_was_planned(tmp_path: Path) -> None:
    pass_all_before(tmp_path, Phase.D2)
    plan = suite("--plan", "--lab", f"--reports={tmp_path}", GATES)
    assert plan.status == 0, plan.text
    assert "depends on the answers" not in plan.text
    ran = suite("--lab", f"--reports={tmp_path}", GATES)
    assert ran.status == 0, ran.text
    wanted = planned(plan.text)
    assert len(wanted) > 25
    assert sent(tmp_path, str(log_lines(tmp_path)[-1]["run"])) == wanted
