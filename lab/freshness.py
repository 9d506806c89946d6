"""What a kubelet writes by the clock: its Lease, and the heartbeats of its node's conditions.

It is worked out when somebody reads: a lab of a hundred nodes has no hundred timers.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lab.kinds import precise, stamp

if TYPE_CHECKING:
    from lab.host import Host
    from lab.objects import Object, Store
    from lab.world import World

# A kubelet that never ran in this lab's time has been silent for so long.
_LONG_AGO = timedelta(minutes=20)
# kubelet's nodeStatusReportFrequency: an unchanged status is written every five minutes.
_REPORT = timedelta(minutes=5)
_OWN = frozenset({"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"})


def attach(world: World, store: Store) -> None:
    """Let who reads Leases and Nodes there see the times of now."""
    store.views["Lease"] = lambda item: _renew(world, item)
    store.views["Node"] = lambda item: _beat(world, item)


def last_posted(world: World, host: Host, every: timedelta) -> datetime:
    """When the host's kubelet last wrote what it writes so often, on its own clock."""
    now = world.now(host)
    if not host.posts:
        return host.silent_since or now - _LONG_AGO
    # Each kubelet has a rhythm of its own.
    phase = world.seed.integer("rhythm", host.name) % 1000 / 1000 * every
    since = (now - datetime.fromtimestamp(0, UTC) - phase) % every
    return max(now - since, host.speaks_since or now - since)


def _renew(world: World, item: Object) -> None:
    metadata = item["metadata"]
    host = world.hosts.get(metadata["name"])
    made = metadata.get("creationTimestamp")
    if host is None or metadata.get("namespace") != "kube-node-lease" or made is None:
        return
    if item["spec"].get("renewTime") != precise(datetime.fromisoformat(made)):
        # A scenario wrote a time of its own.
        return
    stale = world.trouble.stale_leases.get(host.name)
    moment = (
        last_posted(world, host, timedelta(seconds=world.pace.lease))
        if stale is None
        else world.now(host) - timedelta(seconds=stale)
    )
    item["spec"]["renewTime"] = precise(moment)


def _beat(world: World, item: Object) -> None:
    host = world.hosts.get(item["metadata"]["name"])
    if host is None:
        return
    beat = stamp(last_posted(world, host, _REPORT))
    for condition in item["status"].get("conditions", []):
        if condition.get("type") in _OWN:
            condition["lastHeartbeatTime"] = max(beat, condition.get("lastTransitionTime", ""))
