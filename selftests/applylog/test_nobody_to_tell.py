"""The log's commands where their answer cannot be written: a sentence, and no wrong status."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import __main__ as command_line
from fixtures.applylog.record import Kind
from selftests.project.tree import ROOT

if TYPE_CHECKING:
    from fixtures.applylog.ledger import Ledger

COMMANDS = ["status", "dod", "show", "verify", "render"]


def shell(ledger: Ledger, command: str, where: str) -> subprocess.CompletedProcess[str]:
    line = f"'{sys.executable}' -m fixtures.applylog {command} --reports='{ledger.folder.parent}'"
    return subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {line} {where}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(autouse=True)
def a_run(ledger: Ledger) -> None:
    ledger.append(Kind.RUN_START, cluster="lab", operator="ada")
    ledger.append(Kind.RUN_END, status=0)


def damage(ledger: Ledger) -> None:
    path = ledger.folder / "apply-log.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"ada"', b'"eve"'))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_one_sentence(ledger: Ledger, command: str) -> None:
    done = shell(ledger, command, ">/dev/full")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the answer could not be written: No space left on device\n"
    assert shell(ledger, command, ">/dev/full 2>/dev/full").returncode == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_output_is_no_success(ledger: Ledger, command: str) -> None:
    for where in (">&-", ">&- 2>&-"):
        done = shell(ledger, command, where)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_a_reader_who_has_enough_changes_no_status(ledger: Ledger) -> None:
    assert shell(ledger, "show", "| true").returncode == 0
    damage(ledger)
    assert shell(ledger, "verify", "| true").returncode == 1
    assert shell(ledger, "verify", ">&-").returncode == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interruption_is_one_sentence(
    ledger: Ledger,
    command: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line.anchors, "verify", interrupted)
    code = command_line.main([command, f"--reports={ledger.folder.parent}"])
    out, err = capsys.readouterr()
    assert (code, out, err) == (130, "", "interrupted; the log is as it was\n")
