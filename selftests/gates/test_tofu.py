"""F0.plan and F0.apply: which plans add the gateway's NIC, and nothing else."""

from __future__ import annotations

import json
import re
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
from selftests.gates.deciding import verdict_of
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
    other = read(shown.decode().replace('{"address":"192.168.96.31/20",', '{"address":"dhcp",'))
    assert "cloud-init" in adds_one_nic(other, CLUSTER, None)[0]


def test_an_address_that_was_not_stated_fails() -> None:
    assert "192.168.96.77 was stated" in adds_one_nic(judged(), CLUSTER, "192.168.96.77")[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(errored=True), "incomplete: planning ended with an error"),
        (lambda d: d.update(complete=False), "incomplete: .* left changes for later"),
        (lambda d: d.update(deferred_changes=[{"reason": "resource_config_unknown"}]),
         r"left changes for later \(deferred\)"),
        (lambda d: d.update(resource_changes=[]), "speaks 0 times"),
        (lambda d: gateway(d)["after_unknown"].update(network_device=True), "known after"),
        (lambda d: gateway(d)["after_unknown"]["network_device"].__setitem__(0, True), "NIC 0"),
        (lambda d: d["variables"]["vms"].update(value={}), "name none as"),
        (lambda d: (d.update(configuration={}),
                    d["resource_drift"][0]["change"]["before"].update(tags=[])), "does not tell"),
        (lambda d: d["resource_drift"][0]["change"]["before"].update(disk=[{"size": 8}]), "`disk`"),
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


OTHER_ADDRESS = 'module.vms["wetopi-natgw01"].proxmox_virtual_environment_vm.vm[0]'


def elsewhere(address: str) -> Callable[[dict[str, Any]], None]:
    """The gateway is at another address than the inventory says."""

    def change(document: dict[str, Any]) -> None:
        document["resource_changes"][0]["address"] = address
        document["resource_drift"] = []

    return change


@pytest.mark.parametrize("address", [OTHER_ADDRESS, "proxmox_virtual_environment_vm.gw"])
def test_a_gateway_at_another_address_is_named_and_not_judged(address: str) -> None:
    """By its number or name, wherever it is: the operator corrects one line."""
    with pytest.raises(Undecided) as undecided:
        adds_one_nic(judged(elsewhere(address)), CLUSTER, None)
    text = str(undecided.value)
    assert f"`{address}` looks like the gateway: if it is, set `tofu: {{resource: …}}`" in text
    assert "wetopi.yaml" in text
    assert 'speaks 0 times of `module.vm["wetopi-natgw01"].proxmox' in text


def test_without_anything_like_the_gateway_the_plans_addresses_are_told() -> None:
    def change(document: dict[str, Any]) -> None:
        elsewhere("null_resource.a")(document)
        gateway(document)["before"] = gateway(document)["after"] = {"id": "1"}
        document["resource_changes"] *= 6
        document["resource_changes"][0]["change"]["actions"] = ["no-op"]

    with pytest.raises(Undecided) as undecided:
        adds_one_nic(judged(change), CLUSTER, None)
    assert "it speaks of `null_resource.a`, `module.vm" in str(undecided.value)
    assert " and 4 more: compare `tofu state list`" in str(undecided.value)


@pytest.mark.parametrize(
    ("actions", "verdict"),
    [
        (["no-op"], "UNKNOWN"),
        (["update"], "FAIL"),
        (["create"], "FAIL"),
        (["delete"], "FAIL"),
        (["delete", "create"], "FAIL"),
        (["create", "delete"], "FAIL"),
        (["forget"], "FAIL"),
        (["forget", "create"], "FAIL"),
    ],
)
def test_whichever_the_gateway_is_it_is_the_only_one(actions: list[str], verdict: str) -> None:
    """An update beside another one is of another resource, whatever the inventory says."""

    def change(document: dict[str, Any]) -> None:
        elsewhere(OTHER_ADDRESS)(document)
        document["resource_changes"][1]["change"]["actions"] = actions

    assert verdict_of(lambda: adds_one_nic(judged(change), CLUSTER, None)) == verdict


@pytest.mark.parametrize("actions", [["create"], ["no-op"]])
def test_one_change_that_is_no_update_is_not_the_gateways(actions: list[str]) -> None:
    def change(document: dict[str, Any]) -> None:
        elsewhere(OTHER_ADDRESS)(document)
        gateway(document)["actions"] = actions

    verdict = verdict_of(lambda: adds_one_nic(judged(change), CLUSTER, None))
    assert verdict == ("FAIL" if actions == ["create"] else "UNKNOWN")


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"vm_id": 8001}, "its vm_id is 8001, the gateway's is 8031"),
        ({"vm_id": None, "name": "wetopi-ops01"}, "its name is `wetopi-ops01`"),
        ({"vm_id": 8031, "name": "natgw"}, None),
        ({"vm_id": None, "name": None}, None),
    ],
)
def test_an_address_of_another_vm_is_not_judged(about: dict[str, Any], says: str | None) -> None:
    def change(document: dict[str, Any]) -> None:
        gateway(document)["before"].update(about)
        gateway(document)["after"].update(about)
        document["resource_drift"] = []

    if says is None:
        assert adds_one_nic(judged(change), CLUSTER, None) == ()
        return
    with pytest.raises(Undecided, match=re.escape(says)):
        adds_one_nic(judged(change), CLUSTER, None)


def test_deposed_objects_are_destroyed() -> None:
    """The same address twice; one of them is what an earlier replacement left."""

    def change(document: dict[str, Any]) -> None:
        old = json.loads(json.dumps(document["resource_changes"][0]))
        old["deposed"], old["change"]["actions"] = "ab12cd34", ["delete"]
        old["change"]["after"] = None
        document["resource_changes"].append(old)

    assert "destroys" in adds_one_nic(judged(change), CLUSTER, None)[0]


def test_what_is_read_or_put_out_changes_nothing() -> None:
    def change(document: dict[str, Any]) -> None:
        read = {"actions": ["read"], "before": None, "after": {}, "after_unknown": True}
        document["resource_changes"].append({"address": "data.x.y", "mode": "data", "change": read})
        document["output_changes"] = {"x": {"actions": ["delete"], "before": 1, "after": None}}

    assert adds_one_nic(judged(change), CLUSTER, None) == ()


@pytest.mark.parametrize(
    ("nic", "verdict"),
    [
        ({"firewall": True}, "FAIL"),
        ({"firewall": None}, "FAIL"),
        ({"firewall": "false"}, "FAIL"),
        ({"bridge": "vmbr20"}, "FAIL"),
        ({"mac_address": "BC:24:11:00:02:09"}, "PASS"),
        ({"ipv4_address": "192.168.96.31/20"}, "PASS"),
        ({"ipv4_address": "192.168.96.32/20"}, "FAIL"),
    ],
)
def test_the_new_nic(nic: dict[str, Any], verdict: str) -> None:
    def change(document: dict[str, Any]) -> None:
        gateway(document)["after"]["network_device"][-1].update(nic)

    assert verdict_of(lambda: adds_one_nic(judged(change), CLUSTER, None)) == verdict


def test_an_import_is_no_part_of_it() -> None:
    def change(document: dict[str, Any]) -> None:
        document["resource_changes"][1]["change"]["importing"] = {"id": "8001"}

    assert "imports" in adds_one_nic(judged(change), CLUSTER, None)[0]


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
