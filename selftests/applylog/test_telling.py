from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.applylog.record import Kind
from fixtures.applylog.telling import told

if TYPE_CHECKING:
    from fixtures.applylog.ledger import Ledger


def test_a_step_is_told_as_what_was_done_where(ledger: Ledger) -> None:
    line = ledger.append(
        Kind.STEP,
        gate="C.6",
        host="rke-cp02",
        step="stop rke2-server",
        state="failed",
        why="no unit",
        command="sudo -n systemd-run …",
    )
    assert told(line) == "C.6, rke-cp02: stop rke2-server: failed (no unit)"


def test_a_change_of_state_is_told_with_its_reason(ledger: Ledger) -> None:
    change = {"target": "new", "from": "up", "to": "down", "detail": "refused"}
    line = ledger.append(Kind.SAMPLE, gate="C.5", **change)
    assert told(line) == "C.5: API, new connection: up -> down (refused)"


def test_an_authorization_is_told_by_name_scope_and_end(ledger: Ledger) -> None:
    line = ledger.append(
        Kind.AUTHORIZATION, name="ada", scope=["C.5", "C.6"], until="2026-11-30T17:00:00Z"
    )
    assert told(line) == "ada authorizes C.5, C.6 until 2026-11-30T17:00:00Z"


def test_a_cleanup_stop_is_told_as_a_step(ledger: Ledger) -> None:
    line = ledger.append(Kind.LATCH, gate="G.4", step="CLEANUP STOP", state="set", why="plaintext")
    assert told(line) == "G.4: CLEANUP STOP: set (plaintext)"


def test_hostile_text_cannot_leave_its_line(ledger: Ledger) -> None:
    line = ledger.append(Kind.STEP, gate="C.5", step="x\nPASS C.6\x1b[2J", state="done")
    assert "\n" not in told(line)
    assert "\x1b" not in told(line)


def test_other_kinds_are_told_by_their_names_and_values(ledger: Ledger) -> None:
    assert told(ledger.append(Kind.LATCH, state="cleared", by="ada: done")) == (
        "state: cleared; by: ada: done"
    )
