"""Whatever a host answers, a parser gives a value or `Misread`, and a gate gives a verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.gates import GATES, Each, Phase
from fixtures.observe.api import parse_readyz
from fixtures.observe.ciliumnodes import parse_ciliumnodes
from fixtures.observe.dns import parse_nslookup
from fixtures.observe.etcd import parse_health, parse_listing
from fixtures.observe.events import parse_warnings
from fixtures.observe.files import parse_stat
from fixtures.observe.identity import parse_uid
from fixtures.observe.keepalived_conf import includes, statements
from fixtures.observe.keepalived_config import config_of
from fixtures.observe.leases import parse_lease, parse_leases
from fixtures.observe.namespaces import parse_namespace, parse_namespaces
from fixtures.observe.network import parse_ping
from fixtures.observe.nodes import parse_node, parse_nodes
from fixtures.observe.pod import parse_pod
from fixtures.observe.pods import parse_pods
from fixtures.observe.rke2_config import merged, parse_config
from fixtures.observe.units import parse_unit
from fixtures.observe.vip import parse_addresses
from selftests.gates.deciding import decide
from selftests.gates.joined import LIST_CILIUMNODES, LIST_LEASES, LIST_PODS, joined
from selftests.gates.texts import (
    CPS,
    PING_OK,
    UID,
    addresses,
    conf,
    health,
    items,
    listing,
    member,
    mirrors,
    node_object,
    pod_object,
    rke2_config,
    unit,
)
from selftests.gates.world import AT, Reply, healthy
from selftests.observe.damage import VALUES, AnyAnswer

if TYPE_CHECKING:
    from collections.abc import Callable


def conf_parser(text: str) -> object:
    matches = {("conf", pattern): ("conf",) for pattern in includes(text)}
    return config_of(statements("conf", {"conf": text}, matches, "rke-cp01"))


def objects(kind: str, path: str) -> str:
    """What the API of a healthy cluster answers."""
    _, document = joined().document(path, AT)
    assert document["kind"] == kind
    return json.dumps(document)


SAMPLES: dict[str, tuple[Callable[[str], object], str]] = {
    "addresses": (parse_addresses, addresses("10.72.0.21/23", "10.72.0.20/23")),
    "listing": (parse_listing, listing(member(node) for node in CPS)),
    "health": (parse_health, health(CPS, dead=CPS[:1])),
    "nodes": (
        parse_nodes,
        items([node_object("a", taints=[{"key": "k", "effect": "NoSchedule"}], podCIDRs=["x"])]),
    ),
    "node": (parse_node, objects("Node", "/api/v1/nodes/rke-platform01")),
    "lease": (parse_lease, objects("Lease", f"{LIST_LEASES}/rke-platform01")),
    "leases": (parse_leases, objects("LeaseList", LIST_LEASES)),
    "ciliumnodes": (parse_ciliumnodes, objects("CiliumNodeList", LIST_CILIUMNODES)),
    "pods of six nodes": (parse_pods, objects("PodList", LIST_PODS)),
    "pods": (
        parse_pods,
        items([*mirrors(CPS), pod_object("p", "n", spec={"nodeSelector": {"a": "b"}})]),
    ),
    "unit": (lambda text: parse_unit(text, "k.service"), unit("k.service", NRestarts="3")),
    "readyz": (parse_readyz, "ok\n200"),
    "ping": (parse_ping, PING_OK),
    "stat": (parse_stat, "755 root root regular file\n"),
    "uid": (
        parse_uid,
        json.dumps({"kind": "Namespace", "metadata": {"name": "kube-system", "uid": UID}}),
    ),
    "keepalived.conf": (conf_parser, conf("rke-cp01")),
    "config.yaml": (lambda text: merged([parse_config(text)]), rke2_config("rke-cp02")),
}
NAMESPACE = {
    "kind": "Namespace",
    "metadata": {"name": "x", "uid": UID, "labels": {"a": "b"}, "deletionTimestamp": "x"},
    "status": {"conditions": [{"type": "x", "status": "True", "message": "x"}]},
}
POD = {
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "n", "uid": UID},
    "spec": {"nodeName": "n"},
    "status": {
        "phase": "Pending",
        "conditions": [{"type": "Ready", "status": "False", "reason": "x"}],
        "containerStatuses": [
            {"name": "c", "ready": False, "state": {"terminated": {"exitCode": 1, "reason": "x"}}}
        ],
    },
}
SAMPLES |= {
    "namespace": (parse_namespace, json.dumps(NAMESPACE)),
    "namespaces": (parse_namespaces, items([NAMESPACE])),
    "pod": (parse_pod, json.dumps(POD)),
    "warnings": (parse_warnings, items([{"type": "Warning", "reason": "x", "message": "y"}])),
    "nslookup": (
        parse_nslookup,
        "Server:\t1.1.1.1\n\nName:\tx\nAddress: 1.2.3.4\n** server can't\n",
    ),
}


def test_every_sample_is_understood() -> None:
    for parse, text in SAMPLES.values():
        parse(text)


class TestAnyAnswer(AnyAnswer):
    samples = SAMPLES


GATE_IDS = [gate for gate in GATES if gate.phase in {Phase.B, Phase.C} and not gate.drill]
REPLIES = st.builds(
    Reply,
    raw=st.binary(max_size=60)
    | st.text(max_size=40).map(str.encode)
    | VALUES.map(json.dumps).map(str.encode),
    stderr=st.sampled_from(
        ["", "sudo: x\n", "Error\n", "x: No such file or directory\n", "\x1b[31m"]
    ),
    rc=st.sampled_from([0, 0, 1, 2, 7, 28, 126, 127, 128, 137, 255, -1]),
    cut=st.sampled_from([0, 0, 0, 5]),
)


@pytest.mark.parametrize("gate", GATE_IDS, ids=lambda gate: gate.id)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_gate_says_something_of_any_answer(gate: Any, data: st.DataObject) -> None:
    """One answer of a healthy cluster is replaced by anything: never an error, no raw control."""
    node = "rke-cp02" if gate.each is Each.CONTROL_PLANE else ""
    world = healthy()
    decide(world, gate.id, node)
    sent = sorted(key for key in world.replies if key[1] in world.commands(key[0]))
    if sent:
        world.say(*data.draw(st.sampled_from(sent)), data.draw(REPLIES))
    decided = decide(world, gate.id, node)
    assert decided.verdict in {"PASS", "FAIL", "UNKNOWN"}
    assert all(char.isprintable() for char in decided.text)
