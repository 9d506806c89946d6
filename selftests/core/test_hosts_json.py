"""Addresses from an Ansible hosts.json, in both shapes, and every way they can disagree."""

from __future__ import annotations

import hashlib
import json
import re
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.inventory_file import InventoryError, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JUMP = {"ansible_ssh_common_args": "-o ProxyJump=ubuntu@192.0.2.10"}
LOCAL = {"ansible_connection": "local", "ansible_become": False}
ADDRESSES = {
    "ops01": "192.0.2.10",
    "cp01": "10.72.0.21",
    "cp02": "10.72.0.22",
    "cp03": "10.72.0.23",
    "worker01": "10.72.0.41",
    "natgw01": "10.72.0.2",
}
GROUPS = {
    "operations": ["ops01"],
    "rke_control_plane": ["cp01", "cp02", "cp03"],
    "rke_platform": ["worker01"],
    "nat_gateway": ["natgw01"],
}


def hostvars(addresses: dict[str, str]) -> dict[str, dict[str, Any]]:
    return {
        name: {"ansible_host": address, **(JUMP if name != "ops01" else {})}
        for name, address in addresses.items()
    }


def grouped(addresses: dict[str, str]) -> dict[str, Any]:
    variables = hostvars(addresses)
    children: dict[str, Any] = {
        group: {"hosts": {name: variables.pop(name) for name in names if name in variables}}
        for group, names in GROUPS.items()
    }
    children["others"] = {"hosts": variables}
    children["empty"] = {"hosts": None, "vars": {"ansible_user": "ubuntu"}}
    children["nothing"] = None
    return {"all": {"hosts": {"localhost": LOCAL}, "children": children}}


def nested(addresses: dict[str, str]) -> dict[str, Any]:
    flat = grouped(addresses)["all"]
    cluster = {"children": flat["children"]}
    again = {"hosts": {name: {} for name in addresses}}
    return {"all": {"children": {"cluster": cluster, "again": again}}, "ungrouped": flat}


def dynamic(addresses: dict[str, str]) -> dict[str, Any]:
    return {
        "_meta": {"hostvars": {**hostvars(addresses), "localhost": LOCAL, "elsewhere": LOCAL}},
        "all": {"children": ["ungrouped", *GROUPS]},
        **{group: {"hosts": names} for group, names in GROUPS.items()},
        "ungrouped": {"hosts": ["localhost"]},
    }


SHAPES = {"grouped": grouped, "nested": nested, "dynamic": dynamic}
shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


@pytest.fixture
def bare(good: str) -> str:
    """The inventory without the addresses that Ansible knows."""
    return re.sub(r"(?<! ns1:)\n +address: \S+", "", good)


def refused(path: Path, hosts: Path) -> InventoryError:
    with pytest.raises(InventoryError) as caught:
        load(path, hosts_json=hosts)
    return caught.value


@shapes
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_it_gives_every_address(
    shape: Callable[..., Any], indent: Any, bare: str, write: Callable[..., Path]
) -> None:
    hosts = write(json.dumps(shape(ADDRESSES), indent=indent), "hosts.json")
    cluster = load(write(bare), hosts_json=hosts)
    assert {node.name: str(node.address) for node in cluster.nodes} == {
        name: ADDRESSES[name] for name in ("cp01", "cp02", "cp03", "worker01")
    }
    assert cluster.gateway is not None
    assert cluster.gateway.address == IPv4Address("10.72.0.2")
    assert (cluster.bastion.address, str(cluster.bastion.lan_address)) == (
        "192.0.2.10",
        "10.72.0.10",
    )


@shapes
def test_it_may_repeat_what_the_inventory_says(
    shape: Callable[..., Any], good: str, write: Callable[..., Path]
) -> None:
    hosts = write(json.dumps(shape(ADDRESSES)), "hosts.json")
    assert load(write(good), hosts_json=hosts).nodes == load(write(good)).nodes


def test_the_key_names_it_relative_to_the_inventory_and_the_argument_beats_the_key(
    bare: str, write: Callable[..., Path]
) -> None:
    write(json.dumps(grouped(ADDRESSES)), "hosts.json")
    path = write(f"{bare}hosts_json: hosts.json\n")
    assert load(path).nodes[0].address == IPv4Address("10.72.0.21")
    other = write(json.dumps(grouped({**ADDRESSES, "worker01": "10.72.0.49"})), "other.json")
    assert load(path, hosts_json=other).nodes[3].address == IPv4Address("10.72.0.49")


def test_both_files_are_in_the_digest(bare: str, write: Callable[..., Path]) -> None:
    path, hosts = write(bare), write(json.dumps(grouped(ADDRESSES)), "hosts.json")
    both = hashlib.sha256(path.read_bytes() + hosts.read_bytes()).hexdigest()
    assert load(path, hosts_json=hosts).sha256 == both


def test_the_bastion_may_be_known_by_its_lan_address(good: str, write: Callable[..., Path]) -> None:
    hosts = write(json.dumps(grouped({**ADDRESSES, "ops01": "10.72.0.10"})), "hosts.json")
    assert load(write(good), hosts_json=hosts).bastion.address == "192.0.2.10"


@shapes
def test_a_missing_vm(shape: Callable[..., Any], bare: str, write: Callable[..., Path]) -> None:
    rest = {name: address for name, address in ADDRESSES.items() if name != "cp02"}
    hosts = write(json.dumps(shape(rest)), "hosts.json")
    error = refused(write(bare), hosts)
    assert error.key == "nodes[1]"
    assert f"'cp02' has no ansible_host in {hosts}, expected every VM" in str(error)


@shapes
def test_an_unknown_vm(shape: Callable[..., Any], bare: str, write: Callable[..., Path]) -> None:
    hosts = write(json.dumps(shape({**ADDRESSES, "cp04": "10.72.0.24"}), indent=1), "hosts.json")
    error = refused(write(bare), hosts)
    assert error.file == str(hosts)
    assert error.line is not None
    assert "10.72.0.24" in hosts.read_text().splitlines()[error.line - 1]
    assert "unknown VM 'cp04', expected only VMs of the inventory" in str(error)


@pytest.mark.parametrize(
    ("name", "line", "key"), [("cp02", 24, "nodes[1].address"), ("ops01", 8, "bastion.address")]
)
def test_another_address(
    name: str, line: int, key: str, good: str, write: Callable[..., Path]
) -> None:
    hosts = write(json.dumps(grouped({**ADDRESSES, name: "10.72.0.99"})), "hosts.json")
    error = refused(write(good), hosts)
    assert (error.line, error.key) == (line, key)
    assert f"but {hosts}:1 says '10.72.0.99'; expected one address" in str(error)


def test_two_addresses_of_one_host(bare: str, write: Callable[..., Path]) -> None:
    tree = grouped(ADDRESSES)
    tree["all"]["hosts"]["cp01"] = {"ansible_host": "10.72.0.99"}
    error = refused(write(bare), write(json.dumps(tree), "hosts.json"))
    assert error.key == "all.children.rke_control_plane.hosts.cp01.ansible_host"
    assert "line 1 says '10.72.0.99'; expected one address a host" in str(error)


def test_an_address_twice_is_told_in_the_file_it_stands_in(
    bare: str, write: Callable[..., Path]
) -> None:
    hosts = write(json.dumps(grouped({**ADDRESSES, "cp02": "10.72.0.21"}), indent=1), "hosts.json")
    error = refused(write(bare), hosts)
    assert error.file == str(hosts)
    assert "expected a different address for each" in str(error)


@pytest.mark.parametrize("address", ["{{ ip }}", "rke-cp02", 10, None, ["10.72.0.22"]])
def test_an_address_that_is_none(address: object, bare: str, write: Callable[..., Path]) -> None:
    tree = grouped(ADDRESSES)
    tree["all"]["children"]["rke_control_plane"]["hosts"]["cp02"]["ansible_host"] = address
    error = refused(write(bare), write(json.dumps(tree), "hosts.json"))
    assert error.key == "all.children.rke_control_plane.hosts.cp02.ansible_host"
    assert "expected an IPv4 address" in str(error)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("{", "is not valid YAML"),
        ("[]", "found a list, expected a table"),
        ("{}", "found no host with ansible_host, expected groups with `hosts`"),
        ('{"_meta": {}}', "_meta.hostvars: required key is missing"),
        ('{"all": {"hosts": ["cp01"]}}', "all.hosts: found a list, expected a table"),
        ('{"all": {"children": ["a"]}}', "all.children: found a list, expected a table"),
        ('{"all": 1}', "all: found the number 1, expected a table"),
        ('{"all": {"hosts": {"cp01": "10.72.0.21"}}}', "all.hosts.cp01: found '10.72.0.21', exp"),
        ('{"all": {}, "all": {}}', "all: given twice, first in line 1"),
        ("[" * 9999, "found more than 16 levels"),
    ],
)
def test_a_file_that_is_no_inventory(
    content: str, says: str, bare: str, write: Callable[..., Path]
) -> None:
    hosts = write(content, "hosts.json")
    error = refused(write(bare), hosts)
    assert error.file == str(hosts)
    assert says in str(error)


def test_a_missing_file(bare: str, write: Callable[..., Path], tmp_path: Path) -> None:
    error = refused(write(bare), tmp_path / "none.json")
    assert str(error) == f"{tmp_path}/none.json: cannot be read: No such file or directory"
