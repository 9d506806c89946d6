"""The saved plan that gives the gateway its leg, as OpenTofu and the bpg provider make it (F0)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from lab import layout
from lab.ceph_lan import ADDRESS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lab.world import World

CHDIR: Final = "~/wetopi-infrastructure/tofu/proxmox/environments/prod"
FILE: Final = "ceph-leg.tfplan"
PATH: Final = f"{layout.HOME}/wetopi-infrastructure/tofu/proxmox/environments/prod/{FILE}"
GATEWAY: Final = "wetopi-natgw01"
RESOURCE: Final = f'module.vm["{GATEWAY}"].proxmox_virtual_environment_vm.this'
FACTS: Final = {
    "host": "bastion",
    "program": "~/bin/tofu",
    "chdir": CHDIR,
    "plan": FILE,
    "resource": RESOURCE,
    "nics": "network_device",
    "ip_config": "initialization.ip_config",
    "bridge": "vmbr2",
}
"""What an inventory says of it."""

_BASTION: Final = 'module.vm["wetopi-ops01"].proxmox_virtual_environment_vm.this'
_SENSITIVE: Final = {"initialization": [{"user_account": [{"password": True}]}]}
_MAGIC: Final = b"PK\x03\x04"


def file(world: World) -> bytes:
    """The plan file: binary for everybody but `tofu show`."""
    return _MAGIC + json.dumps(document(world), separators=(",", ":")).encode() + b"\n"


def shown(content: bytes) -> bytes | None:
    """What `tofu show -json` makes of a plan file; None of anything else."""
    return content.removeprefix(_MAGIC) if content.startswith(_MAGIC) else None


def document(world: World) -> dict[str, Any]:
    """The plan as `tofu show -json` tells it."""
    password = world.seed.hex("proxmox password", digits=24)
    before = _vm(GATEWAY, 8031, [_nic("vmbr4", "02:00"), _nic("vmbr0", "02:01")], password)
    # An update does not mark the address of a new NIC as unknown: it is null.
    new = _nic("vmbr2", "") | {"mac_address": None}
    after = {key: value for key, value in before.items() if key != "ipv4_addresses"}
    after |= {"network_device": [*before["network_device"], new]}
    address = f"{ADDRESS}/20"
    nics = [
        {"bridge": "vmbr4", "ipv4_address": "10.72.0.2/23", "firewall": False},
        {"bridge": "vmbr0", "ipv4_address": "203.0.113.31/24", "firewall": False},
        {"bridge": "vmbr2", "ipv4_address": address, "firewall": False},
    ]
    other = _vm("wetopi-ops01", 8001, [_nic("vmbr4", "03:00")], password)
    return {
        "format_version": "1.2",
        "terraform_version": "1.10.6",
        "variables": {
            "proxmox_password": {"value": password},
            "vms": {"value": {GATEWAY: {"cores": 2, "nics": nics}, "wetopi-ops01": {"cores": 2}}},
        },
        "planned_values": {"root_module": {}},
        "resource_drift": [
            _change(RESOURCE, ["update"], before | {"ipv4_addresses": [["127.0.0.1"]]}, before, {}),
        ],
        "resource_changes": [
            _change(
                RESOURCE,
                ["update"],
                before,
                after,
                {
                    "cpu": [{}],
                    "initialization": [{"ip_config": [{"ipv4": [{}]}], "user_account": [{}]}],
                    "ipv4_addresses": True,
                    "memory": [],
                    "network_device": [{}, {}, {}],
                    "tags": [False],
                },
            ),
            _change(_BASTION, ["no-op"], other, other, {}),
        ],
        "output_changes": {"ansible_inventory": _output()},
        "prior_state": {"format_version": "1.0", "terraform_version": "1.10.6", "values": {}},
        "configuration": {
            "root_module": {"module_calls": {"vm": {"module": {"resources": [_configured()]}}}}
        },
        "relevant_attributes": [{"resource": RESOURCE, "attribute": ["ipv4_addresses"]}],
        "timestamp": "2026-08-30T02:10:00Z",
        "errored": False,
    }


def _configured() -> dict[str, Any]:
    # The NICs are `dynamic` blocks, of which a plan does not tell.
    names = ("name", "node_name", "vm_id", "cpu", "initialization", "tags")
    return {
        "address": "proxmox_virtual_environment_vm.this",
        "mode": "managed",
        "type": "proxmox_virtual_environment_vm",
        "name": "this",
        "provider_config_key": "proxmox",
        "expressions": {name: {} for name in names},
        "schema_version": 0,
    }


def _output() -> dict[str, Any]:
    return {
        "actions": ["update"],
        "before": {GATEWAY: [["127.0.0.1"], ["10.72.0.2"]]},
        "after": {},
        "after_unknown": {GATEWAY: True},
        "before_sensitive": False,
        "after_sensitive": False,
    }


def _vm(name: str, vm_id: int, nics: list[dict[str, Any]], password: str) -> dict[str, Any]:
    return {
        "name": name,
        "node_name": "ns3243421",
        "vm_id": vm_id,
        "cpu": [{"cores": 2, "type": "host"}],
        "initialization": [
            {
                "ip_config": [{"ipv4": [{"address": "10.72.0.2/23", "gateway": ""}]}],
                "user_account": [{"password": password, "username": "ubuntu"}],
            }
        ],
        "ipv4_addresses": [["127.0.0.1"], ["10.72.0.2"]],
        "memory": [],
        "network_device": nics,
        "tags": ["wetopi"],
        "timeout_create": None,
    }


def _nic(bridge: str, mac: str) -> dict[str, Any]:
    return {
        "bridge": bridge,
        "disconnected": False,
        "enabled": True,
        "firewall": False,
        "mac_address": f"BC:24:11:00:{mac}",
        "model": "virtio",
        "mtu": 0,
        "queues": 0,
        "rate_limit": 0,
        "vlan_id": 0,
    }


def _change(
    address: str, actions: list[str], before: Any, after: Any, unknown: Any
) -> dict[str, Any]:
    return {
        "address": address,
        "module_address": address.partition(".proxmox")[0],
        "mode": "managed",
        "type": "proxmox_virtual_environment_vm",
        "name": "this",
        "provider_name": "registry.opentofu.org/bpg/proxmox",
        "change": {
            "actions": actions,
            "before": before,
            "after": after,
            "after_unknown": unknown,
            "before_sensitive": _SENSITIVE,
            "after_sensitive": _SENSITIVE,
        },
    }


def changed(world: World, how: str) -> bytes:
    """A plan file in which something is otherwise.

    Raises:
        KeyError: the lab does not know that way.
    """
    plan = document(world)
    _WAYS[how](plan)
    return _MAGIC + json.dumps(plan, separators=(",", ":")).encode() + b"\n"


def _after(plan: dict[str, Any]) -> Any:
    return plan["resource_changes"][0]["change"]["after"]


def _other_actions(*actions: str) -> Callable[[dict[str, Any]], None]:
    def change(plan: dict[str, Any]) -> None:
        plan["resource_changes"][1]["change"] |= {"actions": [*actions], "after": None}

    return change


def _replaces(plan: dict[str, Any]) -> None:
    plan["resource_changes"][0]["change"] |= {
        "actions": ["delete", "create"],
        "replace_paths": [["network_device"]],
    }


def _first_nic(plan: dict[str, Any]) -> None:
    nics = _after(plan)["network_device"]
    nics.insert(0, nics.pop())


def _two_nics(plan: dict[str, Any]) -> None:
    _after(plan)["network_device"].append(_nic("vmbr2", "02:09"))


def _firewall(plan: dict[str, Any]) -> None:
    _after(plan)["network_device"][-1]["firewall"] = True


def _more_memory(plan: dict[str, Any]) -> None:
    _after(plan)["memory"] = [{"dedicated": 8192}]


def _drifted(plan: dict[str, Any]) -> None:
    drift = plan["resource_drift"][0]["change"]
    drift["before"] = drift["before"] | {"network_device": []}


def _errored(plan: dict[str, Any]) -> None:
    plan["errored"] = True


def _other_resource(plan: dict[str, Any]) -> None:
    """The configuration has the gateway at another address than the inventory says."""
    for change in [*plan["resource_changes"], *plan["resource_drift"]]:
        change["address"] = change["address"].replace("module.vm[", "module.vms[")


def _other_address(plan: dict[str, Any]) -> None:
    nics = plan["variables"]["vms"]["value"][GATEWAY]["nics"]
    nics[-1] = nics[-1] | {"ipv4_address": "192.168.69.31/20"}


def _cloud_init(plan: dict[str, Any]) -> None:
    """As the configuration of some modules does it."""
    before = _after(plan)["initialization"][0]["ip_config"]
    after = [*before, {"ipv4": [{"address": f"{ADDRESS}/20", "gateway": ""}]}]
    _after(plan)["initialization"] = [_after(plan)["initialization"][0] | {"ip_config": after}]
    read = _change("data.proxmox_virtual_environment_nodes.all", ["read"], None, {}, {})
    plan["resource_changes"].append(read | {"mode": "data"})


_WAYS: Final[Mapping[str, Callable[[dict[str, Any]], None]]] = {
    "cloud-init": _cloud_init,
    "destroys": _other_actions("delete"),
    "drifted": _drifted,
    "errored": _errored,
    "firewall": _firewall,
    "first-nic": _first_nic,
    "forgets": _other_actions("forget"),
    "more-memory": _more_memory,
    "other-address": _other_address,
    "other-resource": _other_resource,
    "replaces": _replaces,
    "two-nics": _two_nics,
}
WAYS: Final = tuple(_WAYS)
