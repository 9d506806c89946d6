"""How a plan is made: the asker that only writes down, the scene that goes on, what stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.requests import ApiGet, HostCommand
from fixtures.core.verdicts import Undecided
from fixtures.drills.conduct import conduct
from fixtures.drills.draft import Asked, PaperAsker, Remark
from fixtures.drills.drain import WorkerDrain
from fixtures.drills.outage import ControlPlaneOutage, starting, stopping
from fixtures.drills.paper import Paper, PaperWatch
from fixtures.drills.reboot import WorkerReboot
from fixtures.drills.stand_ins import shown, stand_in, word
from fixtures.observe.blank import Blank
from fixtures.observe.machine import Machines
from fixtures.observe.rke2 import Rke2
from selftests.gates.world import wetopi

if TYPE_CHECKING:
    from fixtures.drills.workers import WorkerDrill
    from fixtures.judge.findings import Findings

CLUSTER = wetopi()
CP02 = CLUSTER.node("rke-cp02")
ONE, TWO = (HostCommand("rke-cp01", name, 1.0) for name in ("one", "two"))


def sent(asker: PaperAsker) -> list[str]:
    return [
        each.command
        for entry in asker.taken()
        if isinstance(entry, Asked)
        for each in entry.requests
        if isinstance(each, HostCommand)
    ]


def paper() -> tuple[Paper, PaperAsker]:
    asker = PaperAsker(CLUSTER)
    return Paper(CLUSTER, asker, "C.6"), asker


def changes(drill: type[WorkerDrill], gate: str) -> list[tuple[str | None, str | None]]:
    """Title and host of each change that a drill on a worker certainly makes, in order."""
    asker = PaperAsker(CLUSTER)
    conduct(
        drill(Paper(CLUSTER, asker, gate), lambda _name, _value: None), PaperWatch(CLUSTER, asker)
    )
    asked = [each for each in asker.taken() if isinstance(each, Asked) and not each.only_if]
    return [(each.change, each.requests[0].host) for each in asked if each.change]  # type: ignore[union-attr]


def test_the_drills_on_workers_are_planned_whole() -> None:
    assert changes(WorkerDrain, "W-1")[1:] == [
        ("arm the undo", "rke-cp01"),
        ("start the drain", "rke-cp01"),
        ("uncordon rke-platform01", "rke-cp01"),
        ("disarm the undo", "rke-cp01"),
    ]
    assert changes(WorkerReboot, "W-2")[1:] == [("reboot", "rke-platform02")]


def test_what_is_known_is_not_asked_again_until_it_is_forgotten() -> None:
    asker = PaperAsker(CLUSTER)
    asker.ask([ONE])
    asker.ask([ONE, TWO])
    asker.refresh([ONE])
    asker.forget()
    asker.ask([TWO])
    assert sent(asker) == ["one", "two", "one", "two"]


def test_the_administrator_s_certificate_is_read_once() -> None:
    asker = PaperAsker(CLUSTER)
    for path in ("/readyz", "/livez"):
        asker.ask([ApiGet("10.72.0.20", path, 1.0)])
    assert sent(asker) == ["sudo -n cat /etc/rancher/rke2/rke2.yaml"]


def test_observations_are_blank_and_looks_go_on() -> None:
    scene, asker = paper()
    machines = Machines(CLUSTER, asker)

    def look() -> Findings:
        first, second = machines.named(CP02), machines.remains(CP02)
        assert isinstance(first, Blank)
        return (str(len(second.processes) / 0),)

    assert scene.see(look) == ()
    scene.require(look)
    assert sent(asker)[-1] == "pgrep -a etcd"


def test_what_may_be_asked_next_is_conditional() -> None:
    _, asker = paper()
    Rke2(CLUSTER, asker).configuration()
    sure, maybe = (entry for entry in asker.taken() if isinstance(entry, Asked))
    assert sure.only_if is None
    assert maybe.only_if == "earlier answers call for it"


def test_a_value_stands_for_what_would_be_learnt() -> None:
    scene, _ = paper()

    def ask() -> str:
        raise Undecided("nothing answers")

    assert scene.learn(ask, "stand-in") == "stand-in"


def test_an_undo_is_planned_beside_what_it_undoes() -> None:
    scene, asker = paper()

    def undo(_failure: BaseException | None) -> None:
        scene.change(starting(CP02, CLUSTER), recovering=True)

    with scene.undone_by(undo, "it fails"):
        scene.change_all(stopping(CP02, CLUSTER))
    scene.change(starting(CP02, CLUSTER))
    changes = [each for each in asker.taken() if isinstance(each, Asked) and each.change]
    told = [(each.change, each.only_if) for each in changes]
    assert told == [
        ("stop rke2-server", None),
        ("end its containers", None),
        ("start rke2-server", "it fails"),
        ("start rke2-server", None),
    ]
    units = [str(each.requests[0]).partition("C-6-")[2][0] for each in changes]
    assert units == ["1", "2", "3", "3"]


def test_a_wait_is_one_look_that_is_repeated() -> None:
    scene, asker = paper()

    def look() -> Findings:
        asker.ask([ONE])
        return ("never",)

    scene.until_clear(look, "it holds", within=10.0)
    (entry,) = asker.taken()
    assert isinstance(entry, Asked)
    assert entry.repeat is not None
    assert (entry.repeat.until, entry.repeat.within) == ("it holds", 10.0)


def test_a_named_target_is_itself_and_another_a_placeholder() -> None:
    scene, _ = paper()
    assert ControlPlaneOutage(scene, "rke-cp02").ready() == CP02
    assert ControlPlaneOutage(scene).ready().name == word("target")


def test_placeholders_are_shown_for_names_and_addresses() -> None:
    node = stand_in("vip-owner")
    said = f"{node.name} {node.address}:2379 {word('run')}-1 @999999999999"
    assert shown(said) == "<vip-owner> <vip-owner>:2379 <run>-1 @<epoch>"


@given(st.text())
def test_other_text_is_shown_as_it_is(text: str) -> None:
    if "xx-" not in text and "203.0.113." not in text and "9" * 12 not in text:
        assert shown(text) == text


def test_a_node_nobody_knows_has_no_stand_in() -> None:
    with pytest.raises(KeyError):
        stand_in("anybody")


def test_what_the_api_may_feel_is_remarked() -> None:
    scene, asker = paper()
    scene.log("begin", state="ready", expected=["one gap"])
    assert asker.taken() == [Remark("one gap", outage=True)]
