"""Whatever a host answers in a drill, a parser gives a value or `Misread`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.observe.budgets import parse_budgets
from fixtures.observe.controllers import parse_controllers
from fixtures.observe.drill_units import parse_leftovers, parse_services, parse_transients
from fixtures.observe.encryption import parse_status
from fixtures.observe.etcd_status import parse_statuses
from fixtures.observe.journal import parse_journal, parse_pod_log
from fixtures.observe.machine import parse_boot_id
from fixtures.observe.markers import parse_marker
from fixtures.observe.mounts import parse_mounts
from fixtures.observe.occupancy import parse_namespaces, parse_networks, parse_objects
from fixtures.observe.ports import parse_listeners
from fixtures.observe.runtime import parse_sandboxes
from fixtures.observe.snapshots import parse_rows
from selftests.gates.test_encryption import TEXT, status
from selftests.gates.test_etcd_status import endpoint, statuses
from selftests.gates.test_fault_proof import LISTENERS, ROOT
from selftests.gates.test_journal import ETCD, STARTED
from selftests.gates.test_occupancy import BUILT_IN, daemonset, namespaces, thing
from selftests.gates.test_reboot import NEW
from selftests.gates.test_restore import SANDBOXES, config_map
from selftests.gates.texts import CPS, items, unit
from selftests.observe import k3s
from selftests.observe.damage import AnyAnswer
from selftests.observe.test_drains import CONTROLLERS, budgets
from selftests.observe.test_drill_units import shown

if TYPE_CHECKING:
    from collections.abc import Callable

SERVICES = unit("keepalived.service") + "\n" + unit("rke2-server.service")
STEP = shown("a.service", "loaded", "active", "exited", Result="success", ExecMainStatus="0")
BUDGETS = budgets(
    {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]},
    disruptionsAllowed=0,
)
ROWS = k3s.runs("snapshot", r"^etcd-snapshot ls -o json$")[0][1].stdout

SAMPLES: dict[str, tuple[Callable[[str], object], str]] = {
    "services": (parse_services, SERVICES),
    "step": (lambda text: parse_transients(text, "a.service"), STEP),
    "leftovers": (parse_leftovers, "rke2-undo-x.timer loaded active waiting x y\n"),
    "etcd status": (parse_statuses, statuses(map(endpoint, CPS))),
    "listeners": (parse_listeners, LISTENERS),
    "mounts": (parse_mounts, ROOT),
    "objects": (parse_objects, items([thing("PersistentVolumeClaim", "a", "b")])),
    "networks": (parse_networks, items([daemonset("cilium", "/etc/cni/net.d")])),
    "namespaces": (parse_namespaces, namespaces(*BUILT_IN)),
    "marker": (parse_marker, config_map()),
    "sandboxes": (parse_sandboxes, json.dumps({"items": SANDBOXES})),
    "snapshots": (parse_rows, ROWS),
    "encryption": (parse_status, status().stdout),
    "encryption as text": (parse_status, TEXT),
    "journal": (parse_journal, STARTED),
    "log of a pod": (parse_pod_log, ETCD),
    "budgets": (parse_budgets, BUDGETS),
    "controllers": (lambda text: parse_controllers(text, "ReplicaSet"), CONTROLLERS),
    "boot id": (parse_boot_id, f"{NEW}\n"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_understood(name: str) -> None:
    parse, text = SAMPLES[name]
    parse(text)


class TestAnyAnswer(AnyAnswer):
    samples = SAMPLES
