"""Statements: which gates take one, whose they are, and how long they count."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from fixtures.applylog.record import GateRecord
from fixtures.core.gate import Gate, Phase
from fixtures.core.verdicts import Undecided, Verdict
from fixtures.session import attesting, selection, wording
from selftests.gates.world import wetopi

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
        (["0.3"], "is not GATE=TEXT"),
        (["0.3= "], "is not GATE=TEXT"),
        (["=seen"], "names no gate"),
        (["0.3,0.6=seen"], "one statement for one gate"),
        (["0.3[rke-cp01]=seen"], "there is no gate 0.3"),
        (["0.3=seen\x1b[2K"], "characters that cannot be seen"),
        (["0.3=seen \u202enot"], "characters that cannot be seen"),
        (["0.3=\u2800"], "characters that cannot be seen"),
        (["0.3=?"], "no letter or digit"),
        (["0.3=\u0301"], "no letter or digit"),
        (["0.3=with token: 0123456789abcdef0123456789abcdef"], "what looks like a secret"),
        (["0.3 with password=hunter2hunter2"], "there is no gate"),
        (["password: hunter2hunter2"], "what looks like a secret"),
        (["0.3=" + "x" * 1001], "1,001 characters, at most 1,000"),
        (["B.1=fine"], "measured, not attested"),
        (["P4=ada"], "--authorize"),
        (["0.3=a", "0.3=b"], "stated twice"),
        (["9.9=a"], "there is no gate 9.9"),
    ],
)
def test_what_cannot_be_stated_is_refused(statements: list[str], why: str) -> None:
    with pytest.raises(pytest.UsageError, match=re.escape(why)) as refused:
        attesting.parsed(statements)
    assert "hunter2" not in str(refused.value)
    assert str(refused.value).isprintable()


def test_an_earlier_statement_counts_with_its_own_name_and_date() -> None:
    said = attesting.made({"0.3": "seen"}, "ada")["0.3"]
    records = {"0.3": record("0.3", Verdict.ATTESTED, attested=said.fields())}
    assert attesting.earlier(records) == {"0.3": said}


def test_no_statement_stands_for_what_the_inventory_gives_access_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = wetopi()
    for left, refused in (((), True), (("rke-cp01",), False)):
        gate = replace(EITHER, stated=lambda _cluster, left=left: left)
        monkeypatch.setattr(attesting, "lookup", {"0.6": gate}.__getitem__)
        if refused:
            with pytest.raises(pytest.UsageError, match=r"wetopi\.yaml gives access to all of it"):
                attesting.refuse_measured(["0.6=all eight"], cluster)
        else:
            attesting.refuse_measured(["0.6=all eight"], cluster)


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


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict.PASS, "was measured, the statement was not needed"),
        (Verdict.ATTESTED, ""),
        (Verdict.BLOCKED, "0.6 is BLOCKED, so the statement does not count; state it again"),
        (Verdict.FAIL, "0.6 is FAIL, so the statement does not count; state it again"),
        (None, "0.6 was not reached, so the statement does not count; state it again"),
    ],
)
def test_what_becomes_of_a_statement_is_told(verdict: Verdict | None, said: str) -> None:
    told = list(attesting.not_used(["0.6"], {"0.6": verdict} if verdict else {}))
    assert len(told) == bool(said)
    assert all(each.startswith("--attest=0.6: ") and each.endswith(said) for each in told)


NAMES = ("operator", "authorize", "clear_latch", "release_lock")


def named(option: str, value: str) -> Namespace:
    return Namespace(**dict.fromkeys(NAMES) | {option: value})


@pytest.mark.parametrize("option", NAMES)
@pytest.mark.parametrize(
    "value",
    [
        *("Ada\u202eecarG", "Ada: token=hunter2hunter2", "Ada\x1b[2J: x"),
        # Nobody: a mark on no letter, punctuation, space, a reason without a name.
        *("\u0301", "-", " ", "\u0301: it is repaired", "?: it is repaired", "Ada: ."),
    ],
)
def test_nobody_is_named_by_what_reads_as_something_else(option: str, value: str) -> None:
    with pytest.raises(pytest.UsageError) as refused:
        wording.read_names(named(option, value))
    assert f"--{option.replace('_', '-')}: " in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("option", NAMES)
def test_names_are_kept_on_one_line(option: str) -> None:
    given = named(option, " Ada\n Lovelace:\t\u00fcber, na\u00efve\x85B.1 PASS ")
    wording.read_names(given)
    assert getattr(given, option) == "Ada Lovelace: \u00fcber, na\u00efve B.1 PASS"
