"""What a drain is told by: its unit and journal, budgets, and controllers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fixtures.core.inventory import Label
from fixtures.core.verdicts import Undecided
from fixtures.observe.answers import Misread
from fixtures.observe.budgets import parse_budgets
from fixtures.observe.controllers import parse_controllers
from fixtures.observe.drain import Drains
from fixtures.observe.pod import Owner
from fixtures.observe.pods import parse_pods
from selftests.gates.drilling import drilled
from selftests.gates.test_journal import entry
from selftests.gates.texts import items, pod_object
from selftests.gates.world import Reply
from selftests.observe.test_drill_units import shown

UNIT = "rke2-drill-x-W-1-1"
POD = replace(
    parse_pods(items([pod_object("web-a", "rke-platform01", "default")])).pods[0],
    labels=(Label("app", "web"),),
)


def test_unit_and_own_lines_of_a_drain_are_read() -> None:
    world = drilled()
    state = shown(
        f"{UNIT}.service", "loaded", "active", "exited", Result="success", ExecMainStatus="0"
    )
    world.say(
        "rke-cp01",
        f"systemctl show -p Id,LoadState,ActiveState,SubState,Result,ExecMainStatus {UNIT}.service",
        Reply(state),
    )
    own = {"_SYSTEMD_UNIT": f"{UNIT}.service"}
    lines = [
        entry("node/rke-platform01 cordoned", **own),
        entry(f"Finished {UNIT}.service.", _SYSTEMD_UNIT="init.scope"),
        entry([0xFF, 0x41], **own),
    ]
    journal = f"sudo -n journalctl -u {UNIT}.service -o json --all --no-pager"
    world.say("rke-cp01", journal, Reply("\n".join(lines)))
    seen = Drains(world.cluster, world).of(world.cluster.node("rke-cp01"), UNIT)
    assert seen.lines == ("node/rke-platform01 cordoned", "\ufffdA")
    world.forget()
    world.say("rke-cp01", journal, Reply("", rc=1, stderr="No journal files were found."))
    with pytest.raises(Undecided, match="No journal files"):
        Drains(world.cluster, world).of(world.cluster.node("rke-cp01"), UNIT)


def budgets(selector: Any = None, **status: int) -> str:
    spec = {} if selector is None else {"selector": selector}
    metadata = {"name": "web", "namespace": "default"}
    return items([{"metadata": metadata, "spec": spec, "status": status}])


@pytest.mark.parametrize(
    ("selector", "covers"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "web", "tier": "x"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_which_pods_a_budget_speaks_of(selector: Any, covers: bool) -> None:
    (budget,) = parse_budgets(budgets(selector, disruptionsAllowed=1, currentHealthy=3))
    assert budget.covers(POD) is covers
    assert not budget.covers(replace(POD, namespace="other"))
    assert (budget.allowed, budget.healthy) == (1, 3)


def test_an_operator_that_kubernetes_does_not_know_is_refused() -> None:
    with pytest.raises(Misread):
        parse_budgets(budgets({"matchExpressions": [{"key": "a", "operator": "Gt"}]}))


CONTROLLERS = items(
    [
        {
            "metadata": {
                "name": "web",
                "namespace": "default",
                "uid": "rs",
                "generation": 3,
                "ownerReferences": [
                    {"kind": "Deployment", "name": "web", "uid": "d", "controller": True}
                ],
            },
            "spec": {"replicas": 2},
            "status": {"observedGeneration": 2},
        }
    ]
)


def test_a_controller_s_own_count() -> None:
    (found,) = parse_controllers(CONTROLLERS, "ReplicaSet")
    assert (found.wanted, found.ready, found.counted) == (2, 0, False)
    assert found.controller == Owner("Deployment", "web", "d")
    named = CONTROLLERS.replace('"metadata"', '"kind": "StatefulSet", "metadata"', 1)
    with pytest.raises(Misread):
        parse_controllers(named, "ReplicaSet")


def test_controller_and_scratch_volumes_of_a_pod() -> None:
    item = pod_object("a", "n", spec={"volumes": [{"name": "t", "emptyDir": {}}, {"name": "s"}]})
    owners = [{"kind": "A", "name": "a", "uid": "1"}]
    owners.append({"kind": "B", "name": "b", "uid": "2", "controller": True})  # type: ignore[dict-item]
    item["metadata"]["ownerReferences"] = owners
    (pod,) = parse_pods(items([item])).pods
    assert (pod.controller, pod.scratch) == (Owner("B", "b", "2"), ("t",))
    assert POD.controller is None
