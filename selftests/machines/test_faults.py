"""Faults and what is expected of the suite under each."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, of_phase
from machines import dirs, faults, lab, plan
from machines.errors import LabError
from machines.expectation import EVERY, Expectation
from machines.expectations import BEFORE_B, EXPECTATIONS, HEALTHY, ROUTED, STATED, planned
from machines.fault import Fault
from machines.faults import FAULTS
from machines.pki import Pair

if TYPE_CHECKING:
    from pathlib import Path


def _fault(done: list[str], *, fails: bool = False) -> Fault:
    def inject() -> None:
        done.append("broken")
        if fails:
            raise LabError("half way")

    return Fault("sample", "for the tests", inject, done.append, lambda: "before")


@pytest.fixture
def up(state: Path) -> None:
    """A lab that counts as up at phase c."""
    dirs.make_private(state)
    lab.Facts(plan.Phase.C, "layers", Pair("certificate", "key")).save()


def test_names_are_unique_and_every_fault_has_an_expectation() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names))
    assert set(names) == set(EXPECTATIONS)


def test_every_expectation_names_what_is_not_green() -> None:
    for name, expectations in EXPECTATIONS.items():
        for expectation in expectations:
            green = {"PASS", "ATTESTED"}
            red = [gate for gate, allowed in expectation.gates.items() if not green & allowed]
            # Where tools are missing, others tell the same.
            assert bool(red or expectation.says) is (name != "tools-missing")
            assert (0 in expectation.statuses) is (name == "tools-missing")
            assert all(not green & seen or seen <= green for seen in expectation.gates.values())


def test_what_is_stated_is_what_the_runs_state() -> None:
    arguments = (*HEALTHY.selection, *ROUTED, *planned("ab" * 32).selection)
    stated = [each.split("=")[1] for each in arguments if each.startswith("--attest=")]
    assert sorted(stated) == sorted(STATED)


@pytest.mark.usefixtures("up")
def test_a_fault_is_in_force_until_mended_with_what_was_remembered() -> None:
    done: list[str] = []
    fault = _fault(done)
    assert not fault.active
    fault.break_()
    assert fault.active
    with pytest.raises(LabError, match="mend sample"):
        fault.break_()
    fault.mend()
    fault.mend()
    assert done == ["broken", "before"]


@pytest.mark.usefixtures("up")
def test_a_fault_that_broke_half_way_can_be_mended() -> None:
    done: list[str] = []
    fault = _fault(done, fails=True)
    with pytest.raises(LabError, match="half way"):
        fault.break_()
    fault.mend()
    assert done == ["broken", "before"]


def test_nothing_is_broken_without_a_lab() -> None:
    done: list[str] = []
    with pytest.raises(LabError, match="not up"):
        _fault(done).break_()
    assert done == []


def test_nothing_is_broken_before_phase_c(state: Path) -> None:
    dirs.make_private(state)
    lab.Facts(plan.Phase.B, "layers", Pair("certificate", "key")).save()
    with pytest.raises(LabError, match="--phase c"):
        _fault([]).break_()


@pytest.mark.usefixtures("up")
def test_a_fault_of_workers_needs_workers() -> None:
    done: list[str] = []
    fault = dataclasses.replace(_fault(done), phase=plan.Phase.D)
    with pytest.raises(LabError, match="--phase d"):
        fault.break_()
    dataclasses.replace(lab.Facts.load(), phase=plan.Phase.D).save()
    fault.break_()
    assert done == ["broken"]


def test_an_unknown_fault_is_answered_with_the_known_ones() -> None:
    with pytest.raises(LabError, match="keepalived-killed"):
        faults.find("nonsense")


_SAMPLE = Expectation(
    "sample",
    ("-m", "gate_c"),
    {"C.3": frozenset({"FAIL"}), "C.1": frozenset({"FAIL", "UNKNOWN"})},
    says=("SHA256:",),
)
_GOOD = {"C.1": "UNKNOWN", "C.3[rke-cp01]": "FAIL", "C.3[rke-cp02]": "FAIL", "C.4": "PASS"}


def test_an_expectation_met_has_no_complaint() -> None:
    assert _SAMPLE.complaints(1, _GOOD, "key SHA256:abc") == []


@pytest.mark.parametrize(
    ("status", "verdicts", "output", "complaint"),
    [
        (0, _GOOD, "SHA256:", "exit 0"),
        (1, {**_GOOD, "C.3[rke-cp02]": "PASS"}, "SHA256:", r"C\.3\[rke-cp02\] is PASS"),
        (1, {"C.1": "FAIL"}, "SHA256:", r"C\.3 has no verdict"),
        (1, _GOOD, "", "nothing says"),
        (1, _GOOD, "SHA256: Traceback (most recent call last):", "traceback"),
    ],
)
def test_whatever_is_not_as_expected_is_said(
    status: int, verdicts: dict[str, str], output: str, complaint: str
) -> None:
    found = _SAMPLE.complaints(status, verdicts, output)
    assert len(found) == 1
    with pytest.raises(AssertionError, match=complaint):
        raise AssertionError(found[0])


def test_a_phase_can_be_meant() -> None:
    expectation = Expectation("all", ("-m", "gate_b"), {"B": frozenset({"PASS"})})
    seen = {"B.1": "PASS", "B.2": "FAIL", "C.1": "FAIL"}
    assert expectation.complaints(1, seen, "") == ["B.2 is FAIL, expected PASS"]


def test_what_is_healthy_leaves_no_gate_of_phase_0_out() -> None:
    for expectation in (BEFORE_B, HEALTHY):
        ids = {gate.id for gate in of_phase(Phase.ZERO)}
        assert ids == {gate for gate in expectation.gates if gate.startswith("0.")}
        assert expectation.statuses == {0}


def test_every_gate_can_be_meant() -> None:
    expectation = Expectation("all", ("-m", "gate_b"), {EVERY: frozenset({"UNKNOWN"})})
    assert expectation.complaints(1, {"B.1": "UNKNOWN", "B.2": "UNKNOWN"}, "") == []
    assert expectation.complaints(1, {"B.1": "UNKNOWN", "B.2": "PASS"}, "") == [
        "B.2 is PASS, expected UNKNOWN"
    ]
