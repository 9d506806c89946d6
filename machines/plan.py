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


class Phase(StrEnum):
    """How far the cluster is applied: cp01 alone, all three control planes, workers as well."""

    B = "b"
    C = "c"
    D = "d"

    def reaches(self, phase: Phase) -> bool:
        """Whether that phase is applied as well, once this one is."""
        return self >= phase


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine. `address` is its leg on the node LAN; `vip_priority` is keepalived's."""

    name: str
    kind: Kind
    address: IPv4Address
    vip_priority: int = 0

    @property
    def interface(self) -> IPv4Interface:
        """The address with the node LAN's prefix length."""
        return IPv4Interface(f"{self.address}/{NODE_LAN.prefixlen}")


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
MACHINES: Final = (BASTION, *CONTROL_PLANES, *WORKERS)
TLS_SAN: Final = (VIP.ip, *(machine.address for machine in CONTROL_PLANES))


def applied(phase: Phase) -> tuple[Machine, ...]:
    """The control planes that carry RKE2 and keepalived at the end of `phase`, in join order."""
    return CONTROL_PLANES[:1] if phase is Phase.B else CONTROL_PLANES


def joined(phase: Phase) -> tuple[Machine, ...]:
    """The workers that have joined at the end of `phase`, in join order."""
    return WORKERS if phase is Phase.D else ()


def find(name: str) -> Machine:
    """The machine of that name; an unambiguous ending will do (`cp01`, `ops01`).

    Raises:
        LabError: no machine, or more than one, has that ending.
    """
    matches = [machine for machine in MACHINES if machine.name.endswith(name)] if name else []
    if len(matches) == 1:
        return matches[0]
    known = ", ".join(machine.name for machine in MACHINES)
    raise LabError(f"no machine is called {name!r}; the lab has {known}")
