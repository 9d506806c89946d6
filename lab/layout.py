"""Which machines the lab has: names, addresses and roles of the runbook's table of VMs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address

VIP = "10.72.0.20"
VIP_PREFIX = 23
NODE_LAN = "10.72.0.0/23"
LAN_BROADCAST = "10.72.1.255"
PODS = "10.64.0.0/14"
SERVICES = "10.68.0.0/16"
KUBERNETES = "10.68.0.1"
DNS = "10.68.0.10"
CLUSTER_DOMAIN = "cluster.local"
TLS_SAN = (VIP, "10.72.0.21", "10.72.0.22", "10.72.0.23")
RKE2 = "v1.36.3+rke2r1"
ETCD = "3.6.14"
CILIUM = "1.20.1"
USER = "ubuntu"
HOME = f"/home/{USER}"

_PRIORITIES = (150, 100, 50)
_CONTROL_PLANE_HYPERVISORS = ("ns3243421", "ns3226939", "ns3214108")
_WORKER_HYPERVISORS = ("ns31826929", "ns3226931", "ns31826925")


class Part(StrEnum):
    """What a machine is for."""

    BASTION = "bastion"
    GATEWAY = "gateway"
    CONTROL_PLANE = "control-plane"
    WORKER = "worker"
    HYPERVISOR = "hypervisor"


@dataclass(frozen=True, slots=True)
class Machine:
    """One VM, or a Proxmox node, which lives on itself and has no id.

    Attributes:
        priority: keepalived's, control planes only.
    """

    name: str
    address: str
    part: Part
    proxmox_node: str
    vm_id: int
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """All machines; nodes are the control planes and then the workers."""

    bastion: Machine
    gateway: Machine
    nodes: tuple[Machine, ...]

    @property
    def control_planes(self) -> tuple[Machine, ...]:
        """The three control planes, the bootstrapping one first."""
        return tuple(node for node in self.nodes if node.part is Part.CONTROL_PLANE)

    @property
    def workers(self) -> tuple[Machine, ...]:
        """The platform workers."""
        return tuple(node for node in self.nodes if node.part is Part.WORKER)

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Every machine with an address on the node LAN."""
        return (self.bastion, self.gateway, *self.nodes)

    @property
    def hypervisors(self) -> tuple[Machine, ...]:
        """The Proxmox nodes that the machines live on: servers at a provider, outside the LAN."""
        names = dict.fromkeys(machine.proxmox_node for machine in self.machines)
        first = IPv4Address("203.0.113.11")
        return tuple(
            Machine(name, str(first + number), Part.HYPERVISOR, name, 0)
            for number, name in enumerate(names)
        )

    @classmethod
    def of(cls, nodes: int) -> Layout:
        """Three control planes and `nodes - 3` workers.

        Raises:
            ValueError: not between 3 and 300.
        """
        if not 3 <= nodes <= 300:
            raise ValueError(f"the lab has 3 to 300 nodes, not {nodes}")
        return cls(
            Machine("wetopi-ops01", "10.72.0.10", Part.BASTION, "ns3249468", 8001),
            Machine("wetopi-natgw01", "10.72.0.2", Part.GATEWAY, "ns3243421", 8031),
            (*_control_planes(), *_workers(nodes - 3)),
        )


def _control_planes() -> list[Machine]:
    return [
        Machine(
            f"rke-cp{number:02}",
            f"10.72.0.{20 + number}",
            Part.CONTROL_PLANE,
            _CONTROL_PLANE_HYPERVISORS[number - 1],
            8010 + number,
            _PRIORITIES[number - 1],
        )
        for number in (1, 2, 3)
    ]


def _workers(count: int) -> list[Machine]:
    return [
        Machine(
            f"rke-platform{number:02}",
            str(IPv4Address("10.72.0.40") + number),
            Part.WORKER,
            _WORKER_HYPERVISORS[(number - 1) % 3],
            # The gateway's id sits among the workers'.
            8020 + number if number <= 10 else 8090 + number,
        )
        for number in range(1, count + 1)
    ]
