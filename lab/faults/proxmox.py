"""Faults of the VMs' snapshots on their Proxmox nodes, and of the way to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from lab.faults.registry import FaultError, fault, host_of
from lab.layout import Part
from lab.proxmox import NAME, first_start

if TYPE_CHECKING:
    from lab.world import World


@fault("vm-snapshot-missing", f"the VM of that machine has no snapshot {NAME}, only one named like")
def snapshot_missing(world: World, machine: str) -> None:
    """The description of the other names it."""
    snapshots = world.proxmox.snapshots[_vm_id(world, machine)]
    snapshots[:] = [
        replace(each, name=f"{NAME}-2", description=f"{NAME} 2026-01-01 00:00:00 once more")
        for each in snapshots
    ]


@fault("vm-snapshot-late", f"{NAME} of that machine's VM is from after the first rke2-server start")
def snapshot_late(world: World, machine: str, minutes: int = 5) -> None:
    """A rollback to it would bring back a machine that was applied to."""
    snapshots = world.proxmox.snapshots[_vm_id(world, machine)]
    taken = (first_start(world.seed) + timedelta(minutes=minutes)).replace(microsecond=0)
    snapshots[:] = [replace(each, taken=taken) for each in snapshots]


@fault("vm-snapshot-incomplete", f"the making of {NAME} of that machine's VM was cut short")
def snapshot_incomplete(world: World, machine: str, state: str = "prepare") -> None:
    """The list shows it like a whole one, and no rollback to it is possible."""
    snapshots = world.proxmox.snapshots[_vm_id(world, machine)]
    snapshots[:] = [replace(each, state=state) for each in snapshots]


@fault("vm-elsewhere", "the VM of that machine was moved to another Proxmox node")
def elsewhere(world: World, machine: str) -> None:
    """The node that the inventory names does not know it."""
    vm_id = _vm_id(world, machine)
    others = [each.name for each in world.layout.hypervisors]
    others.remove(world.proxmox.nodes[vm_id])
    world.proxmox.nodes[vm_id] = others[0]


@fault("proxmox-untold", "the inventory does not tell how that Proxmox node is reached")
def untold(world: World, hypervisor: str) -> None:
    """What only a human can see then is stated."""
    if host_of(world, hypervisor).machine.part is not Part.HYPERVISOR:
        raise FaultError(f"`{hypervisor}` is no Proxmox node of this lab")
    world.proxmox.untold.add(hypervisor)


def _vm_id(world: World, name: str) -> int:
    machine = host_of(world, name).machine
    if machine.part is Part.HYPERVISOR:
        raise FaultError(f"`{name}` is a Proxmox node, not a VM")
    return machine.vm_id
