"""W-1: what a drain takes, how it ended, what it left, and what came back elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.inventory import Label, Taint
from fixtures.core.verdicts import Undecided
from fixtures.judge.cordon import cordoned, schedulable
from fixtures.judge.drain import complete, emptied, evictable, managed, replicas, with_scratch
from fixtures.judge.eviction import drained
from fixtures.observe.budgets import Budget, Expression
from fixtures.observe.controllers import Controller
from fixtures.observe.drain import DrainRun
from fixtures.observe.drill_units import Transient
from fixtures.observe.nodes import parse_nodes
from fixtures.observe.pod import Owner, Pod
from fixtures.observe.pods import parse_pods
from selftests.gates.texts import items, node_object, pod_object
from selftests.gates.world import wetopi
from selftests.observe.captured import like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fixtures.observe.nodes import RegisteredNode

NODE = wetopi().node("rke-platform01")
UNIT = "rke2-drill-x-W-1-1"
SET, DEPLOYMENT = Owner("ReplicaSet", "web-7d876db474", "rs"), Owner("Deployment", "web", "d")


def pod(name: str, *, controller: Owner | None = SET, on: str = NODE.name, **changes: Any) -> Pod:
    (found,) = parse_pods(items([pod_object(name, on, "default")])).pods
    return replace(found, uid=f"{name}-{on}", controller=controller, **changes)


DAEMON = pod("cilium-x", controller=Owner("DaemonSet", "cilium", "ds"))
MIRROR = pod("kube-proxy-x", controller=Owner("Node", NODE.name, "n"), mirror=True)
DONE = pod("helm-x", controller=None, phase="Succeeded")
BARE = pod("bare", controller=None)
WEB = pod("web-a", scratch=("tmp", "cache"))


def test_a_drain_evicts_neither_daemons_nor_mirrors_nor_what_has_finished() -> None:
    assert evictable([DAEMON, MIRROR, DONE, BARE, WEB]) == (BARE, WEB)


def test_what_is_lost_with_a_pod_is_told() -> None:
    assert with_scratch([DAEMON, WEB, BARE]) == ["default/web-a (tmp, cache)"]


def test_a_pod_that_nobody_would_make_again_forbids_the_drill() -> None:
    assert managed([DAEMON, MIRROR, DONE, WEB], NODE) == ()
    (finding,) = managed([BARE, WEB, pod("b2", controller=None)], NODE)
    assert "rke-platform01: default/bare, default/b2;" in finding


def test_an_evicted_pod_is_gone_only_by_its_uid() -> None:
    assert emptied([DAEMON, MIRROR, DONE], [WEB], NODE) == ()
    assert emptied([replace(WEB, phase="Failed")], [WEB], NODE) == ()
    (finding,) = emptied([DAEMON, replace(WEB, deleting=True)], [WEB], NODE)
    assert finding == "still on rke-platform01: default/web-a (1 of 1 terminating)"
    (finding,) = emptied([replace(WEB, uid="another")], [WEB], NODE)
    assert finding.startswith("came to rke-platform01 while it was drained: default/web-a")


def keeps(
    kind: str = "Deployment", uid: str = "d", wanted: int = 2, ready: int = 2, **more: Any
) -> Controller:
    told = {"counted": True, "controller": None} | more
    return Controller(kind, "default", "web", uid, wanted, ready, **told)


REPLICA_SET = keeps("ReplicaSet", "rs", controller=DEPLOYMENT)


def back(*controllers: Controller, pods: Sequence[Pod], evicted: Sequence[Pod] = (WEB,)) -> Any:
    return replicas(evicted, [REPLICA_SET, *controllers], pods, NODE)


THERE = [pod(f"web-{name}", on="rke-platform02") for name in "bc"]


def test_a_controller_is_back_when_its_count_and_its_pods_say_so() -> None:
    assert back(keeps(), pods=THERE) == ()
    for controller, pods in (
        (keeps(ready=1), THERE),
        (keeps(), THERE[:1]),
        (keeps(), [THERE[0], WEB]),
        (keeps(), [THERE[0], replace(THERE[1], deleting=True)]),
        (keeps(), [THERE[0], replace(THERE[1], containers=())]),
    ):
        (finding,) = back(controller, pods=pods)
        assert finding.startswith("Deployment default/web has 1 of 2 replicas ready away from")
    (finding,) = back(keeps(counted=False), pods=THERE)
    assert "has not counted its replicas" in finding


def test_a_stateful_set_is_asked_itself_and_a_job_not_at_all() -> None:
    mine = pod("db-0", controller=Owner("StatefulSet", "db", "s"))
    there = pod("db-0", controller=mine.controller, on="rke-platform03")
    database = keeps("StatefulSet", "s", wanted=1, ready=1)
    assert back(database, pods=[there], evicted=[mine]) == ()
    assert back(database, pods=[mine], evicted=[mine]) != ()
    assert back(pods=[], evicted=[pod("once", controller=Owner("Job", "once", "j"))]) == ()


@pytest.mark.parametrize("owner", [Owner("StrimziPodSet", "kafka", "k"), DEPLOYMENT])
def test_of_a_controller_that_cannot_be_counted_nothing_is_said(owner: Owner) -> None:
    with pytest.raises(Undecided, match=f"{owner.kind}` {owner.name}`|{owner.kind} {owner.name}"):
        back(pods=THERE, evicted=[pod("x", controller=owner)])


def test_a_replica_set_whose_deployment_is_gone_is_undecided() -> None:
    with pytest.raises(Undecided, match="Deployment web"):
        back(pods=THERE)


def test_what_is_incomplete_before_a_drain_cannot_come_back_by_it() -> None:
    assert complete([WEB, DAEMON], [REPLICA_SET, keeps()]) == ()
    with pytest.raises(Undecided, match="has 1 of 2 replicas ready before the drain"):
        complete([WEB], [REPLICA_SET, keeps(ready=1)])


def run(lines: str, *, active: str = "failed", result: str = "exit-code", status: int = 1) -> Any:
    load = "not-found" if active == "gone" else "loaded"
    result = "success" if active == "activating" else result
    unit = Transient(f"{UNIT}.service", load, active, "x", result, status)
    return DrainRun("rke-cp01", unit, tuple(lines.splitlines()))


def captured(command: str) -> str:
    capture = like("kube-1.36.3.out", command)[-1]
    return capture.stdout + capture.stderr


HELD = captured("drain rke-platform02 .*--timeout=8s")
NAMES = ("xnch4", "k558h", "mgh2p", "s9zm2")
WEBS = [pod(f"web-7d876db474-{name}", labels=(Label("app", "web"),)) for name in NAMES]
ALL_OF_WEB = (Expression("app", "In", ("web",)),)
BUDGET = Budget("default", "web", ALL_OF_WEB, allowed=0, healthy=4, desired=4, expected=4)


def test_a_drain_that_ended_well() -> None:
    well = run(captured("drain rke-platform01 "), active="active", result="success", status=0)
    assert drained(well, NODE, [], [BUDGET]) == ()


def test_pod_and_budget_of_a_drain_that_hung_are_named() -> None:
    told, how = drained(run(HELD), NODE, WEBS, [BUDGET])
    assert told.startswith(
        "default/web-7d876db474-xnch4, default/web-7d876db474-k558h, default/web-7d876db474-mgh2p "
        "and 1 more cannot be evicted from rke-platform01: PodDisruptionBudget default/web allows "
        "0 disruptions (4 of 4 pods healthy, 4 must stay so)"
    )
    assert "exit status 1" in how
    assert "global timeout reached: 8s" in how


def test_one_that_has_not_ended_is_told_by_what_it_said_so_far() -> None:
    told, how = drained(run(HELD, active="activating"), NODE, WEBS[:1], [BUDGET])
    assert "default/web-7d876db474-xnch4 cannot be evicted" in told
    assert "has not ended within its limit" in how
    told, _ = drained(run("", active="activating"), NODE, [replace(WEB, deleting=True)], [])
    assert told.startswith("default/web-a did not leave rke-platform01 (1 of 1 terminating); next:")


@pytest.mark.parametrize(
    ("budgets", "says"),
    [
        ([], "no PodDisruptionBudget speaks of it now"),
        ([replace(BUDGET, namespace="other")], "no PodDisruptionBudget speaks of it now"),
        ([BUDGET, replace(BUDGET, name="b2", selects=())], "several PodDisruptionBudgets"),
    ],
)
def test_budgets_that_do_not_explain_it(budgets: list[Budget], says: str) -> None:
    told, _ = drained(run(HELD), NODE, WEBS[:1], budgets)
    assert says in told


def test_a_drain_that_ends_at_once_as_two_budgets_speak_of_a_pod() -> None:
    error = (
        'error when evicting pods/"web-a" -n "default": This pod has more than one '
        "PodDisruptionBudget, which the eviction subresource does not support."
    )
    lines = f'evicting pod default/web-a\nerror: unable to drain node "x" due to error: {error}'
    two = [replace(BUDGET, selects=()), replace(BUDGET, name="b2", selects=())]
    told, how = drained(run(lines), NODE, [WEB], two)
    assert told.startswith("default/web-a cannot be evicted from rke-platform01: several")
    assert "(default/web, default/b2)" in told
    assert "exit status 1" in how


def test_a_pod_that_left_after_all_is_not_blamed() -> None:
    (how,) = drained(run(HELD), NODE, [], [BUDGET])
    assert "exit status 1" in how


def test_a_bare_pod_that_kubectl_refuses_is_named() -> None:
    refused = captured("drain rke-platform01 ").replace("evicted", "")
    capture = next(
        each for each in like("kube-1.36.3.out", "drain") if "no controller" in each.stderr
    )
    told, how = drained(run(refused + capture.stderr), NODE, [WEB], [])
    assert "(use --force to override): default/bare" in told
    assert "did not leave" not in told + how


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("The connection to the server 127.0.0.1:6443 was refused - did you specify", {}),
        ("error: You must be logged in to the server (Unauthorized)", {}),
        ('Error from server (NotFound): nodes "rke-platform01" not found', {}),
        ("", {}),
        (HELD, {"result": "signal", "status": 15}),
        (HELD, {"result": "oom-kill", "status": 9}),
        (HELD, {"active": "gone"}),
    ],
)
def test_what_is_not_the_node_s_fault_decides_nothing(said: str, changes: dict[str, Any]) -> None:
    with pytest.raises(Undecided):
        drained(run(said, **changes), NODE, WEBS, [BUDGET])


def seen(**spec: Any) -> RegisteredNode | None:
    return parse_nodes(items([node_object(NODE.name, **spec)])).node(NODE.name)


TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def test_a_cordon_is_the_flag_and_the_taint() -> None:
    assert cordoned(seen(unschedulable=True, taints=[TAINT]), NODE) == ()
    assert cordoned(seen(unschedulable=True), NODE) != ()
    assert cordoned(seen(taints=[TAINT]), NODE) != ()
    assert cordoned(None, NODE) != ()


def test_a_node_takes_pods_without_flag_and_taints() -> None:
    assert schedulable(seen(), NODE) == ()
    assert schedulable(seen(taints=[{"key": "a", "effect": "PreferNoSchedule"}]), NODE) == ()
    assert "cordoned" in schedulable(seen(unschedulable=True), NODE)[0]
    assert f"taint {TAINT['key']}:NoSchedule" in schedulable(seen(taints=[TAINT]), NODE)[0]
    assert schedulable(None, NODE) != ()


@given(st.text(max_size=80), st.sampled_from(["failed", "activating", "active"]))
def test_whatever_kubectl_says_is_judged(said: str, active: str) -> None:
    try:
        findings = drained(run(f"{HELD}\n{said}", active=active), NODE, WEBS, [BUDGET])
    except Undecided:
        return
    assert all("\n" not in each and len(each) < 1500 for each in findings)


def test_taints_are_compared_by_effect() -> None:
    node = replace(seen() or pytest.fail("no node"), taints=(Taint("k\x1b", "", "NoExecute"),))
    (finding,) = schedulable(node, NODE)
    assert "\x1b" not in finding
    assert json.dumps(finding)
