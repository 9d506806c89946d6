"""The machines and addresses of the lab: the runbook's own names and node LAN, a documentation WAN.

Source: apply runbook, section 0 items 6 and 7, phase B (keepalived design facts).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Final

from machines.errors import LabError

CLUSTER: Final = "wetopi-machines"
RKE2_VERSION: Final = "v1.36.3+rke2r1"
ETCD_VERSION: Final = "3.6.14"
COREDNS_VERSION: Final = "1.13.1"
CILIUM_VERSION: Final = "1.20.1"

NODE_LAN: Final = IPv4Network("10.72.0.0/23")
PODS: Final = IPv4Network("10.64.0.0/14")
SERVICES: Final = IPv4Network("10.68.0.0/16")
VIP: Final = IPv4Interface("10.72.0.20/23")
DNS: Final = SERVICES.network_address + 10
API_SERVICE: Final = SERVICES.network_address + 1
API_PORT: Final = 6443
SUPERVISOR_PORT: Final = 9345
VRID: Final = 51

WAN_BASTION: Final = IPv4Interface("192.0.2.10/24")
WAN_CONTROLLER: Final = IPv4Interface("192.0.2.2/24")
WAN_GATEWAY: Final = IPv4Interface("192.0.2.31/24")
WAN_ROUTER: Final = IPv4Interface("192.0.2.1/24")
"""Where the Internet would begin: it says of everything else that it cannot be reached."""

CEPH_LAN: Final = IPv4Network("192.168.96.0/20")
CEPH_GATEWAY: Final = IPv4Interface("192.168.96.31/20")
"""The gateway's allocated address in Ceph's network (runbook, F1 gate a)."""
CEPH_LEG: Final = "eth2"
CEPH_PORTS: Final = (3300, 6789)
SSH_USER: Final = "ubuntu"

WORKER_LABEL: Final = "wetopi.io/role=platform"
CONTROL_PLANE_TAINT: Final = "node-role.kubernetes.io/control-plane=true:NoSchedule"

IN_CONTAINER: Final = "/usr/local/lib/machines-lab/in-container"
"""What kwok is made to run whatever is exec'd with: namespace, pod, container, command."""


class Kind(StrEnum):
    """What a machine is in the cluster."""

    BASTION = "bastion"
    CONTROL_PLANE = "control-plane"
    WORKER = "worker"
    GATEWAY = "gateway"
    MONITOR = "monitor"


class Phase(StrEnum):
    """How far the cluster is applied.

    Not at all, cp01 alone, all control planes, workers too, the gateway's leg into Ceph's network.
    """

    ZERO = "0"
    B = "b"
    C = "c"
    D = "d"
    F = "f"

    def reaches(self, phase: Phase) -> bool:
        """Whether that phase is applied as well, once this one is."""
        return self >= phase


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine. `address` is its leg on `lan`; `vip_priority` is keepalived's."""

    name: str
    kind: Kind
    address: IPv4Address
    vip_priority: int = 0

    @property
    def lan(self) -> IPv4Network:
        """The network it stands in: the node LAN, but for Ceph's machines."""
        return CEPH_LAN if self.kind is Kind.MONITOR else NODE_LAN

    @property
    def interface(self) -> IPv4Interface:
        """The address with its network's prefix length."""
        return IPv4Interface(f"{self.address}/{self.lan.prefixlen}")


BASTION: Final = Machine("wetopi-ops01", Kind.BASTION, IPv4Address("10.72.0.10"))
CONTROL_PLANES: Final = (
    Machine("rke-cp01", Kind.CONTROL_PLANE, IPv4Address("10.72.0.21"), 150),
    Machine("rke-cp02", Kind.CONTROL_PLANE, IPv4Address("10.72.0.22"), 100),
    Machine("rke-cp03", Kind.CONTROL_PLANE, IPv4Address("10.72.0.23"), 50),
)
WORKERS: Final = (
    Machine("rke-platform01", Kind.WORKER, IPv4Address("10.72.0.41")),
    Machine("rke-platform02", Kind.WORKER, IPv4Address("10.72.0.42")),
    Machine("rke-platform03", Kind.WORKER, IPv4Address("10.72.0.43")),
)
GATEWAY: Final = Machine("wetopi-natgw01", Kind.GATEWAY, IPv4Address("10.72.0.2"))
MONITOR: Final = Machine("ceph-mon01", Kind.MONITOR, IPv4Address("192.168.96.10"))
MACHINES: Final = (BASTION, *CONTROL_PLANES, *WORKERS, GATEWAY)
"""What the inventory knows by name, and every `up` starts."""

ON_WAN: Final = {BASTION: WAN_BASTION, GATEWAY: WAN_GATEWAY}
TLS_SAN: Final = (VIP.ip, *(machine.address for machine in CONTROL_PLANES))


def applied(phase: Phase) -> tuple[Machine, ...]:
    """The control planes that carry RKE2 and keepalived at the end of `phase`, in join order."""
    if phase is Phase.ZERO:
        return ()
    return CONTROL_PLANES[:1] if phase is Phase.B else CONTROL_PLANES


def stations(phase: Phase) -> tuple[Phase, ...]:
    """The earlier phases from which the lab can go on to `phase`."""
    return tuple(each for each in (Phase.D, Phase.C, Phase.ZERO) if each < phase)


def joined(phase: Phase) -> tuple[Machine, ...]:
    """The workers that have joined at the end of `phase`, in join order."""
    return WORKERS if phase.reaches(Phase.D) else ()


def running(phase: Phase) -> tuple[Machine, ...]:
    """The machines that run at the end of `phase`."""
    return (*MACHINES, MONITOR) if phase.reaches(Phase.F) else MACHINES


def find(name: str) -> Machine:
    """The machine of that name; an unambiguous ending will do (`cp01`, `ops01`).

    Raises:
        LabError: no machine, or more than one, has that ending.
    """
    every = (*MACHINES, MONITOR)
    matches = [machine for machine in every if machine.name.endswith(name)] if name else []
    if len(matches) == 1:
        return matches[0]
    known = ", ".join(machine.name for machine in every)
    raise LabError(f"no machine is called {name!r}; the lab has {known}")
