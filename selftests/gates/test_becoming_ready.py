"""D.5 and D2.nodes: what is waited for, and what must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.waits import eventually
from fixtures.judge.readiness import Staying
from fixtures.judge.waiting import clears, readiness
from fixtures.observe.vitals import Vitals
from selftests.gates.deciding import Time, decide
from selftests.gates.joined import (
    LIST_NODES,
    LONG_AGO,
    Joined,
    at,
    joined,
)
from selftests.gates.world import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.core.inventory import Node
    from fixtures.judge.findings import Findings
    from fixtures.observe.vitals import Sign

WORKER = "rke-platform01"
GATES = [("D.5", WORKER), ("D2.nodes", "")]
both = pytest.mark.parametrize(("gate", "node"), GATES, ids=["D.5", "D2.nodes"])


@both
def test_what_is_not_ready_at_first_is_waited_for(gate: str, node: str) -> None:
    """Ready after nine minutes, every answer takes two seconds."""
    world = joined()
    world.slow = 2.0
    becomes_ready(world, 540)
    decided = decide(world, gate, node)
    assert decided.verdict == "PASS", decided.text
    assert 600 <= decided.waited <= 620


@both
def test_what_never_becomes_ready_fails_at_the_limit(gate: str, node: str) -> None:
    world = joined()
    world.ready(WORKER, "False", at(-3600))
    decided = decide(world, gate, node)
    assert decided.verdict == "FAIL"
    assert decided.waited == 600
    text = decided.text[:400]
    assert f"{WORKER} is not Ready since 2026-11-30T11:00:00Z: False, Why (because)" in text
    assert "next: its Cilium agent, `kubectl" in text
    assert "last of 61 looks (limit 600 s)" in text


@both
@pytest.mark.parametrize(("when", "verdict", "waited"), [(599, "PASS", 660), (605, "FAIL", 600)])
def test_what_comes_at_the_last_moment_is_watched_beyond_the_limit(
    gate: str, node: str, when: float, verdict: str, waited: float
) -> None:
    world = joined()
    becomes_ready(world, when)
    decided = decide(world, gate, node)
    assert (decided.verdict, decided.waited) == (verdict, waited), decided.text


def used_up(world: Joined, sign: Callable[[Node], Sign]) -> Findings:
    """D.5 when the gates before it have waited as long as all of them may."""
    time = Time()
    world.clock = lambda: time.now

    def wait(*args: Any, shared: str, within: float, **rest: Any) -> Any:
        within = 0.0 if shared else within
        return eventually(*args, within=within, clock=world.clock, sleep=time.sleep, **rest)

    node, limits = world.cluster.node(WORKER), world.cluster.limits
    staying = Staying(limits)
    return clears(lambda: staying([sign(node)]), wait, readiness(limits), "it is Ready")


def test_a_limit_that_others_used_up_takes_no_watch_from_a_young_ready() -> None:
    world = joined()
    world.ready(WORKER, "True", at(-3))
    assert used_up(world, Vitals(world.cluster, world).of_one.polling()) == ()


def test_a_limit_that_others_used_up_makes_no_old_answer_count() -> None:
    world = joined()
    vitals = Vitals(world.cluster, world)
    world.ready(WORKER, "False")
    vitals.of_one(world.cluster.node(WORKER))
    world.ready(WORKER)
    assert used_up(world, vitals.of_one.polling()) == ()
    world.ready(WORKER, "False")
    world.forget()
    found = used_up(world, vitals.of_one.polling())
    assert found[-1] == "so at the last of 2 looks (limit 600 s)"


@both
def test_what_flaps_fails(gate: str, node: str) -> None:
    world = joined()

    def flap(world: Joined, now: float) -> None:
        up = int(now // 3) % 2 == 0
        world.ready(WORKER, "True" if up else "False", at(now // 3 * 3))

    world.happens = flap
    decided = decide(world, gate, node)
    assert decided.verdict == "FAIL"
    assert "it flaps: Ready was lost" in decided.text[:400]


@both
def test_what_flaps_between_the_looks_fails(gate: str, node: str) -> None:
    """Ready at each look, but never the same Ready."""
    world = joined()
    world.happens = lambda world, now: world.ready(WORKER, "True", at(now - 3))
    decided = decide(world, gate, node)
    assert decided.verdict == "FAIL"
    assert f"{WORKER} is Ready only since" in decided.text


@both
@pytest.mark.parametrize("since", [-30, None, 3600])
def test_a_young_ready_is_watched_until_it_has_held(
    gate: str, node: str, since: float | None
) -> None:
    """Also one that has no time, or one in the future: the clock was set back since."""
    world = joined()
    world.ready(WORKER, "True", None if since is None else at(since))
    decided = decide(world, gate, node)
    assert decided.verdict == "PASS", decided.text
    assert decided.waited == (40 if since == -30 else 60)


@both
def test_a_short_silence_in_the_middle_of_a_wait_is_forgiven(gate: str, node: str) -> None:
    world = joined()
    becomes_ready(world, 100)
    ready = world.happens

    def silence(world: Joined, now: float) -> None:
        ready(world, now)
        quiet = Reply(silent="no answer within 20 s")
        body = {LIST_NODES: quiet, f"{LIST_NODES}/{WORKER}": quiet}
        world.bodies = body if 40 <= now < 80 else {}

    world.happens = silence
    assert decide(world, gate, node).verdict == "PASS"


@both
def test_silence_at_the_end_of_a_wait_is_unknown(gate: str, node: str) -> None:
    world = joined()
    world.ready(WORKER, "False")

    def silence(world: Joined, now: float) -> None:
        quiet = Reply(silent="the VIP does not answer within 20 s")
        world.bodies = {LIST_NODES: quiet, f"{LIST_NODES}/{WORKER}": quiet} if now > 590 else {}

    world.happens = silence
    decided = decide(world, gate, node)
    assert decided.verdict == "UNKNOWN"
    assert "the VIP does not answer within 20 s; so at the last of 61 looks" in decided.text


def becomes_ready(world: Joined, when: float) -> None:
    def happens(world: Joined, now: float) -> None:
        ready = now >= when
        world.ready(WORKER, "True" if ready else "False", at(when) if ready else LONG_AGO)

    world.happens = happens
