"""W-2: whether a machine was really rebooted, and what of it is as before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.inventory import Label
from fixtures.core.verdicts import Undecided
from fixtures.judge.reboot import (
    Boot,
    booted_anew,
    comes_up_by_itself,
    kept,
    never_told,
    no_residue,
    reported,
    reported_anew,
    still_in,
)
from fixtures.observe.answers import Misread
from fixtures.observe.drill_units import Transient
from fixtures.observe.machine import Machine, parse_boot_id
from fixtures.observe.nodes import parse_nodes
from fixtures.observe.reboot import RebootRun, Reboots
from fixtures.observe.units import parse_unit
from selftests.gates.drilling import drilled
from selftests.gates.texts import items, node_object, unit
from selftests.gates.world import Reply, wetopi
from selftests.observe.test_drill_units import shown

if TYPE_CHECKING:
    from fixtures.observe.nodes import RegisteredNode

NODE = wetopi().node("rke-platform02")
OLD, NEW = "11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"
BEFORE = Boot(OLD, "m" * 32, "uid-1")
UNIT = "rke2-drill-x-W-2-1"
ROLE = Label("wetopi.io/role", "platform")


def seen(boot: str = NEW, ready: str = "True", **changes: Any) -> RegisteredNode:
    item = node_object(NODE.name, taints=changes.pop("taints", []))
    item["status"]["nodeInfo"] = {"bootID": boot}
    item["status"]["conditions"][0]["status"] = ready
    found = parse_nodes(items([item])).node(NODE.name)
    assert found is not None
    return replace(found, **({"uid": "uid-1", "labels": (ROLE,)} | changes))


def told(boot: str, load: str = "loaded") -> RebootRun:
    return RebootRun(boot, Transient(f"{UNIT}.service", load, "active", "exited", "success", 0))


def test_another_boot_proves_it_however_fast_it_was() -> None:
    assert booted_anew(told(NEW, "not-found"), BEFORE, NODE) == ()
    assert reported_anew(seen(), BEFORE, NODE) == ()


def test_the_same_boot_after_it_was_told_to_is_a_known_no() -> None:
    (finding,) = booted_anew(told(OLD), BEFORE, NODE)
    assert finding.startswith(f"rke-platform02 was not rebooted: its boot id is still {OLD}")


def test_a_machine_that_was_never_told_to_decides_nothing() -> None:
    with pytest.raises(Undecided, match="was never told to"):
        booted_anew(told(OLD, "not-found"), BEFORE, NODE)


def test_a_reboot_is_under_way_until_the_boot_is_another_one() -> None:
    assert still_in(told(OLD), BEFORE, NODE) != ()
    assert still_in(told(NEW, "not-found"), BEFORE, NODE) == ()
    assert never_told(told(OLD, "not-found"), BEFORE)
    assert not never_told(told(NEW, "not-found"), BEFORE)


@pytest.mark.parametrize("boot", [OLD, ""])
def test_a_kubelet_that_has_not_reported(boot: str) -> None:
    (finding,) = reported_anew(seen(boot, ready="Unknown"), BEFORE, NODE)
    assert "not Ready (Unknown)" in finding
    with pytest.raises(Undecided, match="has as Ready"):
        reported_anew(seen(boot), BEFORE, NODE)
    assert reported_anew(None, BEFORE, NODE) != ()


def test_before_it_api_and_machine_must_tell_of_the_same_boot() -> None:
    assert reported(seen(OLD), OLD, NODE) == ()
    assert f"the API has boot id {NEW}" in reported(seen(NEW), OLD, NODE)[0]
    assert "none" in reported(seen(""), OLD, NODE)[0]
    assert reported(None, OLD, NODE) != ()


@pytest.mark.parametrize(
    ("changes", "machine", "says"),
    [
        ({}, "m", ""),
        ({"uid": "uid-2"}, "m", "was registered anew"),
        ({}, "n", "another machine answers"),
        ({"labels": ()}, "m", "has no label wetopi.io/role, expected wetopi.io/role=platform"),
        ({"labels": (Label(ROLE.key, "Platform"),)}, "m", "has wetopi.io/role=Platform, expected"),
    ],
)
def test_identity_and_label_are_kept(changes: dict[str, Any], machine: str, says: str) -> None:
    findings = kept(seen(**changes), Machine(machine * 32, NODE.name), BEFORE, NODE, wetopi())
    assert (says in findings[0]) if says else findings == ()


def test_taints_of_a_node_that_is_not_ready_are_residue_and_others_are_not() -> None:
    other = {"key": "a", "effect": "NoSchedule"}
    assert no_residue(seen(taints=[other]), NODE) == ()
    for key in ("node.kubernetes.io/not-ready", "node.cilium.io/agent-not-ready"):
        left = no_residue(seen(taints=[other, {"key": key, "effect": "NoExecute"}]), NODE)
        assert left == (f"rke-platform02 still has the taint {key}:NoExecute",)


@pytest.mark.parametrize(("state", "holds"), [("enabled", True), ("disabled", False), ("", False)])
def test_an_agent_that_would_not_start_forbids_the_drill(state: str, holds: bool) -> None:
    name = "rke2-agent.service"
    found = parse_unit(unit(name, UnitFileState=state), name)
    assert (comes_up_by_itself(found, NODE) == ()) is holds


def test_machine_and_unit_are_asked_at_once() -> None:
    world = drilled()
    show = (
        f"systemctl show -p Id,LoadState,ActiveState,SubState,Result,ExecMainStatus {UNIT}.service"
    )
    world.say(NODE.name, "cat /proc/sys/kernel/random/boot_id", Reply(f"{NEW}\n"))
    gone = shown(f"{UNIT}.service", "not-found", "inactive", "dead")
    world.say(NODE.name, show, Reply(gone))
    assert Reboots(world.cluster, world).of(NODE, UNIT).boot_id == NEW


@pytest.mark.parametrize("text", ["", "x", OLD.upper().replace("1", "A"), f"{OLD}\n{OLD}"])
def test_what_is_no_boot_id_is_refused(text: str) -> None:
    with pytest.raises(Misread):
        parse_boot_id(text)
