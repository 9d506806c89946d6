"""A plan is what is run: compared with what the embedded lab was really sent."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.gates import Phase
from selftests.drills.plans import Block, blocks, differences
from selftests.gates.world import wetopi
from selftests.passed import pass_all_before
from selftests.session.suite import log_lines, suite, verdicts

if TYPE_CHECKING:
    from pathlib import Path

ALL = "gate_b or gate_c or destructive"


class Told:
    """What the placeholders of a plan stood for, by the log of the run."""

    def __init__(self, log: list[dict[str, Any]]) -> None:
        steps = [line for line in log if line["kind"] == "step"]
        begun = {line["gate"]: line["host"] for line in steps if line["step"] == "begin"}
        (p2,) = (line for line in log if line["kind"] == "gate" and line["gate"] == "P2")
        self._clocks = next(each["clocks"] for each in steps if each["step"] == "begin the restore")
        self._words = {
            "<run>": log[-1]["run"],
            "<vip-owner>": begun["C.5"],
            "<target>": begun["C.6"],
            "<snapshot>": p2["facts"]["snapshot"]["name"],
        }

    def fill(self, block: Block) -> Block:
        return replace(block, sent=frozenset(map(self._filled, block.sent)))

    def _filled(self, text: str) -> str:
        for word, value in self._words.items():
            text = text.replace(word, value)
        return text.replace("<epoch>", str(self._clocks.get(text.partition(" ")[0]))).lower()


def commands(reports: Path) -> list[str]:
    """What the lab's hosts were sent, in the order in which it ended."""
    (log,) = (reports / ".lab" / "runs").glob("*/commands.jsonl")
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert all(line["known"] for line in lines)
    sent = (f"{line['host']} $ {line['command']}" for line in lines)
    return [each.lower() for each in sent if "$ GET " not in each]


def is_command(sent: str) -> bool:
    return " $ " in sent


def connections(log: list[dict[str, Any]], gate: str) -> set[str]:
    """What a gate's evidence holds of what no host's shell is sent: TCP and HTTP."""
    (line,) = (each for each in log if each["kind"] == "gate" and each["gate"] == gate)
    names = {str(node.address): node.name for node in wetopi().nodes}
    asked = {
        (names.get(each["host"], each["host"]), *each["request"].split(" "))
        for each in line["evidence"]
        if "request" in each
    }
    return {
        f"bastion -> tcp {host}:{what}" if how == "TCP" else f"bastion -> https://{host} get {what}"
        for host, how, what in asked
    }


def test_what_is_sent_is_what_was_planned(tmp_path: Path) -> None:
    planned = suite("--plan", "--lab", f"--reports={tmp_path / 'plan'}", "-m", ALL)
    assert planned.status == 0, planned.text
    assert "depends on the answers" not in planned.text
    assert not (tmp_path / "plan" / "lab").exists()
    reports = pass_all_before(tmp_path / "run", Phase.B)
    ran = suite("--lab", f"--reports={reports}", "-m", ALL, "--authorize=ada")
    assert ran.status == 0, ran.text
    assert set(verdicts(reports).values()) == {"PASS", "ATTESTED"}
    log = log_lines(reports)
    told = Told(log)
    plan = [told.fill(block) for block in blocks(planned.text)]
    assert differences([block.only(is_command) for block in plan], commands(reports)) == []
    names = {str(node.address): node.name for node in wetopi().nodes}
    for gate in ("C.5", "C.6", "F6-2", "F6-3", "F6-2R"):
        sent = [each for block in plan if block.of == gate for each in block.sent]
        wanted = {each.partition(" (")[0] for each in sent if not is_command(each)}
        for address, name in names.items():
            wanted = {each.replace(f" {address}:", f" {name}:") for each in wanted}
        assert connections(log, gate) == wanted, gate


A, B, C, D = ("host $ a", "host $ b", "host $ c", "host $ d")
PLAN = [
    Block("X", frozenset({A, B})),
    Block("X", frozenset({C}), "repeat until it holds", 1),
    Block("X", frozenset({D}), "repeat until it holds", 1),
    Block("X", frozenset({B}), "only if asked", 2),
    Block("X", frozenset({A}), "", 3),
]
WAIT = [
    Block("X", frozenset({A})),
    Block("X", frozenset({B, C}), "only if A says no, repeat until it holds", 1),
    Block("X", frozenset({D}), "", 2),
]


def test_no_database_is_moved_before_the_copy_is_proved_again(tmp_path: Path) -> None:
    """The snapshots lie in the folder that is moved, so the copy off that node must be whole now.

    Nothing of a database is ever removed by the drill itself.
    """
    planned = suite("--plan", "--lab", f"--reports={tmp_path}", "--gate=F6-3")
    sent = [sorted(block.sent) for block in blocks(planned.text) if block.of == "F6-3"]
    order = [each for block in sent for each in block]
    reset = next(place for place, each in enumerate(order) if "--unit=rke2-reset-" in each)
    moves = [place for place, each in enumerate(order) if " mv -t " in each.lower()]
    assert len(moves) == 2
    for after, move in zip([reset, moves[0]], moves, strict=True):
        proofs = [each for each in order[after:move] if "sha256sum" in each]
        assert {each.partition(" $ ")[0] for each in proofs} == {"rke-cp01", "wetopi-ops01"}
    assert not [each for each in order if " rm -" in each and "server/db" in each]


@pytest.mark.parametrize(
    "sent", ["ABCDA", "BACDA", "ABCDBA", "ABCDCDA", "ABCCDA", "ABCDCCDBA"], ids=str
)
def test_repeats_and_conditions_are_no_differences(sent: str) -> None:
    assert differences(PLAN, [f"host $ {each.lower()}" for each in sent]) == []


@pytest.mark.parametrize("sent", ["AD", "ABCD", "ACBCBD", "ABCBCCBD"], ids=str)
def test_a_wait_that_may_not_be_needed_is_repeated_as_often_as_it_takes(sent: str) -> None:
    assert differences(WAIT, [f"host $ {each.lower()}" for each in sent]) == []


@pytest.mark.parametrize(
    "sent", ["ABCD", "ACDA", "ABDA", "ABCA", "ABDCA", "ABCDAA", "ABCDBBA", "CABDA"], ids=str
)
def test_what_is_missing_or_out_of_order_is_a_difference(sent: str) -> None:
    assert differences(PLAN, [f"host $ {each.lower()}" for each in sent])
