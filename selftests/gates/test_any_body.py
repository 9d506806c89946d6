"""Whatever the API answers of nodes, pods, Leases or CiliumNodes, a gate gives a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.core.requests import KubeGet
from fixtures.gates import Each, Gate, phase_d, phase_d2
from selftests.gates.deciding import decide, observations_used
from selftests.gates.joined import WORKERS, joined
from selftests.gates.world import AT, Reply
from selftests.observe.damage import VALUES, places, replaced

GATES = [*phase_d.GATES, *phase_d2.GATES]
each_gate = pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.id)


def worker_of(gate: Gate) -> str:
    return WORKERS[0] if gate.each is Each.WORKER else ""


@each_gate
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_gate_says_something_of_any_object(gate: Gate, data: st.DataObject) -> None:
    world = joined()
    assert decide(world, gate.id, worker_of(gate)).verdict == "PASS"
    paths = sorted({each.path for each in world.sent if isinstance(each, KubeGet)})
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    _, document = world.document(path, AT)
    place = data.draw(st.sampled_from(places(document)))
    value: Any = data.draw(VALUES)
    world.bodies = {path: Reply(json.dumps(replaced(document, place, value)))}
    decided = decide(world, gate.id, worker_of(gate))
    assert decided.verdict in {"PASS", "FAIL", "UNKNOWN"}
    assert decided.text.isprintable()


@each_gate
def test_a_gate_asks_what_its_row_says(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    used = observations_used(joined(), gate.id, worker_of(gate), monkeypatch)
    assert used == set(gate.asks)
