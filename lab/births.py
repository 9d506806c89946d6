"""What a new, empty cluster holds: the built-in namespaces, and the node that made it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lab import kinds
from lab.phase import Phase
from lab.workloads import namespaces

if TYPE_CHECKING:
    from lab.etcd import EtcdCluster
    from lab.host import Host
    from lab.world import World


def populate(world: World, host: Host, cluster: EtcdCluster) -> None:
    """Put into the cluster's own objects what is there after a first start."""
    store = cluster.objects
    assert store is not None
    now = datetime.now(UTC)
    for name in namespaces(Phase.B):
        namespace = kinds.namespace(world.seed, name, now)
        namespace["metadata"]["uid"] = world.seed.uuid("namespace", name, cluster.key)
        store.put(namespace)
    member = next(each.name for each in cluster.members if each.node == host.name)
    node = kinds.node(
        world.seed, host, now, ready=False, tainted=False, member=member, pod_cidr="10.64.0.0/24"
    )
    node["metadata"]["uid"] = world.seed.uuid("node", host.name, cluster.key)
    store.put(node)
    store.put(kinds.lease(world.seed, host.name, now))
