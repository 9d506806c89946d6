"""Phase E as a whole: it holds when all is well, asks what its rows say, and survives anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.core.requests import KubeExec, KubeGet
from fixtures.core.verdicts import Verdict
from fixtures.gates import Gate, phase_e
from selftests.gates.deciding import decide, observations_used
from selftests.gates.installed import LIST, OPS, STATUS, Installed, installed, release, status
from selftests.gates.world import AT, Reply
from selftests.observe.damage import VALUES, places, replaced

BEFORE = {"F6-2R": Verdict.PASS}
each_gate = pytest.mark.parametrize("gate", phase_e.GATES, ids=lambda gate: gate.id)
COMMANDS = {
    "E.2": (STATUS, status()),
    "E.7": (LIST, [release()]),
}


@each_gate
def test_it_holds_when_all_is_well(gate: Gate) -> None:
    decided = decide(installed(), gate.id, standing=BEFORE)
    assert decided.verdict == "PASS", decided.text
    assert decided.waited == 0.0
    assert decided.facts
    json.dumps(decided.facts)


@each_gate
def test_a_gate_asks_what_its_row_says(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    assert observations_used(installed(), gate.id, "", monkeypatch) == set(gate.asks)


@each_gate
@pytest.mark.parametrize(
    "reply",
    [
        Reply(rc=403, stdout='{"kind": "Status", "message": "forbidden"}'),
        Reply(rc=500, stdout="oops"),
        Reply(silent="GET …: no answer within 20 s"),
        Reply("[]"),
        Reply('{"kind": "Status"}'),
        Reply('{"kind": "List", "items": [1]}'),
        Reply(raw=b"\xff"),
    ],
)
def test_what_the_api_does_not_answer_is_unknown(gate: Gate, reply: Reply) -> None:
    world = installed()
    decide(world, gate.id, standing=BEFORE)
    for path in {each.path for each in world.sent if isinstance(each, KubeGet)}:
        world = installed()
        world.bodies = {path: reply}
        decided = decide(world, gate.id, standing=BEFORE)
        assert decided.verdict == "UNKNOWN", (path, decided.text)


def any_answer(world: Installed, gate: Gate, data: st.DataObject) -> None:
    """Replaces one value in one of the answers that the gate stands on."""
    asked = sorted({each.path for each in world.sent if isinstance(each, KubeGet)})
    asked += sorted({each.pod for each in world.sent if isinstance(each, KubeExec)})
    asked += [gate.id] if gate.id in COMMANDS else []
    chosen = data.draw(st.sampled_from(asked))
    if chosen in COMMANDS:
        document = COMMANDS[chosen][1]
    elif chosen in world.views:
        document = world.views[chosen]
    else:
        document = world.document(chosen, AT)[1]
    place = data.draw(st.sampled_from(places(document)))
    value: Any = data.draw(VALUES)
    text = json.dumps(replaced(document, place, value))
    if chosen in COMMANDS:
        world.say(OPS, COMMANDS[chosen][0], Reply(text))
    elif chosen in world.views:
        world.ends = {chosen: Reply(text)}
    else:
        world.bodies = {chosen: Reply(text)}


@each_gate
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_gate_says_something_of_any_answer(gate: Gate, data: st.DataObject) -> None:
    world = installed()
    assert decide(world, gate.id, standing=BEFORE).verdict == "PASS"
    any_answer(world, gate, data)
    decided = decide(world, gate.id, standing=BEFORE)
    assert decided.verdict in {"PASS", "FAIL", "UNKNOWN"}
    assert decided.text.isprintable()
    json.dumps(decided.facts)
