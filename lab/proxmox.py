"""The VMs as their Proxmox nodes know them: where each is, and its snapshots (runbook 0.6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from lab.layout import Layout
    from lab.seed import Seed

NAME: Final = "pre-rke2-apply"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot of a VM.

    Attributes:
        state: `prepare` or `delete` of one whose making or removal was cut short; empty is whole.
    """

    name: str
    taken: datetime
    description: str = ""
    state: str = ""


@dataclass(slots=True)
class Proxmox:
    """All VMs.

    Attributes:
        nodes: the Proxmox node of each VM, by its id.
        snapshots: of each VM, by its id; each is the parent of the next.
        untold: the Proxmox nodes whose access the inventory does not tell.
    """

    nodes: dict[int, str] = field(default_factory=dict)
    snapshots: dict[int, list[Snapshot]] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)


def prepared(seed: Seed, layout: Layout) -> Proxmox:
    """Every VM where the runbook's table has it, with its snapshot from before phase B."""
    proxmox = Proxmox()
    for order, machine in enumerate(layout.machines):
        proxmox.nodes[machine.vm_id] = machine.proxmox_node
        taken = seed.born - timedelta(minutes=110) + timedelta(seconds=7 * order)
        proxmox.snapshots[machine.vm_id] = [Snapshot(NAME, taken.replace(microsecond=0))]
    return proxmox


def first_start(seed: Seed) -> datetime:
    """When rke2-server starts on the first control plane, once phase B is applied."""
    return seed.born - timedelta(minutes=39, seconds=12)
