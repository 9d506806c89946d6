"""The names of Services, as CoreDNS answers for them in the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import layout
from lab.cluster import ways

if TYPE_CHECKING:
    from lab.objects import Object, Store

_ZONE = f".svc.{layout.CLUSTER_DOMAIN}"


def answered(store: Store) -> bool:
    """Whether a CoreDNS is behind the resolver's address."""
    service = ways.service_at(store, layout.DNS)
    return service is not None and bool(ways.backends(store, service))


def addresses(store: Store, name: str) -> tuple[str, ...] | None:
    """The IPv4 addresses of exactly that name, none if it has no such record; None: NXDOMAIN."""
    host, _, zone = name.rstrip(".").lower().partition(".")
    namespace, dot, rest = zone.partition(".")
    service = store.peek("Service", namespace, host)
    if service is None or f"{dot}{rest}" != _ZONE:
        return None
    address = service["spec"].get("clusterIP", "")
    if address != "None":
        return (address,)
    return tuple(pod["status"]["podIP"] for pod in ways.backends(store, service))


def search_list(pod: Object) -> tuple[str, ...]:
    """The suffixes of the pod's resolv.conf."""
    domain = layout.CLUSTER_DOMAIN
    return (f"{pod['metadata']['namespace']}.svc.{domain}", f"svc.{domain}", domain)


def resolved(store: Store, pod: Object, name: str) -> tuple[str, tuple[str, ...]] | None:
    """What a libc makes of a name there: the name that was found, and its addresses."""
    candidates = [f"{name}.{suffix}" for suffix in search_list(pod)]
    for candidate in (name,) if name.endswith(".") else (*candidates, name):
        found = addresses(store, candidate)
        if found:
            return candidate.rstrip("."), found
    return None
