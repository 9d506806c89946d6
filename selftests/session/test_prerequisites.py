"""Prerequisites: the table's barriers, per node and for the cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fixtures import gates
from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Verdict
from fixtures.session.deviating import out_of_order
from fixtures.session.prerequisites import in_short, keys, missing, names_needed
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
B = ["B.1", "B.2", "B.3", "B.4", "B.5", "B.6", "B.7", "B.8"]


def test_the_first_phase_needs_nothing() -> None:
    for gate in gates.of_phase(gates.Phase.ZERO):
        assert names_needed(gate, None, CLUSTER) == []


def test_phase_b_needs_what_it_is_built_from() -> None:
    for gate in gates.of_phase(gates.Phase.B):
        assert names_needed(gate, None, CLUSTER) == ["0.2", "0.4", "0.5", "0.7", "0.9"]


def test_a_phase_needs_every_gate_of_the_one_before() -> None:
    assert names_needed(gates.lookup("C.1"), None, CLUSTER) == B
    assert names_needed(gates.lookup("C.3"), CLUSTER.nodes[1], CLUSTER) == B


def test_argo_cd_stands_on_the_full_validation_and_not_on_ceph() -> None:
    needed = names_needed(gates.lookup("G.1"), None, CLUSTER)
    assert needed == [gate.id for gate in gates.of_phase(gates.Phase.D2)]


def test_argo_cd_before_ceph_is_said_to_be_a_deviation() -> None:
    everything = {key: Verdict.PASS for gate in gates.GATES for key in keys(gate, CLUSTER)}
    assert out_of_order(gates.Phase.G, CLUSTER, everything) == ""
    assert out_of_order(gates.Phase.F, CLUSTER, {}) == ""
    without = {key: verdict for key, verdict in everything.items() if key != "F2.class"}
    assert out_of_order(gates.Phase.G, CLUSTER, without).startswith("phase G is decided before F,")
    failed = everything | {"F1.ping": Verdict.FAIL, "W-2": Verdict.UNAUTHORIZED}
    assert "before W and F," in out_of_order(gates.Phase.G, CLUSTER, failed)
    assert "before W and F," in out_of_order(gates.Phase.G, CLUSTER, {})
    # What must be true just now is never carried, so that it can be missing in any later run.
    passing = {key: verdict for key, verdict in everything.items() if key != "F2.bound"}
    assert out_of_order(gates.Phase.G, CLUSTER, passing) == ""


def test_a_cluster_gate_needs_a_per_node_gate_on_every_inventory_node() -> None:
    needed = names_needed(gates.lookup("C.5"), None, CLUSTER)
    assert needed[len(B) :] == [
        "C.1",
        "C.2",
        "C.3[rke-cp01]",
        "C.3[rke-cp02]",
        "C.3[rke-cp03]",
        "C.4",
    ]


def test_an_edge_between_per_node_gates_stays_on_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    later = replace(gates.lookup("C.3"), id="C.9", after=("C.3",))
    monkeypatch.setitem(gates._BY_ID, "C.9", later)
    assert names_needed(later, CLUSTER.nodes[1], CLUSTER)[len(B) :] == ["C.3[rke-cp02]"]


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize(
    ("gate", "more"),
    [("B.1", set()), ("0.3", {Verdict.ATTESTED}), ("G.9", {Verdict.DEFERRED, Verdict.ATTESTED})],
)
def test_pass_satisfies_and_so_does_what_the_gate_can_be_besides(
    gate: str, more: set[Verdict], verdict: Verdict
) -> None:
    said = missing([gate], {gate: verdict})
    assert said == ([] if verdict in {Verdict.PASS, *more} else [f"{gate} ({verdict})"])


def test_a_gate_nobody_asked_about_is_missing() -> None:
    assert missing(["B.1", "B.2"], {"B.2": Verdict.PASS}) == ["B.1 (no verdict)"]


def test_what_many_nodes_lack_is_told_in_short() -> None:
    names = [f"D.1[w{number}]" for number in range(1, 105)]
    standing = {"D.1[w2]": Verdict.FAIL}
    assert in_short(missing(["E.0", *names, "D.2"], standing)) == (
        "E.0 (no verdict), D.1[w1] (no verdict), D.1[w3] (no verdict), D.1[w4] (no verdict) and "
        "100 more of D.1 (no verdict), D.1[w2] (FAIL), D.2 (no verdict)"
    )
    assert in_short(missing(names[:3], {})).count("no verdict") == 3
    assert in_short([]) == ""


def test_ids_are_unique_and_edges_lead_backwards() -> None:
    ids = [gate.id for gate in gates.GATES]
    assert len(set(ids)) == len(ids)
    for place, gate in enumerate(gates.GATES):
        assert all(ids.index(needed.id) < place for needed in gates.needs(gate))


def test_the_table_is_in_the_runbooks_order() -> None:
    positions = [gate.phase.position for gate in gates.GATES]
    assert positions == sorted(positions)
    order = [phase.value for phase in gates.Phase]
    assert order == ["0", "B", "C", "F6", "E", "D", "D2", "W", "F", "G"]


def folder_of(phase: gates.Phase) -> str:
    """The folder under tests/: the first phases have one letter only."""
    name = phase.value.lower()
    return f"phase_{name}" if phase in {gates.Phase.ZERO, gates.Phase.B, gates.Phase.C} else name


def test_every_gate_has_a_test_file_of_its_phase() -> None:
    for gate in gates.GATES:
        folder = ROOT / "tests" / folder_of(gate.phase)
        source = "".join(path.read_text() for path in Path(folder).glob("test_*.py"))
        assert f'@gate("{gate.id}")' in source
