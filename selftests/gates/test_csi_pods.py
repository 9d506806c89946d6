"""F2.pods: which pods of the CSI driver have to run, and where."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.inventory import Role
from fixtures.core.verdicts import Undecided
from fixtures.judge.components import csi_runs
from fixtures.judge.volume import require_same_pods
from fixtures.observe.pods import parse_selected
from selftests.gates.world import wetopi

if TYPE_CHECKING:
    from fixtures.observe.pods import Everywhere

CLUSTER = wetopi()
WORKERS = [node.name for node in CLUSTER.nodes if node.role is Role.WORKER]
PLUGIN, PROVISIONER = "nodeplugin", "provisioner"


def pod(name: str, component: str, node: str, **other: Any) -> dict[str, Any]:
    """A pod of the driver that runs; `other` is merged into its status or its metadata."""
    labels = {"app": "ceph-csi-rbd", "component": component}
    about = {"name": name, "namespace": "kube-system", "uid": name, "labels": labels}
    container = {"name": "csi-rbdplugin", "ready": other.pop("ready", True), "state": {}}
    status = {
        "phase": other.pop("phase", "Running"),
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [container],
    }
    return {"metadata": about | other, "spec": {"nodeName": node}, "status": status}


def driver(**restarts: int) -> Everywhere:
    """Pods of the driver by name, and how often the container of each was started again."""
    pods = [pod(name, PLUGIN, WORKERS[0]) for name in restarts]
    for each, count in zip(pods, restarts.values(), strict=True):
        each["status"]["containerStatuses"][0]["restartCount"] = count
        each["spec"]["containers"] = [{"name": "csi-rbdplugin"}]
    return parse_selected(json.dumps({"kind": "PodList", "items": pods}))


@pytest.mark.parametrize(
    ("before", "now", "lost"),
    [
        ({"a": 3}, {"a": 4}, None),
        ({"a": 3}, {"a": 5}, "`a`"),
        ({"a": 3}, {"b": 0}, "replaced"),
        # One that came meanwhile: of its logs, too, only the last two are kept.
        ({"a": 0}, {"a": 0, "b": 1}, None),
        ({"a": 0}, {"a": 0, "b": 2}, "`b`"),
    ],
)
def test_logs_that_are_lost_are_not_silent(
    before: dict[str, int], now: dict[str, int], lost: str | None
) -> None:
    with pytest.raises(Undecided, match=lost) if lost else nullcontext():
        require_same_pods(driver(**before), driver(**now))


HEALTHY = {
    **{f"plugin-{node}": pod(f"plugin-{node}", PLUGIN, node) for node in WORKERS},
    **{f"provisioner-{n}": pod(f"provisioner-{n}", PROVISIONER, WORKERS[n]) for n in range(3)},
}
FIRST = f"plugin-{WORKERS[0]}"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, None),
        # Where control planes take it, it runs there as well.
        ({"x": pod("x", PLUGIN, "rke-cp01")}, None),
        ({"x": pod("x", "snapshot-controller", "rke-cp01")}, None),
        ({FIRST: None}, "no pod on rke-platform01"),
        ({"x": pod("x", PLUGIN, WORKERS[0])}, "2 pods on rke-platform01, expected one"),
        # As many as workers, and one worker without.
        ({FIRST: pod("x", PLUGIN, WORKERS[1])}, "no pod on rke-platform01"),
        ({FIRST: pod(FIRST, PLUGIN, WORKERS[0], ready=False)}, "not Ready"),
        ({"x": pod("x", PLUGIN, "rke-platform09")}, "which the inventory has not"),
        ({"x": pod("x", PLUGIN, "", phase="Pending")}, "bound to no node"),
        ({"x": pod("x", PLUGIN, "rke-cp01", ready=False)}, "`x` on rke-cp01 is Running, not Ready"),
        ({f"provisioner-{n}": None for n in range(3)}, "no pod in kube-system has the label compo"),
        ({"provisioner-2": pod("provisioner-2", PROVISIONER, "", phase="Pending")}, "is Pending"),
        ({"provisioner-2": pod("provisioner-2", PROVISIONER, WORKERS[2], phase="Succeeded")},
         "is Succeeded"),
        ({"provisioner-2": pod("provisioner-2", PROVISIONER, WORKERS[2],
                               deletionTimestamp="2026-11-30T12:00:00Z")}, "is Terminating"),
        # Whatever the driver has beside these two.
        ({"x": pod("x", "snapshot-controller", WORKERS[0], ready=False)}, "`x` on rke-platform01"),
        (dict.fromkeys(HEALTHY), "no pod in kube-system has the label"),
    ],
)  # fmt: skip
def test_the_drivers_pods(changes: dict[str, Any], says: str | None) -> None:
    items = [each for each in (HEALTHY | changes).values() if each]
    seen = parse_selected(json.dumps({"kind": "PodList", "items": items}))
    found = "; ".join(csi_runs(seen, CLUSTER))
    assert (says in found) if says else not found, found
