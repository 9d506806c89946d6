"""F0.plan and F0.apply: which plans add the gateway's NIC, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.statements import Statement
from fixtures.core.verdicts import Undecided
from fixtures.judge.attributes import at, known, without
from fixtures.judge.plan_changes import names_the_plan, told
from fixtures.judge.tofu import adds_one_nic
from fixtures.observe.tofu import Plan, parse_plan
from lab import plan
from selftests.gates.world import ROOT
from selftests.lab.world import world_at

if TYPE_CHECKING:
    from collections.abc import Callable

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
SHA = "ab" * 32


def judged(change: Callable[[dict[str, Any]], None] = lambda _: None) -> Plan:
    document = plan.document(world_at("f"))
    change(document)
    return read(json.dumps(document))


def read(text: str) -> Plan:
    found = parse_plan(text)
    fields = (found.errored, found.changes, found.drift, found.variables, found.configured)
    return Plan("ops01:leg.tfplan", SHA, *fields)


def gateway(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["resource_changes"][0]["change"]
    return found


def test_the_plan_of_the_leg() -> None:
    assert adds_one_nic(judged(), CLUSTER, "192.168.96.31") == ()
    facts = told(judged(), CLUSTER)
    assert facts["sha256"] == SHA
    assert facts["address"] == "192.168.96.31/20"
    assert facts["cloud-init"] == "unchanged"
    assert "password" not in str(facts)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("destroys", 'destroys, replaces or forgets `module.vm["wetopi-ops01"]'),
        ("forgets", "destroys, replaces or forgets"),
        ("replaces", "is not updated in place"),
        ("first-nic", "NIC 0 of the gateway does not stay as it is"),
        ("two-nics", "would have 4"),
        ("firewall", "`firewall` of the new NIC is `True`, expected `false`"),
        ("more-memory", "also changes `memory`"),
        ("drifted", "`network_device` drifted"),
        ("other-address", "192.168.69.31/20 is not a free one"),
    ],
)
def test_other_plans_fail(how: str, says: str) -> None:
    shown = plan.shown(plan.changed(world_at("f"), how))
    assert shown is not None
    found = adds_one_nic(read(shown.decode()), CLUSTER, None)
    assert says in "; ".join(found)


def test_cloud_init_may_get_the_allocated_address_and_no_other() -> None:
    shown = plan.shown(plan.changed(world_at("f"), "cloud-init"))
    assert shown is not None
    found = read(shown.decode())
    assert adds_one_nic(found, CLUSTER, None) == ()
    assert told(found, CLUSTER)["cloud-init"] == "192.168.96.31/20"
    other = read(shown.decode().replace('{"address":"192.168.96.31/20"}', '{"address":"dhcp"}'))
    assert "cloud-init" in adds_one_nic(other, CLUSTER, None)[0]


def test_an_address_that_was_not_stated_fails() -> None:
    assert "192.168.96.77 was stated" in adds_one_nic(judged(), CLUSTER, "192.168.96.77")[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(errored=True), "incomplete"),
        (lambda d: d.update(resource_changes=[]), "speaks 0 times"),
        (lambda d: gateway(d)["after_unknown"].update(network_device=True), "known after"),
        (lambda d: gateway(d)["after_unknown"]["network_device"].__setitem__(0, True), "NIC 0"),
        (lambda d: d["variables"]["vms"].update(value={}), "name none as"),
        (lambda d: (d.update(configuration={}),
                    d["resource_drift"][0]["change"]["before"].update(tags=[])), "does not tell"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_undecided(
    change: Callable[[dict[str, Any]], None], says: str
) -> None:
    with pytest.raises(Undecided, match=says):
        adds_one_nic(judged(change), CLUSTER, None)


def test_an_incomplete_plan_that_destroys_fails() -> None:
    def change(document: dict[str, Any]) -> None:
        document["errored"] = True
        document["resource_changes"][1]["change"]["actions"] = ["delete"]

    assert adds_one_nic(judged(change), CLUSTER, None)


def test_an_import_is_no_part_of_it() -> None:
    def change(document: dict[str, Any]) -> None:
        document["resource_changes"][1]["change"]["importing"] = {"id": "8001"}

    assert "imports" in adds_one_nic(judged(change), CLUSTER, None)[0]


def test_the_list_may_be_deeper_and_of_another_provider() -> None:
    """As in a plan of `terraform_data`, which has one attribute for everything."""
    nic = {"bridge": "vmbr4", "firewall": False}
    new = {"bridge": "vmbr2", "firewall": False, "ipv4_address": "192.168.96.31/20"}
    change = {
        "address": "terraform_data.natgw01",
        "mode": "managed",
        "change": {
            "actions": ["update"],
            "before": {"id": "1", "input": {"nics": [nic]}, "output": {"nics": [nic]}},
            "after": {"id": "1", "input": {"nics": [nic, new]}},
            "after_unknown": {"input": {"nics": [{}, {}]}, "output": True},
        },
    }
    document = {
        "format_version": "1.2",
        "planned_values": {},
        "variables": {"nics": {"value": [new]}},
        "resource_changes": [change],
    }
    assert CLUSTER.tofu is not None
    tofu = replace(
        CLUSTER.tofu, resource="terraform_data.natgw01", nics=("input", "nics"), ip_config=()
    )
    assert adds_one_nic(read(json.dumps(document)), replace(CLUSTER, tofu=tofu), None) == ()


def test_who_applied_it_names_the_plan() -> None:
    def stated(text: str) -> Statement:
        return Statement("F0.apply", text, "Ana", "2026-08-30T03:10:00Z")

    names_the_plan(stated(f"applied {SHA.upper()}"), {"sha256": SHA})
    for text, fact in (
        ("applied", {"sha256": SHA}),
        ("cd" * 32, {"sha256": SHA}),
        (SHA[:12], {"sha256": SHA}),
        (SHA, None),
        (SHA, {}),
    ):
        with pytest.raises(Undecided):
            names_the_plan(stated(text), fact)


def test_reaching_into_attributes() -> None:
    tree = {"a": [{"b": [1, 2]}], "c": [{"d": 1}, {"d": 2}]}
    assert at(tree, ("a", "b")) == [1, 2]
    assert at(tree, ("c", "d")) is None
    assert at(tree, ("c", "1", "d")) == 2
    assert at({"a": True}, ("a", "b")) is True
    assert without(tree, ("a", "b")) == {"a": [{}], "c": tree["c"]}
    assert known({"x": 1, "y": None, "z": 2}, {"z": True}) == {"x": 1}
