"""Runs a gate's own body against a world and says what came of it."""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from fixtures.core.verdicts import Undecided
from fixtures.core.waits import eventually
from fixtures.gates import lookup
from fixtures.observe.base import BoundObservation
from fixtures.session.batch import NOUNS
from selftests.gates.world import ROOT, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pytest

    from fixtures.core.verdicts import Verdict
    from selftests.gates.world import World

FILES = (
    "phase_b/test_gates.py",
    "phase_c/test_gates.py",
    "phase_c/test_drills.py",
    "e/test_gates.py",
    "d/test_gates.py",
    "d2/test_gates.py",
)


@dataclass
class Decided:
    verdict: str
    text: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    waited: float = 0.0


@cache
def bodies() -> dict[str, Callable[..., None]]:
    """Each gate's test function, by gate id."""
    found: dict[str, Callable[..., None]] = {}
    for number, file in enumerate(FILES):
        spec = importlib.util.spec_from_file_location(
            f"gate_bodies_{number}", ROOT / "tests" / file
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, function in vars(module).items():
            if name.startswith("test_"):
                (marker,) = [each for each in function.pytestmark if each.name == "gate"]
                assert marker.args[0] not in found
                found[marker.args[0]] = function
    return found


class Time:
    """A clock that only pauses move."""

    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def decide(
    world: World,
    gate: str,
    node: str = "",
    before: frozenset[str] = frozenset(),
    standing: Mapping[str, Verdict] | None = None,
) -> Decided:
    """PASS, FAIL or UNKNOWN, as the session decides it; any other error is raised."""
    world.forget()
    time, facts = Time(), dict[str, Any]()
    world.clock = lambda: time.now

    def wait(*args: Any, shared: str = "", **limits: Any) -> Any:
        del shared
        return eventually(*args, clock=world.clock, sleep=time.sleep, **limits)

    given = {
        "cluster": world.cluster,
        "wait": wait,
        "record": facts.__setitem__,
        "applied_before": before,
        "standing": standing or {},
        "statement": nobody_states_it,
        **{noun: observer(world.cluster, world) for noun, observer in NOUNS.items()},
    }
    if node:
        given["node"] = world.cluster.node(node)
    body = bodies()[gate]
    try:
        body(**{name: given[name] for name in inspect.signature(body).parameters})
    except AssertionError as error:
        return Decided("FAIL", str(error), facts, time.now)
    except Undecided as error:
        return Decided("UNKNOWN", str(error), facts, time.now)
    return Decided("PASS", lookup(gate).title, facts, time.now)


def nobody_states_it() -> None:
    raise Undecided("nobody has stated it")


def observations_used(
    world: World, gate: str, node: str, monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    """The `noun.observation` names a gate's body really asks."""
    nouns = {observer: noun for noun, observer in NOUNS.items()}
    used: set[str] = set()
    call = BoundObservation.__call__

    def noting(self: BoundObservation[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        used.add(f"{nouns[type(self.observer)]}.{self.observation.read.__name__}")
        return call(self, *args, **kwargs)

    monkeypatch.setattr(BoundObservation, "__call__", noting)
    decide(world, gate, node)
    return used


def verdict_of(judge: Callable[[], Sequence[str]]) -> str:
    """PASS, FAIL or UNKNOWN: what a judgement alone comes to."""
    try:
        found = judge()
    except Undecided:
        return "UNKNOWN"
    assert all(text.isprintable() for text in found)
    return "FAIL" if found else "PASS"
