"""What Helm has installed: RKE2's own charts, and later the runbook's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab import layout
from lab.phase import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Release:
    """A release at its last revision."""

    name: str
    chart: str
    app_version: str
    namespace: str = "kube-system"
    revision: int = 1
    status: str = "deployed"


_OF_RKE2 = (
    Release("rke2-coredns", "rke2-coredns-1.46.201", "1.13.1"),
    Release("rke2-metrics-server", "rke2-metrics-server-3.13.105", "0.8.0"),
    Release("rke2-runtimeclasses", "rke2-runtimeclasses-0.1.000", "0.1.0"),
    Release("rke2-snapshot-controller", "rke2-snapshot-controller-4.1.100", "v8.3.0"),
    Release("rke2-snapshot-controller-crd", "rke2-snapshot-controller-crd-4.1.100", "v8.3.0"),
    Release("rke2-traefik", "rke2-traefik-37.1.100", "v3.6.2"),
    Release("rke2-traefik-crd", "rke2-traefik-crd-37.1.100", "v3.6.2"),
)


def installed(phase: Phase) -> Iterator[Release]:
    """The releases that exist at that phase."""
    if phase.reached(Phase.B):
        yield from _OF_RKE2
    if phase.reached(Phase.E):
        yield Release("cilium", f"cilium-{layout.CILIUM}", layout.CILIUM)
    if phase.reached(Phase.F):
        yield Release("ceph-csi-rbd", "ceph-csi-rbd-3.17.1", "3.17.1")
