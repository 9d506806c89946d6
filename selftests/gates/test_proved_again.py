"""No server is stopped on an old proof: it is made again, and the log says so."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.requests import ApiGet, HostCommand
from fixtures.core.verdicts import Undecided
from fixtures.drills import quorum
from fixtures.drills.authorization import Authorization
from fixtures.drills.draft import Asked, PaperAsker
from fixtures.drills.flags import Flags
from fixtures.drills.memory import Memory
from fixtures.drills.paper import Paper
from fixtures.drills.scene import Scene
from fixtures.observe.api import Api
from fixtures.observe.etcd import Etcd
from selftests.gates.world import healthy, wetopi

if TYPE_CHECKING:
    from selftests.gates.world import World

LIMIT = 300.0
TITLE = "prove quorum and API (P1) again"


class Stage:
    """A scene in a world of answers, and its log."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.memory = Memory()
        self.steps: list[tuple[str, str, str]] = []
        assert world.cluster.limits.p1_max_age == LIMIT
        self.scene = Scene(
            cluster=world.cluster,
            run="r",
            gate="F6-2",
            asker=world,
            forget=world.forget,
            flags=Flags(world.cluster, world, {}),
            authorization=Authorization(
                "ada", frozenset({"F6-2"}), datetime.now(UTC), 60.0, "", "ada@desk"
            ),
            log=self._log,
            pending=lambda: None,
            say=lambda _text: None,
            deviate=lambda _why: None,
            note=lambda _text: None,
        )

    def _log(self, what: str, /, **fields: Any) -> bool:
        self.steps.append((what, fields["state"], fields["why"]))
        return True

    def proved(self, seconds: float | None) -> None:
        """P1 passed so long ago."""
        self.memory.quorum = None if seconds is None else time.monotonic() - seconds

    def look(self) -> None:
        quorum.still_proved(self.scene, self.memory)

    @property
    def asked(self) -> list[str]:
        """The hosts whose member list was asked for, and the API."""
        return [
            "API" if isinstance(each, ApiGet) else each.host
            for each in self.world.sent
            if not isinstance(each, HostCommand) or "member list" in each.command
        ]


@pytest.fixture
def stage() -> Stage:
    return Stage(healthy())


EVERYBODY = ["rke-cp01", "rke-cp02", "rke-cp03", "API"]


def test_p1_remembers_when_it_asked(stage: Stage) -> None:
    cluster = wetopi()
    etcd, api = Etcd(cluster, stage.world), Api(cluster, stage.world)
    etcd.membership()
    before = time.monotonic()
    quorum.prove(etcd, api, stage.memory)
    assert stage.memory.quorum is not None
    assert before <= stage.memory.quorum <= time.monotonic()
    assert sorted(stage.asked) == sorted([*EVERYBODY, *EVERYBODY[:3]])


def test_a_red_p1_is_no_proof(stage: Stage) -> None:
    stage.world.readyz(500, b"etcd failed")
    with pytest.raises(AssertionError, match="500"):
        quorum.prove(Etcd(wetopi(), stage.world), Api(wetopi(), stage.world), stage.memory)
    assert stage.memory.quorum is None


@pytest.mark.parametrize("seconds", [0.0, LIMIT - 5])
def test_a_young_proof_is_enough(stage: Stage, seconds: float) -> None:
    stage.proved(seconds)
    stage.look()
    assert (stage.asked, stage.steps) == ([], [])


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        (LIMIT + 1, "proved 301 s ago, at most 300 s are allowed"),
        (None, "this run has not proved it"),
    ],
)
def test_an_old_proof_is_made_again(stage: Stage, seconds: float | None, why: str) -> None:
    stage.proved(seconds)
    before = time.monotonic()
    stage.look()
    assert sorted(stage.asked) == sorted(EVERYBODY)
    assert stage.steps == [(TITLE, "done", why)]
    assert stage.memory.quorum is not None
    assert stage.memory.quorum >= before
    stage.look()
    assert len(stage.steps) == 1


def test_what_does_not_hold_any_more_is_said(stage: Stage) -> None:
    stage.proved(LIMIT + 1)
    old = stage.memory.quorum
    stage.world.readyz(500, b"etcd failed")
    with pytest.raises(AssertionError, match="500"):
        stage.look()
    ((title, state, why),) = stage.steps
    assert (title, state) == (TITLE, "failed")
    assert "301 s ago" in why
    assert "500" in why
    assert stage.memory.quorum == old


def test_what_nobody_answers_is_asked_once_more_and_then_not_known(stage: Stage) -> None:
    stage.proved(LIMIT + 1)
    stage.world.mute("10.72.0.20: no answer within 5 s")
    with pytest.raises(Undecided, match="no answer within 5 s"):
        stage.look()
    assert stage.asked.count("API") == 2
    assert [step[:2] for step in stage.steps] == [(TITLE, "failed")]


def test_a_plan_has_it_as_what_may_be_and_counts_on_nothing_of_it() -> None:
    asker = PaperAsker(wetopi())
    scene = Paper(wetopi(), asker, "F6-2")
    quorum.still_proved(scene, Memory(quorum=time.monotonic()))
    entries = [entry for entry in asker.taken() if isinstance(entry, Asked)]
    why = "the proof of quorum and API (P1) is older than 300 s"
    assert {each.only_if for each in entries} == {why}
    assert asker.known == frozenset()
