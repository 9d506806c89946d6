"""The inventory of the running lab (design, section 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from machines import plan, render, switch, tofu

if TYPE_CHECKING:
    from collections.abc import Mapping

    from machines.plan import Machine

LIMITS: Final = {
    "outage_watch": 20,
    "undo_outage": 240,
    "api_port_open": 120,
    "server_stop": 60,
    "cluster_reset": 120,
    "peer_rejoin": 120,
    "journal_quiet": 15,
    "worker_registered": 8,
    "worker_registered_poll": 2,
    "nodes_ready": 12,
    "nodes_ready_poll": 2,
    "drain": 20,
    "replicas_back": 30,
    "undo_drain": 240,
    "reboot": 45,
    "reboot_residue": 12,
    "ready_holds": 10,
}
"""Seconds where the lab waits less than the real cluster, so that what is wrong there is said soon.
A gate's claim holds in this time or is FAIL: none becomes easier to pass, but for `outage_watch`,
`journal_quiet` and `ready_holds`, which are how long the lab is watched."""

OPERATIONS: Final = {
    "infrastructure": f"~/{switch.CHECKOUT}",
    "kubeconfig": "~/secrets/rke2-admin-kubeconfig",
    "bin": "~/bin",
}
IMAGES: Final = {
    "dns_check": "registry.k8s.io/e2e-test-images/jessie-dnsutils:1.7",
    "sched_check": "registry.k8s.io/e2e-test-images/busybox:1.36.1-1",
    "dns_utils": "busybox:1.36",
}

_FIRST_VM: Final = 8001
"""Of the VMs that no configuration describes, so that no plan names them."""


def text(
    *,
    key: str,
    known_hosts: str,
    controller: Mapping[str, str],
    commits: Mapping[str, str],
    group_vars: Mapping[str, str],
    versions: Mapping[str, str],
) -> str:
    """The file; its paths are relative to it.

    The Proxmox nodes are invented, one for each machine: all run on this host.
    """
    vms = {
        machine.name: f"proxmox_node: hypervisor{number}, "
        f"vm_id: {tofu.VM_IDS.get(machine.name, _FIRST_VM + number)}"
        for number, machine in enumerate(plan.MACHINES)
    }
    nodes = "".join(
        f"  - {{{_node(machine)}, {vms[machine.name]}}}\n"
        for machine in plan.MACHINES
        if machine.kind in {plan.Kind.CONTROL_PLANE, plan.Kind.WORKER}
    )
    gateway = plan.GATEWAY
    return f"""# Written by `python -m machines up`; gone with `python -m machines down`.
name: {plan.CLUSTER}
rehearsal: true
stop_method: killall
versions: {_flow(versions)}
bastion: {{{_bastion(key, known_hosts)}, {vms[plan.BASTION.name]}}}
nodes:
{nodes}gateway: {{name: {gateway.name}, address: {gateway.address}, {vms[gateway.name]}}}
network:
  vip: {plan.VIP}
  node_lan: {plan.NODE_LAN}
  pods: {plan.PODS}
  services: {plan.SERVICES}
  ceph: {plan.CEPH_LAN}
  tls_san: [{", ".join(map(str, plan.TLS_SAN))}]
  api_port: {plan.API_PORT}
  supervisor_port: {plan.SUPERVISOR_PORT}
keepalived:
  vrid: {plan.VRID}
  interface: eth0
  advert_int: 1
  script: {render.CHECK_SCRIPT}
  script_interval: 2
  fall: 3
  rise: 2
worker_label: {plan.WORKER_LABEL}
control_plane_taint: {plan.CONTROL_PLANE_TAINT}
controller: {_flow(controller)}
group_vars: {_flow(group_vars)}
commits: {_flow({name: f'"{commit}"' for name, commit in commits.items()})}
operations: {_flow(OPERATIONS)}
images: {_flow(IMAGES)}
ceph:
  monitors: [{plan.MONITOR.address}]
  ports: [{", ".join(map(str, plan.CEPH_PORTS))}]
  gateway_interface: {plan.CEPH_LEG}
  pool: kubernetes
  storage_class: ceph-rbd
tofu: {_flow({name: f"'{value}'" for name, value in tofu.FACTS.items()})}
limits: {_flow(LIMITS)}
"""


def _bastion(key: str, known_hosts: str) -> str:
    return (
        f"name: {plan.BASTION.name}, address: {plan.WAN_BASTION.ip}, port: 22, "
        f"user: {plan.SSH_USER}, lan_address: {plan.BASTION.address}, key: {key}, "
        f"known_hosts: {known_hosts}"
    )


def _node(machine: Machine) -> str:
    priority = f", vip_priority: {machine.vip_priority}" if machine.vip_priority else ""
    return f"name: {machine.name}, address: {machine.address}, role: {machine.kind}{priority}"


def _flow(values: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"
