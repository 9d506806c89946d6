"""The state of the whole lab cluster, and what follows from it.

Commands and API calls read this state and change it: a stopped keepalived moves the VIP, a dead
etcd member makes its own API not ready. Answers are never canned (contract: design, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING

from lab import freshness, gitops, layout
from lab.ceph_lan import CephLan, inside, is_gateway
from lab.cilium import HUBBLE_PORT, Cilium, serves_hubble
from lab.cluster.containers import Containers
from lab.connectivity import Connectivity
from lab.controllers import Controllers
from lab.election import Election
from lab.flows import Flows
from lab.gitops import GitOps
from lab.host import Host, Link, Ssh
from lab.operations import Operations
from lab.pace import Pace
from lab.proxmox import Proxmox
from lab.storage import Storage
from lab.timeline import Timeline
from lab.trouble import Trouble

if TYPE_CHECKING:
    from lab.apirules import ApiRule
    from lab.cluster.manager import Manager
    from lab.commands import CommandLog
    from lab.etcd import EtcdCluster
    from lab.layout import Layout
    from lab.objects import Store
    from lab.phase import Phase
    from lab.pki import Pki
    from lab.replies import Noise, Reply, Severing
    from lab.seed import Seed

KEEPALIVED = "keepalived.service"
SERVER = "rke2-server.service"
AGENT = "rke2-agent.service"

SSH_PORT = 22
API_PORT = 6443
SUPERVISOR_PORT = 9345

# Which process listens on which port of a node.
LISTENERS = {
    API_PORT: "kube-apiserver",
    SUPERVISOR_PORT: "supervisor",
    2379: "etcd",
    2380: "etcd",
    10250: "kubelet",
}


class Door(Enum):
    """What a TCP connection attempt meets."""

    OPEN = auto()
    REFUSED = auto()
    NO_ROUTE = auto()
    DROPPED = auto()


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a connection attempt ended; `host` is set when a machine answered, also with RST."""

    door: Door
    host: Host | None = None


@dataclass(slots=True)
class World:
    """Everything the lab knows.

    Attributes:
        etcd: one cluster in health; a split makes more. Every control plane belongs to one.
        vip_override: holders that a fault decrees whatever the election says.
        replies: wire-level answers that come before the model's.
        bastion_allowance: new connections the bastion still takes; None is no limit.
        admin_expired: the admin certificate in every rke2.yaml is out of date.
        ping_lost: how many pings to the VIP are lost, whoever sends them.
        noises: what commands print on stderr beside their answers.
        severings: links that break when a command has done its work.
        api_rules: what is wrong with single requests to the API.
        limits: limits of the inventory that a fault or a scenario changes.
        trouble: what goes wrong when something is changed, not before.
        serial: counts what came to be after the build, so that it gets names of its own.
        cluster: scheduler, kubelets and controllers of the Kubernetes objects.
        containers: what runs in pods, and what it has printed.
        log: where what the lab does not know is recorded when no command waits for it.
        flows: what passed between pods, for Hubble.
        cilium: what faults have done to Cilium.
        operations: what lies on ops01 and is more than files.
        connectivity: what the next connectivity tests find, by decree.
        ceph_lan: the network beyond the gateway.
        storage: the storage beyond the nodes, and Secrets as etcd keeps them.
        gitops: what Argo CD does.
        proxmox: the VMs as their Proxmox nodes know them.
    """

    seed: Seed
    layout: Layout
    phase: Phase
    hosts: dict[str, Host]
    etcd: list[EtcdCluster]
    objects: Store
    pki: Pki
    cluster: Manager
    vip_override: tuple[str, ...] | None = None
    replies: list[Reply] = field(default_factory=list)
    bastion_allowance: int | None = None
    bastion_resets: bool = False
    admin_expired: bool = False
    ping_lost: int = 0
    noises: list[Noise] = field(default_factory=list)
    severings: list[Severing] = field(default_factory=list)
    api_rules: list[ApiRule] = field(default_factory=list)
    limits: dict[str, float] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    timeline: Timeline = field(default_factory=Timeline)
    election: Election = field(default_factory=Election)
    controllers: Controllers = field(default_factory=Controllers)
    trouble: Trouble = field(default_factory=Trouble)
    containers: Containers = field(default_factory=Containers)
    log: CommandLog | None = None
    serial: int = 0
    flows: Flows = field(default_factory=Flows)
    cilium: Cilium = field(default_factory=Cilium)
    operations: Operations = field(default_factory=Operations)
    connectivity: Connectivity = field(default_factory=Connectivity)
    ceph_lan: CephLan = field(default_factory=CephLan)
    storage: Storage = field(default_factory=Storage)
    gitops: GitOps = field(default_factory=GitOps)
    proxmox: Proxmox = field(default_factory=Proxmox)

    def begin(self) -> None:
        """Let time pass: from now on, consequences take as long as `pace` says."""
        self.timeline.begin()
        for host in self.hosts.values():
            host.files.clock = lambda host=host: self.now(host).timestamp()
        self.controllers.begin(self)
        self.cluster.begin(self)
        gitops.begin(self)
        self.election.begin(self)
        self.timeline.watch(lambda: self.controllers.react(self))
        self.timeline.watch(lambda: self.election.react(self))

    @property
    def bastion(self) -> Host:
        """The host with the public address."""
        return self.hosts[self.layout.bastion.name]

    @property
    def control_planes(self) -> list[Host]:
        """The control planes, applied or not."""
        return [self.hosts[machine.name] for machine in self.layout.control_planes]

    @property
    def first_control_plane(self) -> Host:
        """The one that bootstraps."""
        return self.control_planes[0]

    def now(self, host: Host | None = None) -> datetime:
        """The time on that host's clock."""
        offset = host.clock_offset if host else 0.0
        return datetime.now(UTC) + timedelta(seconds=offset)

    def cluster_of(self, host: Host) -> EtcdCluster | None:
        """The etcd cluster whose member runs, or ran, on that host."""
        for cluster in self.etcd:
            if any(member.node == host.name for member in cluster.members):
                return self.with_life(cluster)
        return None

    def with_life(self, cluster: EtcdCluster) -> EtcdCluster:
        """The cluster, knowing which of its members run now."""
        cluster.alive = frozenset(
            host.name
            for host in self.control_planes
            if "etcd" in host.processes and host.link is Link.UP
        )
        return cluster

    def store_of(self, cluster: EtcdCluster) -> Store:
        """The objects in that cluster: its own, else the world's."""
        store = self.objects if cluster.objects is None else cluster.objects
        if not store.views:
            freshness.attach(self, store)
        return store

    def objects_of(self, host: Host) -> Store:
        """The objects as the API of that control plane reads them from its own etcd."""
        cluster = self.cluster_of(host)
        return self.objects if cluster is None else self.store_of(cluster)

    def api_ready(self, host: Host) -> bool:
        """Whether the host's own API says `ok`: it needs its own etcd member and quorum."""
        if "kube-apiserver" not in host.processes or host.api_hangs:
            return False
        return self.etcd_serves(host)

    def etcd_serves(self, host: Host) -> bool:
        """Whether the member on that host can commit."""
        if "etcd" not in host.processes:
            return False
        cluster = self.cluster_of(host)
        return cluster is not None and cluster.quorum and not cluster.leaderless

    def check_passes(self, host: Host) -> bool:
        """Whether keepalived's check script succeeds there (runbook, phase B)."""
        return self.api_ready(host) and "supervisor" in host.processes

    def holders(self) -> list[Host]:
        """The control planes with the VIP on an interface, by keepalived's own rules."""
        if self.vip_override is not None:
            return [self.hosts[name] for name in self.vip_override]
        masters = self.election.masters(self)
        return [host for host in self.control_planes if host.stuck_vip or host.name in masters]

    def holds_vip(self, host: Host) -> bool:
        """Whether the VIP is on one of the host's interfaces."""
        return any(holder is host for holder in self.holders())

    def owner_of(self, address: str, source: Host) -> Host | None:
        """The machine that answers ARP for an address, as `source` would see it."""
        if address == layout.VIP:
            holders = [host for host in self.holders() if host.link is Link.UP]
            if source in holders:
                return source
            return holders[0] if holders else None
        for host in self.hosts.values():
            if address in (host.machine.address, *(extra.address for extra in host.addresses)):
                return host
        return None

    def connect(self, source: Host, address: str, port: int) -> Reached:
        """What a TCP connection from `source` meets."""
        local = address.startswith("127.")
        if not local and inside(address):
            return self._connect_monitor(source, address, port)
        host = source if local else self.owner_of(address, source)
        if host is None or (host.link is Link.DOWN and host is not source):
            return Reached(Door.NO_ROUTE)
        if host.link is Link.DROPPED and host is not source:
            return Reached(Door.DROPPED, host)
        if host is not source and (host.name, port) in self.cilium.dropped:
            return Reached(Door.DROPPED, host)
        return Reached(Door.OPEN if self.listens(host, port) else Door.REFUSED, host)

    def _connect_monitor(self, source: Host, address: str, port: int) -> Reached:
        if not self.ceph_lan.passes(self, source, address):
            on_link = is_gateway(source) and self.ceph_lan.leg
            return Reached(Door.NO_ROUTE if on_link else Door.DROPPED)
        open_ = port in self.ceph_lan.monitors[address]
        return Reached(Door.OPEN if open_ else Door.REFUSED)

    def listens(self, host: Host, port: int) -> bool:
        """Whether something accepts on that port of the host."""
        if port == SSH_PORT:
            return host.ssh is not Ssh.REFUSED
        if port == HUBBLE_PORT:
            return serves_hubble(self, host)
        return LISTENERS.get(port, "") in host.processes
