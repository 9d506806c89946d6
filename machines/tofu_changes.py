"""What is changed of the reviewed plan, to see that F0.plan finds it: texts, changes, damages."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Final

from machines.tofu import HYPERVISOR, MAIN, MODULE, PLAN, VARIABLES, Change

if TYPE_CHECKING:
    from pathlib import Path

GATEWAY: Final = f"{HYPERVISOR}/8031.json"
OTHER: Final = f"{HYPERVISOR}/8001.json"
ADDRESS_OF_OTHER: Final = 'module.vm["wetopi-ops01"]'
FIRST_NIC: Final = '{ bridge = "vmbr4", ipv4_address = "10.72.0.2/23", firewall = false }'
SECOND_NIC: Final = '{ bridge = "vmbr0", ipv4_address = "203.0.113.31/24", firewall = false }'
NEW_NIC: Final = '{ bridge = "vmbr2", ipv4_address = "192.168.96.31/20", firewall = false }'
COMMENT: Final = "# ADR-0004: the leg into the Ceph network."
OTHER_BEGINS: Final = '  wetopi-ops01 = {\n    node_name = "ns3249468"'
BRIDGE: Final = "bridge   = network_device.value.bridge"
RENDERED: Final = 'resource "terraform_data" "rendered" {\n  input = keys(var.vms)\n}\n'
ONE_ADDRESS: Final = """\
    ip_config {
      ipv4 {
        address = var.vm.nics[0].ipv4_address
      }
    }
"""
EVERY_ADDRESS: Final = """\
    dynamic "ip_config" {
      for_each = var.vm.nics
      content {
        ipv4 {
          address = ip_config.value.ipv4_address
        }
      }
    }
"""
SPARE: Final = """\
import {
  to = proxmox_virtual_environment_vm.spare
  id = "8001"
}

resource "proxmox_virtual_environment_vm" "spare" {
  node_name = "ns3249468"
  vm_id     = 8001
}
"""
REMOVED: Final = """\
removed {
  from = terraform_data.rendered
}
"""
MOVED: Final = (
    RENDERED.replace('"rendered"', '"written"')
    + """\
moved {
  from = terraform_data.rendered
  to   = terraform_data.written
}
"""
)
CHECKED: Final = """\
resource "terraform_data" "checked" {
  lifecycle {
    precondition {
      condition     = length(var.vms) > 9
      error_message = "Nine VMs are too few."
    }
  }
}
"""


def variables(old: str, new: str) -> tuple[Change, ...]:
    """Another value of a variable."""
    return (Change(VARIABLES, old, new),)


def main(new: str, old: str = RENDERED) -> tuple[Change, ...]:
    """Another resource in the place of one that nothing stands on."""
    return (Change(MAIN, old, new),)


def module(old: str, new: str) -> tuple[Change, ...]:
    """Another module of a VM."""
    return (Change(MODULE, old, new),)


def behind_its_back(file: str, old: str, new: str | None) -> tuple[Change, ...]:
    """A VM that somebody changed on the hypervisor; without a new text it is gone."""
    return (Change(file, old, new),)


def gone(production: Path) -> None:
    """The plan file is not there."""
    (production / PLAN).unlink()


def cut_off(production: Path) -> None:
    """It is not whole."""
    plan = production / PLAN
    plan.write_bytes(plan.read_bytes()[:2000])


def of_another_version(production: Path) -> None:
    """It says that an older OpenTofu saved it."""
    plan = production / PLAN
    with zipfile.ZipFile(plan) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["tfplan"] = parts["tfplan"].replace(b"1.10.6", b"1.10.5")
    with zipfile.ZipFile(plan, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in parts.items():
            new.writestr(name, content)


def without_its_provider(production: Path) -> None:
    """`tofu init` was never run here."""
    (production / ".terraform").rename(production / "elsewhere")


def a_state(production: Path) -> None:
    """A state lies where the plan should."""
    (production / PLAN).write_bytes((production / "terraform.tfstate").read_bytes())
