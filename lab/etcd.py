"""The etcd of the lab: members, who is alive, quorum, and clusters that split."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.layout import Machine
    from lab.objects import Store
    from lab.seed import Seed


@dataclass(frozen=True, slots=True)
class Member:
    """One row of `member list`.

    Attributes:
        node: the control plane it runs on; its process decides whether it is alive.
        started: it has published its name once; a dead member stays `started`.
    """

    id: int
    name: str
    node: str
    address: str
    learner: bool = False
    started: bool = True

    @property
    def peer_url(self) -> str:
        """Where other members reach it."""
        return f"https://{self.address}:2380"

    @property
    def client_url(self) -> str:
        """Where clients reach it."""
        return f"https://{self.address}:2379"


@dataclass(slots=True)
class EtcdCluster:
    """Members under one cluster id. `alive` is set by the world from the processes that run.

    Attributes:
        key: names it in the database of each of its members.
        objects: what its API servers read; None means the world's own.
        leaderless: an election is on, nothing is committed.
        led_by: the node whose member leads as long as it lives.
    """

    id: int
    term: int
    revision: int
    members: list[Member] = field(default_factory=list)
    alive: frozenset[str] = frozenset()
    alarm: str | None = None
    key: str = ""
    objects: Store | None = None
    leaderless: bool = False
    led_by: str = ""

    @property
    def voters(self) -> list[Member]:
        """Members that count for quorum."""
        return [member for member in self.members if not member.learner]

    @property
    def quorum(self) -> bool:
        """Whether more than half of the voters live."""
        living = [member for member in self.voters if member.started and member.node in self.alive]
        return len(living) > len(self.voters) // 2

    @property
    def leader(self) -> Member | None:
        """The member that led before, else the first living voter, while there is quorum."""
        if not self.quorum or self.leaderless:
            return None
        living = [m for m in self.voters if m.started and m.node in self.alive]
        return next((m for m in living if m.node == self.led_by), living[0])

    def change(
        self, node: str, *, learner: bool | None = None, started: bool | None = None
    ) -> None:
        """Alter the flags of the member on `node`."""
        self.members = [
            replace(
                member,
                learner=member.learner if learner is None else learner,
                started=member.started if started is None else started,
            )
            if member.node == node
            else member
            for member in self.members
        ]

    def leave(self, node: str) -> None:
        """The member on `node` runs nowhere from now on; it stays a member."""
        self.members = [
            replace(member, node="") if member.node == node else member for member in self.members
        ]


def new_cluster(seed: Seed, name: str, machines: tuple[Machine, ...]) -> EtcdCluster:
    """A healthy cluster of these machines; ids and name suffixes come from the seed."""
    members = [new_member(seed, name, machine) for machine in machines]
    return EtcdCluster(
        key=name,
        id=seed.integer("etcd", name),
        term=2 + len(machines),
        revision=1200 * max(1, len(machines)),
        members=sorted(members, key=lambda member: member.id),
    )


def new_member(seed: Seed, cluster: str, machine: Machine) -> Member:
    """The member a machine is in that cluster."""
    return Member(
        id=seed.integer("etcd", cluster, machine.name),
        name=f"{machine.name}-{seed.hex('etcd name', cluster, machine.name, digits=8)}",
        node=machine.name,
        address=machine.address,
    )
