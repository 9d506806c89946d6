"""Builds the world at a phase: what the runbook has applied by then."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from lab import (
    cilium,
    databases,
    freshness,
    gitops,
    journal,
    kinds,
    networks,
    provision,
    proxmox,
    services,
    storage,
)
from lab.ceph_lan import CephLan
from lab.cluster.manager import Manager
from lab.etcd import new_cluster
from lab.filesystem import FileSystem
from lab.host import Host, Unit, Vrrp
from lab.layout import Part
from lab.objects import Store
from lab.owners import owners
from lab.phase import Phase
from lab.pki import Pki
from lab.pods import pod
from lab.servers import OF_AN_AGENT, OF_THE_SERVER, OF_THE_UNIT
from lab.workloads import Workloads, namespaces
from lab.world import AGENT, KEEPALIVED, SERVER, World

if TYPE_CHECKING:
    from datetime import datetime

    from lab.layout import Layout, Machine
    from lab.objects import Object
    from lab.seed import Seed


def world(seed: Seed, layout: Layout, phase: Phase, servers: int | None = None) -> World:
    """A healthy world at that phase.

    `servers` is how many control planes are applied, when it is not what the phase says (a phase C
    that stopped half-way).
    """
    machines = (*layout.machines, *layout.hypervisors)
    hosts = {machine.name: _host(seed, machine) for machine in machines}
    if servers is None:
        servers = 3 if phase.reached(Phase.C) else 1 if phase.reached(Phase.B) else 0
    joined = [hosts[machine.name] for machine in layout.control_planes[:servers]]
    agents = [hosts[machine.name] for machine in layout.workers] if phase.reached(Phase.D) else []
    etcd = new_cluster(seed, "first", layout.control_planes[:servers])
    result = World(
        seed=seed,
        layout=layout,
        phase=phase,
        hosts=hosts,
        etcd=[etcd] if servers else [],
        objects=Store(),
        pki=Pki(seed),
        cluster=Manager(),
        ceph_lan=CephLan.at(phase),
        proxmox=proxmox.prepared(seed, layout),
    )
    freshness.attach(result, result.objects)
    for order, host in enumerate(joined):
        _join_server(result, host, order)
    for host in agents:
        _join_agent(result, host)
    if joined:
        _register(result, joined, agents)
    provision.bastion(result)
    provision.hypervisors(result)
    provision.counters(result)
    storage.prepare(result)
    gitops.prepare(result)
    return result


def _host(seed: Seed, machine: Machine) -> Host:
    host = Host(
        machine=machine,
        files=FileSystem(),
        machine_id=seed.hex("machine-id", machine.name, digits=32),
        boot_id=seed.uuid("boot", machine.name),
    )
    booted = seed.born - timedelta(hours=2)
    host.units["ssh.service"] = Unit(
        "ssh.service", "OpenBSD Secure Shell server", started=booted, pid=812
    )
    host.units["systemd-journald.service"] = Unit(
        "systemd-journald.service", "Journal Service", started=booted, pid=391, file_state="static"
    )
    provision.system(host)
    return host


def _join_server(world: World, host: Host, order: int) -> None:
    since = world.seed.born - timedelta(minutes=40 - 6 * order)
    started = since + timedelta(seconds=48)
    host.processes |= OF_THE_UNIT | OF_THE_SERVER
    host.vrrp = Vrrp(host.machine.priority or 0)
    host.units[KEEPALIVED] = Unit(
        KEEPALIVED, "Keepalive Daemon (LVS and VRRP)", started=since, pid=2301
    )
    host.units[SERVER] = Unit(
        SERVER,
        "Rancher Kubernetes Engine v2 (server)",
        started=started,
        pid=2877,
    )
    # The tarball brings both units to every node; the other one is never started.
    host.units[AGENT] = Unit(
        AGENT, "Rancher Kubernetes Engine v2 (agent)", file_state="disabled"
    ).stopped()
    provision.control_plane(world, host, bootstrap=order == 0)
    # The server makes it when it starts for the first time.
    host.files.change(f"{provision.RKE2}/server", born=started.timestamp())
    for member in world.etcd[0].members:
        if member.node == host.name:
            databases.create(host, world.etcd[0], member)
    journal.history(world, host, since)


def _join_agent(world: World, host: Host) -> None:
    since = world.seed.born - timedelta(minutes=12)
    host.processes |= OF_AN_AGENT
    host.units[AGENT] = Unit(AGENT, "Rancher Kubernetes Engine v2 (agent)", started=since, pid=2510)
    host.units[SERVER] = Unit(
        SERVER, "Rancher Kubernetes Engine v2 (server)", file_state="disabled"
    ).stopped()
    provision.worker(world, host)


def _register(world: World, servers: list[Host], agents: list[Host]) -> None:
    seed, phase = world.seed, world.phase
    ready = phase.reached(Phase.E)
    first = seed.born - timedelta(minutes=39)
    for name in namespaces(phase):
        world.objects.put(kinds.namespace(seed, name, first))
    members = {member.node: member.name for member in world.etcd[0].members}
    for index, host in enumerate([*servers, *agents]):
        server = host.machine.part is Part.CONTROL_PLANE
        created = first + timedelta(minutes=6 * index) if server else first + timedelta(minutes=28)
        pod_cidr = f"10.{64 + index // 256}.{index % 256}.0/24"
        world.objects.put(
            kinds.node(
                seed,
                host,
                created,
                ready=ready,
                tainted=server and phase.reached(Phase.D),
                member=members.get(host.name),
                pod_cidr=pod_cidr,
            )
        )
        world.objects.put(kinds.lease(seed, host.name, created))
        if phase.reached(Phase.E):
            world.objects.put(networks.cilium_node(seed, host, pod_cidr, created))
    _populate(world, servers, agents, first + timedelta(minutes=1))


def _populate(world: World, servers: list[Host], agents: list[Host], created: datetime) -> None:
    """What runs on the nodes, and what controls and serves it."""
    seed, phase, store = world.seed, world.phase, world.objects
    if phase.reached(Phase.E):
        store.put(cilium.config(seed, created))
    shapes = list(Workloads(seed, phase, servers, agents).shapes())
    for shape in shapes:
        item = pod(seed, shape, created)
        store.put(item)
        if phase.reached(Phase.E) and networks.on_pod_network(item) and shape.host_address:
            store.put(networks.cilium_endpoint(seed, item, shape.host_address, created))
    for item in owners(seed, shapes, created):
        store.put(item)
    for item in list(services.built_in(seed, phase, servers, created)):
        store.put(item)
        made = services.endpoint_slice(seed, store, item, created) if _selects(item) else None
        if made is not None:
            store.put(made)


def _selects(item: Object) -> bool:
    return item["kind"] == "Service" and "selector" in item["spec"]
