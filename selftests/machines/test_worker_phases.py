"""What the operator's part brings to the workers, and what of it is asked."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fixtures import gates
from fixtures.applylog.history import identity_of
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.core import inventory_file
from fixtures.core.verdicts import Verdict
from fixtures.gates import Phase, of_phase
from fixtures.judge import components
from fixtures.session.prerequisites import missing
from machines import (
    cluster,
    controller,
    dirs,
    expectations,
    gateway,
    lab,
    leg,
    monitors,
    plan,
    render,
    switch,
    workers,
)
from machines import inventory as lab_inventory
from machines.dirs import CHECKOUT
from machines.errors import LabError
from machines.pki import Pair
from selftests.machines import unasked

if TYPE_CHECKING:
    from machines.build import Layers

_MANIFESTS = Path(workers.__file__).parent / "manifests"


def _objects(name: str) -> list[dict[str, Any]]:
    values = {"dns": "10.68.0.10", "coredns": "1.13.1", "cilium": "1.20.1"}
    text = Template((_MANIFESTS / f"{name}.yaml").read_text()).substitute(values)
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize(
    "component",
    [
        *(components.COREDNS, components.AUTOSCALER, components.METRICS),
        *(components.OPERATOR, components.RELAY, components.AGENT),
    ],
    ids=lambda component: component.name,
)
def test_every_component_of_d2_is_installed_in_number(component: components.Component) -> None:
    label, name = component.label, component.remedy.split()[-1]
    found = [
        one
        for manifest in ("rke2", "cilium")
        for one in _objects(manifest)
        if one["metadata"]["name"] == name
    ]
    (workload,) = [one for one in found if one["kind"] in {"Deployment", "DaemonSet"}]
    spec = workload["spec"]
    assert spec["template"]["metadata"]["labels"][label.key] == label.value
    assert workload["kind"] == "DaemonSet" or spec.get("replicas", 1) >= component.least


def test_only_cilium_s_agents_run_on_a_cordoned_node() -> None:
    every = [*_objects("rke2"), *_objects("cilium"), *_objects("workload")]
    templates = {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in every
        if "template" in one.get("spec", {})
    }
    tolerant = [
        name
        for name, pod in templates.items()
        if {"operator": "Exists"} in pod.get("tolerations", ())
    ]
    assert tolerant == ["cilium"]


def test_a_worker_joins_through_the_vip_with_its_label_and_no_taint() -> None:
    config = yaml.safe_load(render.agent_config("f" * 32))
    assert config == {
        "server": "https://10.72.0.20:9345",
        "token": "f" * 32,
        "node-label": ["wetopi.io/role=platform"],
    }


@pytest.mark.parametrize(
    ("printed", "answered"),
    [
        ("Server:\t\t10.68.0.10\nAddress:\t10.68.0.10#53\n\nName:\tx\nAddress: 10.68.0.1\n", True),
        ("Server:\t\t10.68.0.10\nAddress:\t10.68.0.10#53\n\n** server can't find x\n", False),
        (";; communications error to 10.68.0.10#53: connection refused\n", False),
    ],
)
def test_the_resolver_s_own_address_is_no_answer(
    printed: str, monkeypatch: pytest.MonkeyPatch, *, answered: bool
) -> None:
    class Done:
        stdout = printed

    monkeypatch.setattr(workers.Container, "call", lambda *_: Done())
    assert bool(workers.unanswered()) is not answered


def _node(name: str, *, ready: str = "True", **spec: Any) -> dict[str, Any]:
    worker = name.startswith("rke-platform")
    key, effect = "node-role.kubernetes.io/control-plane", "NoSchedule"
    taints = [] if worker else [{"key": key, "value": "true", "effect": effect}]
    return {
        "metadata": {"name": name, "labels": {"wetopi.io/role": "platform"} if worker else {}},
        "spec": {"taints": taints, "podCIDRs": ["10.64.0.0/24"], **spec},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


_NODES = [_node(one.name) for one in (*plan.CONTROL_PLANES, *plan.WORKERS)]
_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("nodes", "complaint"),
    [
        (_NODES, None),
        (_NODES[:5], "rke-platform03 is not registered"),
        ([*_NODES[:5], _node("rke-platform03", ready="Unknown")], "Unknown"),
        ([*_NODES[:5], _node("rke-platform03", taints=[_TAINT])], "unschedulable"),
        ([_node("rke-cp01", taints=[]), *_NODES[1:]], "rke-cp01"),
    ],
)
def test_a_node_that_is_not_as_it_must_be_is_named(
    nodes: list[Any], complaint: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kubectl(*arguments: str, **_: object) -> str:
        return json.dumps({"items": nodes if "nodes" in arguments else []})

    monkeypatch.setattr(cluster, "kubectl", kubectl)
    monkeypatch.setattr(cluster, "unit_state", lambda *_: "active")
    monkeypatch.setattr(workers, "unanswered", list)
    found = workers.complaints()
    assert len(found) == (complaint is not None)
    assert complaint is None or complaint in found[0]


def test_what_is_healthy_is_gone_on_from(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Built:
        lowerdir = "layers"

    def reach(phase: plan.Phase) -> plan.Phase:
        lab.Facts(phase, "layers", Pair("certificate", "key")).save()
        return phase

    def boot(_: Layers) -> plan.Phase:
        done.append("boot")
        return reach(plan.Phase.ZERO)

    def apply(phase: plan.Phase) -> plan.Phase:
        done.append(f"apply {phase}")
        return reach(min(phase, plan.Phase.C))

    token = dirs.make_private(state) / controller.NODE_TOKEN
    token.parent.mkdir(parents=True)
    token.write_text("secret\n")
    monkeypatch.setattr(lab, "build", Built)
    monkeypatch.setattr(lab, "_boot", boot)
    monkeypatch.setattr(lab, "_apply", apply)
    monkeypatch.setattr(lab, "down", lambda: done.append("down"))
    monkeypatch.setattr(lab, "complaints", lambda _: [])
    monkeypatch.setattr(workers, "join", lambda token: done.append(f"join {token}"))
    for module, name, step in (
        (switch, "install", "checkout"),
        (leg, "prepare", "plan"),
        (monitors, "start", "monitor"),
        (gateway, "plug", "leg"),
        (switch, "flip", "flip"),
        (gateway, "configure", "configure"),
    ):
        monkeypatch.setattr(module, name, lambda *_, step=step: done.append(step))
    joining = ["join secret", "checkout", "plan"]
    routing = ["monitor", "leg", "flip", "configure"]
    assert lab.reached() is None
    for phase, steps in (
        (plan.Phase.ZERO, ["down", "boot"]),
        (plan.Phase.ZERO, []),
        (plan.Phase.C, ["apply c"]),
        (plan.Phase.D, joining),
        (plan.Phase.D, []),
        (plan.Phase.F, routing),
        (plan.Phase.F, []),
        (plan.Phase.D, ["down", "boot", "apply d", *joining]),
        (plan.Phase.C, ["down", "boot", "apply c"]),
        (plan.Phase.F, [*joining, *routing]),
        (plan.Phase.B, ["down", "boot", "apply b"]),
        (plan.Phase.F, ["down", "boot", "apply f", *joining, *routing]),
    ):
        done.clear()
        lab.up(phase)
        assert (done, lab.reached()) == (steps, phase)


def test_the_images_are_the_real_cluster_s(tmp_path: Path) -> None:
    path = tmp_path / "inventory.yaml"
    path.write_text(
        lab_inventory.text(
            key="key",
            known_hosts="hosts",
            controller={"node_token": "token"},
            commits={"docs": "5740404"},
            group_vars={"vip": "rke2_api_vip"},
            versions={"rke2": plan.RKE2_VERSION},
        )
    )
    own, real = inventory_file.load(path), inventory_file.load(CHECKOUT / "inventories/wetopi.yaml")
    assert own.images.items() <= real.images.items()
    assert own.operations.items() <= real.operations.items()


def test_each_gate_of_e_d_and_d2_is_asked_or_recorded_as_not_asked() -> None:
    assert [gate.id for gate in of_phase(Phase.E)] == list(expectations.UNASKED_E)
    assert [gate.id for gate in of_phase(Phase.D)] == list(expectations.D)
    asked = {*expectations.D2_READ_ONLY, *expectations.D2_PODS}
    assert asked | {*expectations.UNASKED_D2} == {gate.id for gate in of_phase(Phase.D2)}
    assert not asked & {*expectations.UNASKED_D2}


def test_what_was_not_asked_is_never_a_pass(tmp_path: Path) -> None:
    Ledger.open(tmp_path, "c").append(Kind.IDENTITY, identity="a" * 64)
    unasked.record(tmp_path, "c", ["E.2", "D2.status"])
    lines = [line for line in Ledger.open(tmp_path, "c").lines() if line.kind is Kind.GATE]
    records = [GateRecord.of(line) for line in lines]
    assert [record.key for record in records] == ["E.2", "D2.status"]
    for record in records:
        assert record.verdict is Verdict.ATTESTED
        assert record.identity == "a" * 64
        assert "not asked" in record.summary


def test_what_was_not_asked_is_in_nobodys_way_here_and_counts_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [*expectations.UNASKED_E, *expectations.UNASKED_D2]
    recorded = dict.fromkeys(names, Verdict.ATTESTED)
    assert missing(names, recorded)
    monkeypatch.setattr(gates, "_BY_ID", dict(gates._BY_ID))
    unasked.pytest_configure()
    assert missing(names, recorded) == []
    assert missing(["D.1"], {"D.1": Verdict.ATTESTED}) == ["D.1 (ATTESTED)"]


def test_nothing_is_recorded_for_an_unknown_cluster(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="knows no cluster"):
        unasked.record(tmp_path, "c", ["E.2"])
    assert not any(identity_of(line) for line in Ledger.open(tmp_path, "c").lines())


def test_a_workload_that_is_not_spread_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pods = [{"spec": {"nodeName": name}} for name in ("rke-platform01", "rke-platform03")]
    monkeypatch.setattr(cluster, "kubectl", lambda *_, **__: json.dumps({"items": pods}))
    monkeypatch.setattr(workers, "complaints", list)
    with pytest.raises(LabError, match=r"came to rke-platform02$"):
        workers.spread_workload()
