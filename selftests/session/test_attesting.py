"""Statements: which gates take one, whose they are, and how long they count."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from fixtures.applylog.record import GateRecord
from fixtures.core.gate import Gate, Phase
from fixtures.core.verdicts import Undecided, Verdict
from fixtures.session import attesting, selection

STATED = Gate("0.3", Phase.ZERO, "main is protected", "0", "stop", attested=True)
MEASURED = Gate("B.1", Phase.B, "measured", "B", "stop")
SIGNED = Gate("P4", Phase.F6, "authorized", "F6", "stop", attested=True, authorized=True)
EITHER = Gate("0.6", Phase.ZERO, "snapshots", "0", "stop", attestable=True)


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = {gate.id: gate for gate in (STATED, MEASURED, SIGNED, EITHER)}
    monkeypatch.setattr(selection, "_POSITION", dict.fromkeys(gates, 0))
    monkeypatch.setattr(attesting, "lookup", gates.__getitem__)


def record(gate: str, verdict: Verdict, **facts: Any) -> GateRecord:
    return GateRecord(
        gate=gate,
        node=None,
        verdict=verdict,
        summary="",
        identity="i",
        evidence=(),
        facts=facts,
        started=datetime(2026, 8, 30, tzinfo=UTC),
        seconds=0.1,
        stop="",
        section="",
        title="",
        deviation=None,
    )


def test_statements_are_read_once_each_and_on_one_line() -> None:
    given = attesting.parsed(["0.3=seen in the settings,\n  a=b", "0.6=all eight"])
    assert given == {"0.3": "seen in the settings, a=b", "0.6": "all eight"}


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        (["0.3"], "expected GATE=TEXT"),
        (["0.3= "], "expected GATE=TEXT"),
        (["B.1=fine"], "measured, not attested"),
        (["P4=ada"], "--authorize"),
        (["0.3=a", "0.3=b"], "stated twice"),
        (["9.9=a"], "there is no gate 9.9"),
    ],
)
def test_what_cannot_be_stated_is_refused(statements: list[str], why: str) -> None:
    with pytest.raises(pytest.UsageError, match=why):
        attesting.parsed(statements)


def test_an_earlier_statement_counts_with_its_own_name_and_date() -> None:
    said = attesting.made({"0.3": "seen"}, "ada")["0.3"]
    records = {"0.3": record("0.3", Verdict.ATTESTED, attested=said.fields())}
    assert attesting.earlier(records) == {"0.3": said}


def test_what_was_not_attested_states_nothing() -> None:
    said = attesting.made({"0.3": "seen"}, "ada")["0.3"].fields()
    attested = record("0.3", Verdict.ATTESTED, attested=said)
    for spoilt in (
        replace(attested, verdict=Verdict.UNKNOWN),
        replace(attested, facts={}),
        replace(attested, facts={"attested": "seen"}),
        replace(attested, facts={"attested": said | {"name": ""}}),
    ):
        assert attesting.earlier({"0.3": spoilt}) == {}


def test_a_gate_without_a_statement_says_how_to_make_one() -> None:
    error = attesting.missing(STATED)
    assert isinstance(error, Undecided)
    assert "--gate=0.3 --attest=" in str(error)
    assert "--operator=NAME" in str(error)
