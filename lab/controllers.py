"""What etcd's leader and the controllers do about members and nodes that come and go."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lab.cluster import nodes
from lab.kinds import stamp

if TYPE_CHECKING:
    from lab.etcd import EtcdCluster
    from lab.host import Host
    from lab.objects import Object
    from lab.world import World


@dataclass(frozen=True, slots=True)
class _Standing:
    """What the leader sees of a node: its member and that member's state."""

    member: str = ""
    reason: str = "NotAMember"

    def condition(self) -> Object:
        voter = self.reason == "MemberNotLearner"
        return {
            "type": "EtcdIsVoter",
            "status": str(voter),
            "reason": self.reason,
            "message": "Node is a voting member of the etcd cluster"
            if voter
            else "Node is not a voting member of the etcd cluster",
        }


@dataclass(slots=True)
class Controllers:
    """Remembers what was written last, so that only changes are written.

    What a scenario put into the objects stays until the state behind it changes.

    Attributes:
        returning: machines that have booted, whose nodes are brought back elsewhere.
    """

    returning: set[str] = field(default_factory=set)
    _standings: dict[tuple[str, str], _Standing] = field(default_factory=dict)
    _posting: dict[tuple[str, str], bool] = field(default_factory=dict)
    _before: dict[tuple[str, str], Object] = field(default_factory=dict)
    _speaking: dict[str, bool] = field(default_factory=dict)
    _due: set[tuple[str, ...]] = field(default_factory=set)

    def begin(self, world: World) -> None:
        """Take the present state as written, and the present leaders as elected."""
        for cluster in world.etcd:
            leader = world.with_life(cluster).leader
            if cluster.led_by not in cluster.alive:
                cluster.led_by = leader.node if leader else ""
            for host in world.control_planes:
                self._standings[cluster.key, host.name] = _standing(cluster, host)
        for cluster in world.etcd:
            for host in world.hosts.values():
                self._posting[cluster.key, host.name] = host.posts
        self._speaking = {host.name: host.posts for host in world.hosts.values()}

    def react(self, world: World) -> None:
        """Elect where a leader died; write, after a while, what has changed."""
        for host in world.hosts.values():
            self._listen(world, host)
        for cluster in list(world.etcd):
            _elect(world, world.with_life(cluster))
            if not cluster.quorum:
                continue
            for host in world.control_planes:
                if self._standings.get((cluster.key, host.name)) != _standing(cluster, host):
                    self._soon(world, world.pace.status, ("member", cluster.key, host.name))
            for host in world.hosts.values():
                posts = host.posts
                if self._posting.get((cluster.key, host.name), True) != posts:
                    wait = world.pace.status if posts else world.pace.grace
                    self._soon(world, wait, ("kubelet", cluster.key, host.name))

    def _listen(self, world: World, host: Host) -> None:
        """Remember when a kubelet falls silent, and when it speaks again."""
        if self._speaking.get(host.name) == host.posts:
            return
        self._speaking[host.name] = host.posts
        if host.posts:
            host.speaks_since = world.now(host)
            world.cluster.speaks(host)
        else:
            host.silent_since = world.now(host)

    def _soon(self, world: World, wait: float, what: tuple[str, ...]) -> None:
        if what in self._due:
            return

        def fire() -> None:
            self._due.discard(what)
            kind, key, name = what
            cluster = next((each for each in world.etcd if each.key == key), None)
            if cluster is not None and world.with_life(cluster).quorum:
                write = self._write if kind == "member" else self._post
                write(world, cluster, world.hosts[name])

        self._due.add(what)
        world.timeline.later(wait, fire)

    def _write(self, world: World, cluster: EtcdCluster, host: Host) -> None:
        store = world.store_of(cluster)
        now = _standing(cluster, host)
        self._standings[cluster.key, host.name] = now
        if store.get("Node", "", host.name) is None:
            return
        condition = now.condition() | {"lastTransitionTime": _now()}
        patch: Object = {"status": {"conditions": [condition]}}
        if now.member:
            patch["metadata"] = {"annotations": {"etcd.rke2.cattle.io/node-name": now.member}}
        store.merge("Node", "", host.name, patch)

    def _post(self, world: World, cluster: EtcdCluster, host: Host) -> None:
        store = world.store_of(cluster)
        key = (cluster.key, host.name)
        posts = host.posts
        node = store.get("Node", "", host.name)
        if node is None or self._posting.get(key, True) == posts:
            return
        self._posting[key] = posts
        if not posts:
            self._before[key] = next(
                (each for each in node["status"]["conditions"] if each["type"] == "Ready"), {}
            )
            nodes.silent(world, store, host.name)
            return
        before = self._before.pop(key, {})
        if host.name in self.returning:
            # A machine that booted says step by step what it is again.
            return
        if before.get("status") == "True":
            nodes.ready(world, store, host.name)
        else:
            why = {name: str(before[name]) for name in ("message", "reason") if name in before}
            nodes.not_ready(world, store, host.name, **why)
        nodes.heard(world, store, host.name)


def _elect(world: World, cluster: EtcdCluster) -> None:
    if cluster.leaderless or not cluster.quorum or cluster.led_by in cluster.alive:
        return
    first = not cluster.led_by
    cluster.leaderless = True

    def elected() -> None:
        cluster.leaderless = False
        cluster.term += 1
        leader = world.with_life(cluster).leader
        cluster.led_by = leader.node if leader else ""

    if first or world.timeline.later(world.pace.election, elected) is None:
        elected()


def _standing(cluster: EtcdCluster, host: Host) -> _Standing:
    member = next((each for each in cluster.members if each.node == host.name), None)
    if member is None:
        return _Standing()
    if host.name not in cluster.alive:
        return _Standing(member.name, "Unhealthy")
    return _Standing(member.name, "MemberIsLearner" if member.learner else "MemberNotLearner")


def _now() -> str:
    return stamp(datetime.now(UTC))
