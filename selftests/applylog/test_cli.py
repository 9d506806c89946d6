from __future__ import annotations

import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from fixtures import gates
from fixtures.applylog import advice
from fixtures.applylog.__main__ import main
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.applylog.standing import standings
from fixtures.core.verdicts import Verdict
from selftests.applylog.story import NODES, Story, keys, usual

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Decide = Callable[..., None]

IDENTITY = "ab" * 32
STATED = " ".join(
    f"--attest={gate.id}=TEXT" for gate in gates.of_phase(gates.Phase.ZERO) if gate.attested
)
STATED += " --operator=NAME"
CONTROL_PLANES = ("rke-cp01", "rke-cp02", "rke-cp03")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def start(ledger: Ledger, command: str = "pytest --lab -m gate_b") -> None:
    nodes = [f"C.3[{node}]" for node in CONTROL_PLANES]
    ledger.append(
        Kind.RUN_START, cluster="lab", mode="lab", operator="anna", command=command, gates=nodes
    )
    ledger.append(Kind.IDENTITY, identity=IDENTITY)


def next_command(ledger: Ledger) -> str | None:
    lines = list(ledger.lines())
    return advice.next_command(standings(lines), lines)


def decide_phase(decide: Decide, phase: gates.Phase, *, drills: bool) -> None:
    for gate in gates.of_phase(phase):
        if gate.drill and not drills:
            continue
        if gate.each is gates.Each.CLUSTER:
            decide(gate.id)
        else:
            for node in CONTROL_PLANES:
                decide(f"{gate.id}[{node}]")


def test_the_next_command_follows_the_runbook(ledger: Ledger, decide: Decide) -> None:
    start(ledger)
    assert next_command(ledger) == f"pytest -m gate_0 {STATED} --lab"

    decide_phase(decide, gates.Phase.ZERO, drills=True)
    assert next_command(ledger) == "pytest -m gate_b --lab"

    decide_phase(decide, gates.Phase.B, drills=True)
    assert next_command(ledger) == "pytest -m 'gate_c and not drill' --lab"

    decide_phase(decide, gates.Phase.C, drills=False)
    assert next_command(ledger) == "pytest --gate=C.5,C.6 --authorize=NAME --lab"

    decide("B.3", Verdict.FAIL)
    assert next_command(ledger) == "pytest -m gate_b --lab"


def test_the_next_commands_lead_through_the_whole_runbook() -> None:
    """Typed one after the other, each decides something, until nothing is left."""
    story = Story()
    story.add(Kind.RUN_START, nodes={role: list(names) for role, names in NODES.items()})
    story.add(Kind.IDENTITY, identity=IDENTITY)
    typed: list[str] = []
    while command := advice.next_command(standings(story.lines), story.lines):
        assert command not in typed
        typed.append(command)
        for gate in selected(command):
            if gate.id == "F6-3":
                story.restore()
            for key in keys(gate):
                story.decide(key, usual(gate))
    assert "pytest -m destructive --authorize=NAME" in typed
    assert len(typed) < 2 * len(gates.Phase)


def selected(command: str) -> list[gates.Gate]:
    """What that command would decide: nothing of what needs a name, without one."""
    words = shlex.split(command)
    named = [word.removeprefix("--gate=").split(",") for word in words if "--gate=" in word]
    chosen = words[words.index("-m") + 1] if "-m" in words else ""
    stated = {word.split("=")[1] for word in words if word.startswith("--attest=")}
    assert not stated or "--operator=NAME" in words
    return [
        gate
        for gate in gates.GATES
        if (
            gate.id in named[0]
            if named
            else gate.phase is gates.Phase.F6
            if chosen == "destructive"
            else gate.phase.marker == chosen.split()[0] and not ("not" in chosen and gate.drill)
        )
        and ("--authorize=NAME" in words or not gate.authorized)
        and (not gate.attested or gate.authorized or gate.id in stated)
    ]


def test_the_next_command_names_the_cluster_as_the_last_run_did(ledger: Ledger) -> None:
    start(ledger, "pytest -m 'gate_b' --inventory 'my clusters/a.yaml' --reports=/var/r")

    assert next_command(ledger) == (
        f"pytest -m gate_0 {STATED} '--inventory=my clusters/a.yaml' --reports=/var/r"
    )


def test_a_command_line_that_cannot_be_split_is_no_trouble(ledger: Ledger) -> None:
    start(ledger, "pytest --lab -k 'it")

    assert next_command(ledger) == f"pytest -m gate_0 {STATED} --lab"


@pytest.mark.parametrize(
    ("seconds", "said"), [(-5, "0 s"), (59, "59 s"), (61, "1 min"), (7300, "2 h"), (200_000, "2 d")]
)
def test_ages(seconds: int, said: str) -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)

    assert advice.age(now - timedelta(seconds=seconds), now) == said


def test_status_prints_a_row_per_gate(
    ledger: Ledger, decide: Decide, capsys: pytest.CaptureFixture[str]
) -> None:
    start(ledger)
    decide("B.1")
    reports = str(ledger.folder.parent)

    code, out, _ = run(capsys, "status", f"--reports={reports}")

    assert code == 0
    rows = out.splitlines()
    assert rows[1].split()[:2] == ["0.1", "-"]
    assert ["B.1", "PASS"] in [row.split()[:2] for row in rows]
    assert sum(row.startswith("C.3[") for row in rows) == 3
    assert rows[-1] == f"next: pytest -m gate_0 {STATED} --lab"


def hostile(ledger: Ledger, record: GateRecord) -> None:
    ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())


def test_no_command_lets_a_hosts_control_characters_through(
    ledger: Ledger, make_record: Callable[..., GateRecord], capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b]0;owned\x07\u202e<script>"
    start(ledger, f"pytest {evil}")
    ledger.append(Kind.STEP, text=evil)
    entry = {"host": evil, "command": evil, "rc": 0, "stdout": evil + "\n" + evil, "stderr": ""}
    hostile(ledger, make_record("B.1", summary=evil, facts={evil: evil}, evidence=[entry]))
    reports = f"--reports={ledger.folder.parent}"

    for arguments in (["status"], ["show"], ["show", "--gate=B.1"], ["verify"]):
        code, out, err = run(capsys, *arguments, reports)
        assert code == 0
        assert all(char.isprintable() or char == "\n" for char in out + err)
        assert "\u202e" not in out


def test_show_prints_runs_newest_last_and_evidence_of_one_gate(
    ledger: Ledger, make_record: Callable[..., GateRecord], capsys: pytest.CaptureFixture[str]
) -> None:
    start(ledger)
    entry = {"host": "rke-cp01", "command": "ip addr", "rc": 0, "stdout": "a\nb\n", "stderr": ""}
    hostile(ledger, make_record("B.3", evidence=[entry]))
    other = Ledger.open(ledger.folder.parent, "lab", run="two")
    other.append(Kind.RUN_START, operator="paul")
    reports = f"--reports={ledger.folder.parent}"

    _, everything, _ = run(capsys, "show", reports)
    assert everything.index("run one") < everything.index("run two")
    _, one, _ = run(capsys, "show", "--run=two", reports)
    assert "run one" not in one
    _, gate, _ = run(capsys, "show", "--gate=B.3", reports)
    assert "rke-cp01: ip addr  [rc 0]\n      stdout | a\n      stdout | b\n" in gate
    assert "run two" not in gate
    code, _, err = run(capsys, "show", "--run=three", reports)
    assert (code, "there is no run 'three'" in err) == (2, True)


def test_a_broken_log_is_told_by_every_command(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    start(ledger)
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"anna", b"ANNA") + b"\xff\x00\n")

    for command in ("status", "show", "verify", "render"):
        code, out, err = run(capsys, command, f"--reports={ledger.folder.parent}")
        assert code == 1
        assert f"{ledger.path}:1: its content does not match its hash" in out + err


def test_no_log_or_no_choice_is_a_clear_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = f"--reports={tmp_path}"
    for command in ("status", "show", "verify", "render"):
        code, _, err = run(capsys, command, reports)
        assert (code, "holds no apply log yet" in err) == (2, True)
    assert run(capsys, "status", f"--reports={tmp_path / 'none'}")[0] == 2
    assert run(capsys, "status", reports, "--cluster=../x")[0] == 2
    assert run(capsys, "status", reports, "--cluster=none")[0] == 2
    for name in ("one", "two"):
        Ledger.open(tmp_path, name).append(Kind.RUN_START)

    code, _, err = run(capsys, "status", reports)
    assert (code, err) == (2, "which cluster? --cluster=NAME, one of: one, two\n")
    assert run(capsys, "status", reports, "--cluster=two")[0] == 0


def test_verify_holds_the_log_against_anchors_in_a_file(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start(ledger)
    kept = tmp_path / "kept"
    kept.write_text(f"2 {ledger.head.hash} 2026-11-30T03:04:05Z lab one\n")
    reports = f"--reports={ledger.folder.parent}"

    code, out, _ = run(capsys, "verify", f"--anchors={kept}", reports)
    assert (code, "1 anchor agrees" in out) == (0, True)
    kept.write_text(f"1 {ledger.head.hash} 2026-11-30T03:04:05Z lab one\n")
    code, out, _ = run(capsys, "verify", f"--anchors={kept}", reports)
    assert (code, f"line 1 of {kept} remembers another line 1" in out) == (1, True)
    kept.write_bytes(b"\xff")
    assert run(capsys, "verify", f"--anchors={kept}", reports)[0] == 2
    assert run(capsys, "verify", f"--anchors={tmp_path}/none", reports)[0] == 2
    code, _, said = run(capsys, "verify", "--anchors=/dev/zero", reports)
    assert (code, said) == (2, "--anchors=/dev/zero: it is larger than 16 MiB\n")


def test_a_reader_that_goes_away_is_no_error(ledger: Ledger) -> None:
    start(ledger)
    for index in range(3000):
        ledger.append(Kind.STEP, index=index) if index < 3 else None
    command = [sys.executable, "-m", "fixtures.applylog", "show", "--reports"]
    with subprocess.Popen(
        [*command, str(ledger.folder.parent)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_names_are_told_visibly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a\x1b[2Jb", "c\u202ed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "apply-log.jsonl").touch()
    told = [
        run(capsys, "status", f"--reports={tmp_path}"),
        run(capsys, "status", f"--reports={tmp_path}", "--cluster=x\x07y"),
        run(capsys, "status", f"--reports={tmp_path}/\x1b[31m"),
    ]
    for code, out, err in told:
        assert (code, out) == (2, "")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", err)
    assert "one of: a\\x1b[2Jb, c\\u202ed" in told[0][2]


def test_an_empty_name_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "status", "--reports=") == (2, "", "--reports=: it names no folder\n")
