"""Writes what a runner needs to meet the lab: inventory, known_hosts and the operator's key."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import yaml

from lab import ceph_lan, checkouts, controller, gitops, layout, operations, plan, proxmox, storage
from lab.keys import host_key, user_key
from lab.layout import Machine, Part

if TYPE_CHECKING:
    from pathlib import Path

    from lab.world import World

# Everything answers at once unless a fault says otherwise, so limits only bound the faults.
_LIMITS = {
    "connect": 5.0,
    "command": 5.0,
    "etcd": 5.0,
    "kubectl": 5.0,
    "api_request": 4.0,
    "ping": 5.0,
    "vip_settle": 1.0,
    "vip_poll": 0.1,
    "reconnect_backoff": 0.2,
    "dns_pod_ready": 5.0,
    "dns_utils_ready": 5.0,
    "netpol_probe": 1.0,
    "dns_lookup": 3.0,
    "ceph_port": 1.0,
    "trial_settles": 3.0,
    "trial_poll": 0.1,
    "trial_removal": 10.0,
    "trial_lives": 60.0,
}
# Scaled with the lab's own pace, so that a drill takes seconds; the undo must not fire in a drill
# that goes well.
_DRILL_LIMITS = {
    "vip_failover": 3.0,
    "api_port_open": 5.0,
    "outage_longest": 1.2,
    "outage_window": 1.6,
    "outage_watch": 1.8,
    "undo_failover": 20.0,
    "undo_outage": 20.0,
    "sampler_interval": 0.2,
    "sampler_request": 2.0,
    "sampler_baseline": 0.3,
    "authorization_countdown": 0.1,
    "snapshot_save": 5.0,
    "snapshot_copy": 10.0,
    "server_stop": 3.0,
    "cluster_reset": 3.0,
    "peer_rejoin": 5.0,
    "persist_failure": 1.0,
    "journal_quiet": 1.0,
    "cilium_status": 3.0,
    "drain": 3.0,
    "replicas_back": 3.0,
    "undo_drain": 20.0,
    "reboot": 4.0,
}
# What joins or starts again is there at once unless a fault says otherwise.
_JOIN_LIMITS = {
    "worker_registered": 2.0,
    "worker_registered_poll": 0.2,
    "nodes_ready": 3.0,
    "nodes_ready_poll": 0.2,
    "ready_holds": 1.0,
    "reboot_residue": 2.0,
    "encryption_settles": 1.5,
    "pvc_bound": 3.0,
    "pod_ready": 5.0,
}
# A connectivity test of the lab takes a second, and its flows never pause.
_CILIUM_LIMITS = {
    "hubble": 5.0,
    "argocd_sync": 2.0,
    "argocd_self_heal": 3.0,
    "hubble_growth": 1.5,
    "hubble_growth_poll": 0.1,
    "connectivity_test": 15.0,
    "connectivity_end": 1.0,
}
_NOT_STRETCHED = (
    "vip_poll",
    "reconnect",
    "sampler_interval",
    "authorization",
    "worker_registered_poll",
    "nodes_ready_poll",
    "hubble_growth_poll",
)
_SCENARIO_LIMITS = _LIMITS | {
    "connect": 2.0,
    "command": 2.0,
    "etcd": 2.0,
    "kubectl": 2.0,
    "api_request": 2.0,
    "ping": 2.0,
    "vip_settle": 0.6,
}


def write(world: World, folder: Path, port: int, *, scenario: bool, rtt: float) -> Path:
    """Write the files into `folder`; the inventory's path."""
    key = user_key(world.seed)
    _private(folder / "id_ed25519", key.private)
    _private(folder / "id_ed25519.pub", f"{key.public} operator@lab\n".encode())
    _private(folder / "known_hosts", _known_hosts(world, port).encode())
    path = folder / "inventory.yaml"
    document = _document(world, port, scenario=scenario, rtt=rtt)
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100)
    _private(path, text.encode())
    return path


def _document(world: World, port: int, *, scenario: bool, rtt: float) -> dict[str, Any]:
    bastion, gateway = world.layout.bastion, world.layout.gateway
    limits = (_SCENARIO_LIMITS if scenario else _LIMITS) | _DRILL_LIMITS | _JOIN_LIMITS
    limits |= _CILIUM_LIMITS
    # A round trip more or less must not turn into a missed limit.
    limits = {
        name: value if name.startswith(_NOT_STRETCHED) else round(value + 20 * rtt, 6)
        for name, value in limits.items()
    } | world.limits
    return {
        "name": "lab",
        "rehearsal": True,
        "stop_method": "killall",
        "versions": {
            "rke2": layout.RKE2,
            "etcd": layout.ETCD,
            "cilium": layout.CILIUM,
            "kubernetes": layout.RKE2.partition("+")[0],
            **operations.VERSIONS,
            "argocd": gitops.VERSION,
        },
        "bastion": {
            "name": bastion.name,
            "address": "127.0.0.1",
            "port": port,
            "user": layout.USER,
            "lan_address": bastion.address,
            "key": "id_ed25519",
            "known_hosts": "known_hosts",
            "proxmox_node": bastion.proxmox_node,
            "vm_id": bastion.vm_id,
        },
        "nodes": [_node(machine) for machine in world.layout.nodes],
        "gateway": {
            "name": gateway.name,
            "address": gateway.address,
            "proxmox_node": gateway.proxmox_node,
            "vm_id": gateway.vm_id,
        },
        "network": {
            "vip": f"{layout.VIP}/{layout.VIP_PREFIX}",
            "node_lan": layout.NODE_LAN,
            "pods": layout.PODS,
            "services": layout.SERVICES,
            "ceph": str(ceph_lan.NETWORK),
            "tls_san": list(layout.TLS_SAN),
            "api_port": 6443,
            "supervisor_port": 9345,
        },
        "keepalived": {
            "vrid": 51,
            "interface": "eth0",
            "advert_int": 1,
            "script": "/etc/keepalived/check_rke2_api.sh",
            "script_interval": 2,
            "fall": 3,
            "rise": 2,
        },
        "worker_label": "wetopi.io/role=platform",
        "control_plane_taint": "node-role.kubernetes.io/control-plane=true:NoSchedule",
        "controller": {
            "infrastructure": controller.INFRASTRUCTURE,
            "docs": controller.DOCS,
            "ansible_playbook": controller.ANSIBLE,
            "node_token": controller.NODE_TOKEN,
            "hosts_json": controller.HOSTS_JSON,
            "tmp": controller.TMP,
        },
        "commits": {
            "infrastructure": checkouts.infrastructure().wanted[:12],
            "docs": checkouts.docs().wanted[:12],
        },
        "operations": {
            "infrastructure": "~/wetopi-infrastructure",
            "ansible_playbook": "~/wetopi-infrastructure/.venv/bin/ansible-playbook",
            "hosts_json": "~/wetopi-infrastructure/ansible/inventories/prod/hosts.json",
            "bin": "~/bin",
            "kubeconfig": "~/secrets/rke2-admin-kubeconfig",
            "snapshots": "~/rke2-snapshots",
        },
        "images": {
            "dns_check": "registry.k8s.io/e2e-test-images/jessie-dnsutils:1.7",
            "sched_check": "registry.k8s.io/e2e-test-images/busybox:1.36.1-1",
            "dns_utils": "busybox:1.36",
            "netpol_web": "nginx:1.27",
            "netpol_probe": "busybox:1.36",
            "ceph_writer": "nginx:alpine",
        },
        "names": {
            "proxmox_snapshot": proxmox.NAME,
            "etcd_snapshot": "pre-addons-fase6",
            "ceph_secret": storage.SECRET[1],
            "rbd_host": bastion.name,
            **gitops.NAMES,
        },
        "ceph": {
            "monitors": [ceph_lan.MONITOR],
            "ports": [*ceph_lan.PORTS],
            "gateway_interface": ceph_lan.LEG,
            "pool": storage.POOL,
            "storage_class": storage.CLASS,
        },
        "tofu": plan.FACTS,
        **_proxmox(world),
        "group_vars": checkouts.NAMES,
        "limits": limits,
    }


def _node(machine: Machine) -> dict[str, Any]:
    role = "control-plane" if machine.part is Part.CONTROL_PLANE else "worker"
    node: dict[str, Any] = {"name": machine.name, "address": machine.address, "role": role}
    if machine.priority is not None:
        node["vip_priority"] = machine.priority
    return node | {"proxmox_node": machine.proxmox_node, "vm_id": machine.vm_id}


def _proxmox(world: World) -> dict[str, Any]:
    """How the Proxmox nodes are reached; nothing where a fault gives access to none."""
    told = {
        machine.name: {"address": machine.address}
        for machine in world.layout.hypervisors
        if machine.name not in world.proxmox.untold
    }
    return {"proxmox": told} if told else {}


def _known_hosts(world: World, port: int) -> str:
    lines: list[str] = []
    for host in world.hosts.values():
        if not host.key_known:
            continue
        at = (
            f"[127.0.0.1]:{port},{host.machine.address}"
            if host is world.bastion
            else host.machine.address
        )
        lines.append(f"{at} {host_key(world.seed, host.name).public}\n")
    return "".join(lines)


def _private(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
