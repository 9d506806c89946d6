"""Each mistake in an inventory is one sentence with file, line and key (`mistakes/*.yaml`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fixtures.core.inventory_file import InventoryError, load

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = sorted((Path(__file__).parent / "mistakes").glob("*.yaml"))
MISTAKES = [
    pytest.param(row, id=f"{path.stem}: {row['mistake']}")
    for path in FILES
    for row in yaml.safe_load(path.read_text(encoding="utf-8"))
]
REQUIRED = [
    "name",
    "stop_method",
    "bastion",
    "bastion.name",
    "bastion.address",
    "bastion.user",
    "bastion.lan_address",
    "bastion.known_hosts",
    "nodes",
    "nodes[0].name",
    "nodes[0].address",
    "nodes[0].role",
    "nodes[0].vip_priority",
    "gateway.name",
    "gateway.address",
    "network",
    "network.vip",
    "network.node_lan",
    "network.pods",
    "network.services",
    "network.tls_san",
    "keepalived",
    "keepalived.vrid",
    "keepalived.interface",
    "keepalived.advert_int",
    "keepalived.script",
    "keepalived.script_interval",
    "keepalived.fall",
    "keepalived.rise",
    "worker_label",
    "control_plane_taint",
    "ceph.monitors",
    "ceph.ports",
    "ceph.gateway_interface",
    "ceph.pool",
    "ceph.storage_class",
    "tofu.host",
    "tofu.chdir",
    "tofu.plan",
    "tofu.resource",
    "tofu.nics",
    "tofu.bridge",
    "proxmox.ns1.address",
]
OPTIONAL = [
    "rehearsal",
    "versions",
    "bastion.port",
    "bastion.key",
    "gateway",
    "network.api_port",
    "network.supervisor_port",
    "controller",
    "operations",
    "images",
    "commits",
    "names",
    "ceph",
    "tofu",
    "tofu.program",
    "tofu.ip_config",
    "group_vars",
    "group_vars.file",
    "group_vars.vip",
    "proxmox",
    "proxmox.ns1.port",
    "proxmox.ns1.user",
    "limits",
    "limits.connect",
]


def _without(text: str, dotted: str) -> str:
    tree = yaml.safe_load(text)
    holder: Any = tree
    *parents, last = dotted.replace("[0]", ".0").split(".")
    for part in parents:
        holder = holder[int(part)] if part.isdigit() else holder[part]
    del holder[last]
    return yaml.safe_dump(tree, sort_keys=False)


def test_the_inventory_that_is_broken_below_is_correct(
    good: str, write: Callable[..., Path]
) -> None:
    assert load(write(good)).name == "example"


@pytest.mark.parametrize("row", MISTAKES)
def test_mistake(row: dict[str, Any], good: str, write: Callable[..., Path]) -> None:
    assert row["replace"] in good
    path = write(good.replace(row["replace"], row["by"], 1))
    with pytest.raises(InventoryError) as caught:
        load(path)
    place = f"{path}:{row['line']}"
    assert str(caught.value) == ": ".join(part for part in (place, row["key"], row["says"]) if part)
    assert (caught.value.file, caught.value.line, caught.value.key) == (
        str(path),
        row["line"],
        row["key"],
    )


@pytest.mark.parametrize("key", REQUIRED)
def test_a_required_key_is_named_when_it_is_missing(
    key: str, good: str, write: Callable[..., Path]
) -> None:
    with pytest.raises(InventoryError, match="required key is missing") as caught:
        load(write(_without(good, key)))
    assert caught.value.key == key


@pytest.mark.parametrize("key", OPTIONAL)
def test_an_optional_key_may_be_missing(key: str, good: str, write: Callable[..., Path]) -> None:
    load(write(_without(good, key)))


def test_a_missing_stop_method_names_both_choices_and_why_there_is_no_default(
    good: str, write: Callable[..., Path]
) -> None:
    with pytest.raises(InventoryError) as caught:
        load(write(good.replace("stop_method: killall\n", "")))
    for part in ("`killall`", "`unit`", "no default", "etcd and the API running"):
        assert part in str(caught.value)


def test_a_number_of_thousands_of_digits_is_refused_and_cut(
    good: str, write: Callable[..., Path]
) -> None:
    with pytest.raises(InventoryError) as caught:
        load(write(good.replace("port: 2222", f"port: {'9' * 5000}")))
    assert (caught.value.line, caught.value.key) == (9, "bastion.port")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("secret", ["  password: hunter2", "  key: |\n    -----BEGIN\n    hunter2"])
def test_a_secret_in_the_wrong_place_is_not_repeated(
    secret: str, good: str, write: Callable[..., Path]
) -> None:
    with pytest.raises(InventoryError) as caught:
        load(write(good.replace("  key: keys/id", secret)))
    assert "hunter2" not in str(caught.value)
