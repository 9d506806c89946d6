"""Named faults of the lab: what can be wrong with a cluster, changed in the model."""

from __future__ import annotations

from lab.faults import (
    access,
    answers,
    api,
    cilium,
    connectivity,
    control_plane,
    drills,
    etcd,
    gitops,
    hubble,
    keepalived,
    nodes,
    operations,
    policies,
    reboots,
    restore,
    storage,
    vip,
    workers,
    workloads,
)
from lab.faults.registry import FAULTS, Fault, FaultError

__all__ = [
    "FAULTS",
    "Fault",
    "FaultError",
    "access",
    "answers",
    "api",
    "cilium",
    "connectivity",
    "control_plane",
    "drills",
    "etcd",
    "gitops",
    "hubble",
    "keepalived",
    "nodes",
    "operations",
    "policies",
    "reboots",
    "restore",
    "storage",
    "vip",
    "workers",
    "workloads",
]
