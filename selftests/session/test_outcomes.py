"""Verdicts: FAIL only for a judgement, UNKNOWN for everything else that went wrong."""

from __future__ import annotations

import json
import signal
from datetime import UTC, datetime

import pytest

from fixtures.applylog.redact import redact
from fixtures.core.requests import HostCommand, Output
from fixtures.core.verdicts import Undecided, Verdict
from fixtures.core.waits import eventually
from fixtures.gates import lookup
from fixtures.session.explain import explain
from fixtures.session.interrupts import Interruptions
from fixtures.session.outcomes import (
    Course,
    Interrupted,
    NotRun,
    decide,
    exit_status,
    message,
    sentence,
)
from selftests.project.tree import ROOT


def course(**raised: BaseException) -> Course:
    made = Course(lookup("C.1"), None, "C.1", started=datetime.now(UTC))
    made.raised.update(raised)
    made.called = not raised
    return made


def raised_in(filename: str, error: BaseException) -> BaseException:
    """The error as if code of that file had raised it."""
    code = compile("def go(error):\n    raise error\n", filename, "exec")
    names: dict[str, object] = {}
    exec(code, names)
    try:
        names["go"](error)  # type: ignore[operator]
    except BaseException as caught:
        return caught
    raise RuntimeError


def judged(text: str) -> BaseException:
    return raised_in(str(ROOT / "tests/phase_c/test_gates.py"), AssertionError(text))


def test_a_gate_that_ran_through_passes_with_its_claim() -> None:
    assert decide(course()) == (Verdict.PASS, lookup("C.1").title)


@pytest.mark.parametrize("verdict", [Verdict.ATTESTED, Verdict.DEFERRED])
def test_what_a_gate_can_not_be_is_a_defect_and_never_green(verdict: Verdict) -> None:
    made = course()
    made.not_run = NotRun(verdict, "somebody says so")
    decided, summary = decide(made)
    assert decided is Verdict.UNKNOWN
    assert f"C.1 can not be {verdict} (somebody says so)" in summary


def test_a_judgement_of_the_gate_fails() -> None:
    verdict, summary = decide(course(call=judged("2 members, not 3\nassert 2 == 3")))
    assert (verdict, summary) == (Verdict.FAIL, "2 members, not 3")


def test_a_wait_whose_last_sample_answered_no_fails() -> None:
    with pytest.raises(AssertionError) as caught:
        eventually(lambda: 0, bool, within=0, every=1, what="a holder")
    assert decide(course(call=caught.value))[0] is Verdict.FAIL


def test_a_wait_whose_last_sample_could_not_be_asked_is_unknown() -> None:
    def silent() -> int:
        raise Undecided("rke-cp02 is silent")

    with pytest.raises(Undecided) as caught:
        eventually(silent, bool, within=0, every=1, what="a holder")
    assert decide(course(call=caught.value))[0] is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "error",
    [
        Undecided("rke-cp02 did not answer within 15 s"),
        KeyError("members"),
        json.JSONDecodeError("bad", "x", 0),
        ConnectionResetError("cut"),
        Interrupted("interrupted by SIGTERM"),
        raised_in("/usr/lib/python3/paramiko/transport.py", AssertionError("library")),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("when", ["setup", "call"])
def test_anything_else_is_unknown(when: str, error: BaseException) -> None:
    assert decide(course(**{when: error}))[0] is Verdict.UNKNOWN


def test_an_assertion_in_set_up_is_not_the_gates_judgement() -> None:
    assert decide(course(setup=judged("not a judgement")))[0] is Verdict.UNKNOWN


def test_a_bare_skip_is_never_a_verdict() -> None:
    verdict, summary = decide(course(call=pytest.skip.Exception("later")))
    assert verdict is Verdict.UNKNOWN
    assert "skipped without a verdict" in summary


def test_a_teardown_error_makes_green_unknown_and_keeps_red() -> None:
    green = course(teardown=RuntimeError("undo failed"))
    green.called = True
    assert decide(green)[0] is Verdict.UNKNOWN
    assert "undo failed" in decide(green)[1]
    red = course(call=judged("two holders"), teardown=RuntimeError("undo failed"))
    verdict, summary = decide(red)
    assert verdict is Verdict.FAIL
    assert "two holders" in summary
    assert "undo failed" in summary


@pytest.mark.parametrize("verdict", [Verdict.BLOCKED, Verdict.UNAUTHORIZED])
def test_a_gate_that_was_not_admitted_keeps_its_reason(verdict: Verdict) -> None:
    made = course(setup=pytest.skip.Exception("x"))
    made.not_run = NotRun(verdict, "needs B.1 (FAIL)")
    assert decide(made) == (verdict, "needs B.1 (FAIL)")
    made.raised["teardown"] = RuntimeError("broken")
    assert decide(made)[0] is Verdict.UNKNOWN


def test_a_gate_never_called_is_unknown() -> None:
    made = course()
    made.called = False
    assert decide(made)[0] is Verdict.UNKNOWN


def test_a_defect_names_itself_and_its_place() -> None:
    try:
        lookup("no such gate")
    except KeyError as error:
        said = message(error)
    assert "defect" in said
    assert "fixtures/gates/__init__.py:" in said
    assert "KeyError" in said


def test_summaries_are_one_short_line() -> None:
    said = sentence(Undecided("a\nb " + "x" * 1000))
    assert "\n" not in said
    assert len(said) <= 400


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([], 1),
        ([Verdict.PASS], 0),
        ([Verdict.PASS, Verdict.ATTESTED, Verdict.DEFERRED], 0),
        ([Verdict.PASS, None], 1),
        *(
            ([Verdict.PASS, each], 1)
            for each in (Verdict.FAIL, Verdict.UNKNOWN, Verdict.BLOCKED, Verdict.UNAUTHORIZED)
        ),
    ],
)
def test_exit_status(verdicts: list[Verdict | None], status: int) -> None:
    assert exit_status(verdicts) == status


def test_a_key_in_what_a_host_printed_is_not_taken_apart_before_it_is_recognised() -> None:
    rows = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "AgEAAoIBAQC7bV3xqkAgEAAoIBAQC7bV3xqk"]
    printed = "\n".join(["-----BEGIN PRIVATE KEY-----", *rows * 40, "-----END PRIVATE KEY-----"])
    asked = course(call=Undecided(f"rke-cp01: cannot be read, seen `{printed}`"))
    asked.answers = [
        Output(HostCommand("rke-cp01", "id", 1.0), 1, b"", printed.encode(), asked.started, 0.1)
    ]

    verdict, summary = decide(asked)
    for said in (redact(summary), redact(explain(asked, verdict, "cannot be read"))):
        assert not [row for row in rows if row in said]


def test_a_run_under_nohup_outlives_its_terminal() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interruptions = Interruptions(lambda _: None)
    try:
        interruptions.install()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        interruptions.restore()
        signal.signal(signal.SIGHUP, before)
