"""Faults of etcd."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab import actions
from lab.etcd import EtcdCluster, Member, new_cluster
from lab.faults.registry import FaultError, fault, host_of

if TYPE_CHECKING:
    from lab.world import World


@fault("etcd-member-down", "etcd is dead on the node; its member still prints `started`")
def member_down(world: World, node: str) -> None:
    """The static pod's object stays Running."""
    actions.stop_process(host_of(world, node), "etcd")


@fault("etcd-quorum-lost", "etcd is dead on these nodes, two of three")
def quorum_lost(world: World, nodes: list[str] | None = None) -> None:
    """Lists and writes time out."""
    for name in nodes or [machine.name for machine in world.layout.control_planes[1:]]:
        actions.stop_process(host_of(world, name), "etcd")


@fault("etcd-learner", "the node's member is a learner; without a node, a fourth member is one")
def learner(world: World, node: str | None = None) -> None:
    """A member without a vote."""
    for cluster in world.etcd[:1]:
        if node is not None:
            cluster.change(host_of(world, node).name, learner=True)
        else:
            cluster.members.append(_stranger(world, cluster, learner=True, started=True))


@fault("etcd-unstarted", "a member was added and never started")
def unstarted(world: World, node: str | None = None) -> None:
    """Empty name; missing in `endpoint health --cluster`."""
    for cluster in world.etcd[:1]:
        if node is not None:
            cluster.change(host_of(world, node).name, started=False)
        else:
            cluster.members.append(_stranger(world, cluster, learner=False, started=False))


@fault("etcd-extra-member", "a fourth voting member that is dead")
def extra_member(world: World) -> None:
    """A node that left without being removed."""
    for cluster in world.etcd[:1]:
        cluster.members.append(_stranger(world, cluster, learner=False, started=True))


@fault("etcd-member-missing", "the node's member was removed; its process goes on alone")
def member_missing(world: World, node: str) -> None:
    """The others count one less."""
    host = host_of(world, node)
    for cluster in world.etcd[:1]:
        cluster.members = [member for member in cluster.members if member.node != host.name]
    world.etcd.append(new_cluster(world.seed, "left alone", (host.machine,)))


@fault(
    "etcd-two-clusters",
    "these nodes form a second cluster; every side lists only its own members as started",
)
def two_clusters(world: World, nodes: list[str]) -> None:
    """Two cluster ids, all healthy (rke2#2858)."""
    if not world.etcd:
        return
    machines = tuple(host_of(world, name).machine for name in nodes)
    first = world.etcd[0]
    first.members = [member for member in first.members if member.node not in nodes]
    world.etcd.append(new_cluster(world.seed, "second", machines))


@fault(
    "etcd-split-brain",
    "these nodes run on their old database: they list all three members, under another cluster id",
)
def split_brain(world: World, nodes: list[str]) -> None:
    """All three readyz say ok; only the cluster id differs (measured: real-run 13)."""
    if not world.etcd:
        return
    for name in nodes:
        host_of(world, name)
    old = new_cluster(world.seed, "old", world.layout.control_planes)
    first = world.etcd[0]
    first.members = [member for member in first.members if member.node not in nodes]
    # A member of the old cluster on a node that left it is dead there, yet listed as started.
    strangers = [
        replace(member, node=member.node if member.node in nodes else "") for member in old.members
    ]
    world.etcd.append(EtcdCluster(old.id, old.term, old.revision, strangers, key="old"))


@fault("etcd-alarm", "etcd has an alarm (NOSPACE, CORRUPT): health is false everywhere")
def alarm(world: World, alarm: str = "NOSPACE") -> None:
    """The database is full."""
    if alarm not in ("NOSPACE", "CORRUPT"):
        raise FaultError(f"`alarm` is NOSPACE or CORRUPT, not `{alarm}`")
    for cluster in world.etcd:
        cluster.alarm = alarm


def _stranger(world: World, cluster: EtcdCluster, *, learner: bool, started: bool) -> Member:
    return Member(
        id=world.seed.integer("etcd", "stranger", str(cluster.id)),
        name=f"rke-cp04-{world.seed.hex('stranger', digits=8)}",
        node="rke-cp04",
        address="10.72.0.24",
        learner=learner,
        started=started,
    )
