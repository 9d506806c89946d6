"""Which etcd member a server is when it starts: its old one, a new one, or none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from lab import databases, journal, layout
from lab.births import populate
from lab.databases import Damage, Owner
from lab.etcd import EtcdCluster, Member
from lab.objects import Store
from lab.trouble import Rejoin
from lab.world import SERVER, SUPERVISOR_PORT, Door

if TYPE_CHECKING:
    from lab.host import Host
    from lab.world import World


async def take_up(world: World, host: Host) -> bool:
    """Start the member that the database names, or become another one; false when it dies."""
    owner = databases.found(host)
    how = world.trouble.rejoin.get(host.name, Rejoin.WELL)
    if owner is None and how is Rejoin.OLD_DATABASE:
        for old in world.etcd[1:]:
            if (former := _by_address(old, host)) is not None:
                databases.create(host, old, former)
                _run(world, host, old, former)
                return True
    if owner is None:
        if bootstraps(host) or how is Rejoin.OWN_CLUSTER:
            await _new_cluster(world, host)
            return True
        return await _join(world, host)
    if isinstance(owner, Damage):
        return await _broken(world, host, owner)
    claimed = _claimed(world, owner) or _assigned(world, host)
    if claimed is None:
        return _removed(world, host)
    cluster, member = claimed
    journal.logrus(world, host, "info", "Starting etcd for existing cluster member")
    _run(world, host, cluster, member)
    if member.learner:
        await _promote(world, host)
    if cluster is not world.etcd[0]:
        _mismatch(world, host, cluster)
    return True


def _claimed(world: World, owner: Owner) -> tuple[EtcdCluster, Member] | None:
    return next(
        (
            (cluster, member)
            for cluster in world.etcd
            for member in cluster.members
            if cluster.key == owner.cluster and member.id == owner.member
        ),
        None,
    )


def _assigned(world: World, host: Host) -> tuple[EtcdCluster, Member] | None:
    return next(
        (
            (cluster, member)
            for cluster in world.etcd
            for member in cluster.members
            if member.node == host.name
        ),
        None,
    )


def _by_address(cluster: EtcdCluster, host: Host) -> Member | None:
    address = host.machine.address
    return next((each for each in cluster.members if each.address == address), None)


def learns(world: World, host: Host) -> bool:
    """Whether the host's member is a learner still."""
    assigned = _assigned(world, host)
    return assigned is not None and assigned[1].learner


def _run(world: World, host: Host, cluster: EtcdCluster, member: Member) -> None:
    """The member is this host's from now on; whatever it was before is dead."""
    if "etcd" in host.processes and member.node == host.name:
        return
    for each in world.etcd:
        each.leave(host.name)
    cluster.members = [
        replace(other, node=host.name) if other.id == member.id else other
        for other in cluster.members
    ]
    host.processes |= {"etcd"}
    line = '{"level":"info","caller":"embed/etcd.go:323","msg":"starting an etcd server"}'
    journal.etcd(world, host, line, fresh=True)
    world.timeline.changed()


async def _join(world: World, host: Host) -> bool:
    """Ask the server behind the VIP to be taken in, first as a learner."""
    how = world.trouble.rejoin.get(host.name, Rejoin.WELL)
    said = False
    while (cluster := _reachable(world, host)) is None or how is Rejoin.FINDS_NOBODY:
        if not said:
            journal.logrus(
                world,
                host,
                "error",
                f'Failed to get CA certs: Get "https://{layout.VIP}:9345/cacerts": dial tcp '
                f"{layout.VIP}:9345: connect: connection refused",
            )
        said = True
        await world.timeline.pause(world.pace.join)
    if _by_address(cluster, host) is not None:
        text = "etcd cluster join failed: duplicate node name found, please use a unique name for "
        journal.logrus(world, host, "error", f'Shutdown request received: "{text}this node"')
        return False
    member = _newcomer(world, host, cluster, learner=True)
    journal.logrus(
        world, host, "info", f"Adding member {member.name}={member.peer_url} to etcd cluster"
    )
    databases.create(host, cluster, member)
    cluster.members = sorted([*cluster.members, member], key=lambda each: each.id)
    _run(world, host, cluster, member)
    text = "Failed to check local etcd status for learner management: context deadline exceeded"
    journal.logrus(world, host, "error", text)
    await _promote(world, host)
    return True


def _reachable(world: World, host: Host) -> EtcdCluster | None:
    reached = world.connect(host, layout.VIP, SUPERVISOR_PORT)
    if reached.door is not Door.OPEN or reached.host is None or not world.api_ready(reached.host):
        return None
    cluster = world.cluster_of(reached.host)
    busy = cluster is None or any(member.learner for member in cluster.members)
    return None if busy else cluster


def _newcomer(world: World, host: Host, cluster: EtcdCluster, *, learner: bool) -> Member:
    world.serial += 1
    count = str(world.serial)
    return Member(
        id=world.seed.integer("etcd", cluster.key, host.name, count),
        name=f"{host.name}-{world.seed.hex('etcd name', host.name, count, digits=8)}",
        node=host.name,
        address=host.machine.address,
        learner=learner,
    )


async def _promote(world: World, host: Host) -> None:
    if world.trouble.rejoin.get(host.name) is Rejoin.STAYS_LEARNER:
        await world.timeline.pause(math.inf)
    await world.timeline.pause(world.pace.promote)
    cluster = world.cluster_of(host)
    if cluster is not None:
        cluster.change(host.name, learner=False)
    world.timeline.changed()


async def _new_cluster(world: World, host: Host) -> None:
    """Come up as a cluster of one, empty but for what every API server makes itself."""
    world.serial += 1
    key = f"alone {host.name} {world.serial}"
    cluster = EtcdCluster(world.seed.integer("etcd", key), 2, 4, key=key, objects=Store())
    member = _newcomer(world, host, cluster, learner=False)
    cluster.members.append(member)
    world.etcd.insert(0 if bootstraps(host) else len(world.etcd), cluster)
    journal.logrus(world, host, "info", "Starting etcd for new cluster, cluster-reset=false")
    databases.create(host, cluster, member)
    _run(world, host, cluster, member)
    populate(world, host, cluster)


def bootstraps(host: Host) -> bool:
    """Whether the host's config.yaml names no server to join."""
    return b"\nserver:" not in b"\n" + host.files.read("/etc/rancher/rke2/config.yaml")


async def _broken(world: World, host: Host, kind: Damage) -> bool:
    if kind is Damage.TRUNCATED:
        journal.write(world, host, SERVER, "unexpected fault address 0x7f47cc095000")
        journal.write(world, host, SERVER, "fatal error: fault")
        journal.write(
            world, host, SERVER, "[signal SIGBUS: bus error code=0x2 addr=0x7f47cc095000]"
        )
        return False
    text = "Failed to test etcd connection: failed to get etcd status: context deadline exceeded"
    while True:
        journal.logrus(world, host, "info", text)
        await world.timeline.pause(world.pace.restart)


def _removed(world: World, host: Host) -> bool:
    text = "the member has been permanently removed from the cluster"
    journal.etcd(
        world, host, f'{{"level":"warn","msg":"server error","error":"{text}"}}', fresh=True
    )
    journal.logrus(world, host, "error", "etcd exited: server is stopping")
    return False


def _mismatch(world: World, host: Host, cluster: EtcdCluster) -> None:
    line = (
        '{"level":"error","caller":"rafthttp/util.go:99","msg":"request sent was ignored due to '
        f'cluster ID mismatch","remote-peer-cluster-id":"{world.etcd[0].id:x}",'
        f'"local-member-cluster-id":"{cluster.id:x}"}}'
    )
    journal.etcd(world, host, line)
