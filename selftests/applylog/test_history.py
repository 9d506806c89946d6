from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import gates
from fixtures.applylog import history
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import Kind
from fixtures.core.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    Decide = Callable[..., None]

IDENTITY = "ab" * 32
OTHER = "cd" * 32
NODES = {"control-plane": ["rke-cp01", "rke-cp02"]}


def verdicts(ledger: Ledger, identity: str | None = IDENTITY) -> dict[str, Verdict]:
    found = history.latest(ledger.lines(), identity)
    return {key: record.verdict for key, record in found.items()}


def bind(ledger: Ledger, identity: str = IDENTITY, **more: str) -> None:
    ledger.append(Kind.IDENTITY, identity=identity, **more)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_supersedes_an_earlier_pass(ledger: Ledger, decide: Decide, verdict: Verdict) -> None:
    bind(ledger)
    decide("C.1")
    decide("C.1", verdict)

    silent = {Verdict.BLOCKED, Verdict.UNAUTHORIZED}
    assert verdicts(ledger) == {"C.1": Verdict.PASS if verdict in silent else verdict}


@pytest.mark.parametrize("verdict", [Verdict.BLOCKED, Verdict.UNAUTHORIZED])
def test_a_gate_that_did_not_run_has_no_record(
    ledger: Ledger, decide: Decide, verdict: Verdict
) -> None:
    bind(ledger)
    decide("C.1", verdict)

    assert verdicts(ledger) == {}


def test_records_are_kept_per_node(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    decide("C.3[rke-cp01]")
    decide("C.3[rke-cp02]", Verdict.FAIL)

    assert verdicts(ledger) == {"C.3[rke-cp01]": Verdict.PASS, "C.3[rke-cp02]": Verdict.FAIL}


def test_records_of_no_cluster_count_while_there_is_none(ledger: Ledger, decide: Decide) -> None:
    decide("0.4", identity=None)

    assert verdicts(ledger, None) == {"0.4": Verdict.PASS}


def test_the_first_identity_binds_earlier_records(ledger: Ledger, decide: Decide) -> None:
    decide("0.4", identity=None)
    bind(ledger)

    assert verdicts(ledger) == {"0.4": Verdict.PASS}
    assert verdicts(ledger, OTHER) == {}
    assert history.last_identity(ledger.lines()) == IDENTITY


def test_nothing_counts_for_a_cluster_that_cannot_be_identified(
    ledger: Ledger, decide: Decide
) -> None:
    bind(ledger)
    decide("B.1")

    assert verdicts(ledger, None) == {}
    assert verdicts(ledger, IDENTITY) == {"B.1": Verdict.PASS}


def test_another_identity_voids_what_was_recorded_before(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    decide("B.1", applied=["rke-cp01"])
    bind(ledger, OTHER)
    decide("B.2", identity=OTHER)

    assert verdicts(ledger, OTHER) == {"B.2": Verdict.PASS}
    assert set(history.read(ledger.lines()).void) == {"B.1"}
    assert history.applied(ledger.lines(), OTHER) == frozenset()


def test_an_identity_that_comes_back_does_not_bring_records_back(
    ledger: Ledger, decide: Decide
) -> None:
    bind(ledger)
    decide("B.1")
    bind(ledger, OTHER)
    bind(ledger)

    assert verdicts(ledger) == {}


def test_only_the_restore_drill_changes_identity_without_voiding(
    ledger: Ledger, decide: Decide
) -> None:
    bind(ledger)
    decide("B.1")
    bind(ledger, OTHER, drill="F6-3")

    assert verdicts(ledger, OTHER) == {"B.1": Verdict.PASS}


def test_the_reset_of_a_restore_voids_what_was_recorded_before(
    ledger: Ledger, decide: Decide
) -> None:
    bind(ledger)
    decide("C.1", Verdict.PASS)
    ledger.append(Kind.STEP, gate="F6-3", step="reset", state="sending", stales=True)
    assert verdicts(ledger) == {}
    decide("F6-3", Verdict.PASS)
    assert verdicts(ledger) == {"F6-3": Verdict.PASS}
    ledger.append(Kind.STEP, gate="C.6", step="stop rke2-server", state="sending")
    assert verdicts(ledger) == {"F6-3": Verdict.PASS}


def test_a_latch_that_was_set_voids_its_own_gate(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    decide("G.3")
    decide("G.4")
    both = {"G.3": Verdict.PASS, "G.4": Verdict.PASS}
    ledger.append(Kind.LATCH, gate="G.4", state="set", identity=OTHER, voids=True)
    ledger.append(Kind.LATCH, gate="G.4", state="released", identity=IDENTITY)
    assert verdicts(ledger) == both
    ledger.append(Kind.LATCH, gate="G.4", state="set", identity=IDENTITY, voids=True)
    assert verdicts(ledger) == {"G.3": Verdict.PASS}
    decide("G.4")
    assert verdicts(ledger) == both
    # Whatever cluster it was, a plaintext was seen.
    ledger.append(Kind.LATCH, gate="G.4", state="set", identity=None, voids=True)
    assert verdicts(ledger) == {"G.3": Verdict.PASS}


def test_what_was_decided_without_identity_can_only_make_things_worse(
    ledger: Ledger, decide: Decide
) -> None:
    bind(ledger)
    decide("B.1")
    decide("B.2")
    decide("B.1", Verdict.UNKNOWN, identity=None)
    decide("B.2", Verdict.PASS, identity=None)
    decide("B.3", Verdict.PASS, identity=None)

    assert verdicts(ledger) == {"B.1": Verdict.UNKNOWN, "B.2": Verdict.PASS}


def test_a_record_of_another_cluster_speaks_of_none(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    decide("B.1", identity=OTHER)

    assert verdicts(ledger) == {}


def test_applied_control_planes_never_shrink(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    decide("B.5", applied=["rke-cp01", "rke-cp02"])
    decide("B.5", Verdict.FAIL, applied=["rke-cp01"])
    decide("B.6", applied="rke-cp03")

    assert history.applied(ledger.lines(), IDENTITY) == {"rke-cp01", "rke-cp02"}
    assert history.applied(ledger.lines(), None) == frozenset()


def test_a_run_without_an_end_is_unfinished(tmp_path: object, ledger: Ledger) -> None:
    ledger.append(Kind.RUN_START)
    other = Ledger.open(ledger.folder.parent, "lab", run="two")
    other.append(Kind.RUN_START)
    ledger.append(Kind.STEP)
    other.append(Kind.RUN_END)

    assert [run.id for run in history.runs(ledger.lines())] == ["one", "two"]
    assert [run.id for run in history.unfinished(ledger.lines())] == ["one"]


def test_a_per_node_gate_holds_only_on_every_node(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    decide("C.3[rke-cp01]")
    gate = gates.lookup("C.3")
    assert not history.satisfied(gate, history.latest(ledger.lines(), IDENTITY), NODES)
    assert not history.satisfied(gate, history.latest(ledger.lines(), IDENTITY), {})

    decide("C.3[rke-cp02]")
    assert history.satisfied(gate, history.latest(ledger.lines(), IDENTITY), NODES)


def test_a_phase_has_passed_when_each_of_its_gates_holds(ledger: Ledger, decide: Decide) -> None:
    bind(ledger)
    for gate in gates.of_phase(gates.Phase.B):
        assert not history.passed(gates.Phase.B, history.latest(ledger.lines(), IDENTITY), NODES)
        decide(gate.id)

    found = history.latest(ledger.lines(), IDENTITY)
    assert history.passed(gates.Phase.B, found, NODES)
    assert not history.passed(gates.Phase.W, found, NODES)


def test_a_gates_line_that_names_no_gate_is_passed_over(ledger: Ledger) -> None:
    ledger.append(Kind.GATE, verdict="PASS")

    assert verdicts(ledger) == {}
