"""The plan of phase W is what is run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from fixtures.core.requests import KUBERNETES
from fixtures.gates import Phase
from selftests.drills.plans import blocks, differences
from selftests.drills.test_plan import is_command
from selftests.passed import pass_all_before
from selftests.session.suite import log_lines, suite

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_sent_to_drain_and_reboot_is_what_was_planned(tmp_path: Path) -> None:
    planned = suite("--plan", "--lab", f"--reports={tmp_path / 'plan'}", "-m", "gate_w")
    assert planned.status == 0, planned.text
    assert "depends on the answers" not in planned.text
    reports = tmp_path / "run"
    reports.mkdir()
    pass_all_before(reports, Phase.W)
    ran = suite("--lab", f"--reports={reports}", "-m", "gate_w", "--authorize=ada")
    assert ran.status == 0, ran.text
    log = log_lines(reports)
    run = log[-1]["run"]
    plan = [
        replace(block, sent=frozenset(each.replace("<run>", run).lower() for each in block.sent))
        for block in blocks(planned.text)
    ]
    (lab,) = (reports / ".lab" / "runs").iterdir()
    lines = [json.loads(line) for line in (lab / "commands.jsonl").read_text("utf-8").splitlines()]
    sent = [f"{line['host']} $ {line['command']}".lower() for line in lines]
    sent = [each for each in sent if is_shell(each) and not may_be_lost(each)]
    wanted_in_order = [
        block.only(lambda each: is_command(each) and not may_be_lost(each)) for block in plan
    ]
    assert differences(wanted_in_order, sent) == []
    for gate in ("W-1", "W-2"):
        own = [block for block in plan if block.of == gate]
        wanted = {each for block in own for each in block.sent if KUBERNETES.lower() in each}
        (record,) = (each for each in log if each["kind"] == "gate" and each["gate"] == gate)
        asked = {
            f"bastion -> {each['host']} {each['request']}".lower()
            for each in record["evidence"]
            if each["host"] == KUBERNETES
        }
        assert asked == wanted, gate


def may_be_lost(sent: str) -> bool:
    """What a machine is asked while it reboots: it may take the answer and its line along."""
    rebooting = sent.startswith("rke-platform02 $ ")
    return rebooting and ("random/boot_id" in sent or ("show" in sent and "rke2-drill-" in sent))


def is_shell(sent: str) -> bool:
    """What a shell was sent, and not the API."""
    return " $ get " not in sent
