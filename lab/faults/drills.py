"""Faults that show when something is stopped or moved: failover, outage, undo, flags."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from lab import layout, transient
from lab.faults.registry import FaultError, cut_of, fault, host_of, pattern_of
from lab.jobs import Service
from lab.replies import Severing

if TYPE_CHECKING:
    from lab.world import World

_FLAGS = f"{layout.HOME}/.rke2-acceptance"


@fault("limit", "the inventory's table of limits has this value")
def limit(world: World, name: str, value: float) -> None:
    """A shorter undo, a longer watch."""
    world.limits[name] = value


@fault("pace", "everything that takes its time in the lab takes so many times as long")
def pace(world: World, factor: float) -> None:
    """Less than 1 is faster."""
    if factor <= 0:
        raise FaultError(f"`factor` is more than 0, not {factor}")
    for field in fields(world.pace):
        setattr(world.pace, field.name, getattr(world.pace, field.name) * factor)


@fault(
    "vip-moves-to-the-wrong-peer",
    "the node's keepalived runs with another priority than its file has",
)
def wrong_peer(world: World, node: str = "rke-cp02", priority: int = 10) -> None:
    """The file was changed, keepalived was not reloaded."""
    host = host_of(world, node)
    if host.vrrp:
        host.vrrp = replace(host.vrrp, priority=priority)


@fault("vip-never-comes-back", "the node's keepalived does not preempt, though its file says so")
def never_back(world: World, node: str = "rke-cp01") -> None:
    """The failover goes well, the way back never happens."""
    host = host_of(world, node)
    if host.vrrp:
        host.vrrp = replace(host.vrrp, nopreempt=True)


@fault("vip-two-holders-on-failover", "these nodes do not hear each other: both take a free VIP")
def two_holders(world: World, nodes: list[str] | None = None) -> None:
    """As long as a third one is master nobody notices."""
    names = nodes or [machine.name for machine in world.layout.control_planes[1:]]
    world.election.deaf = frozenset(host_of(world, str(name)).name for name in names)


@fault("vip-takes-long", "a silent master is missed only after so many seconds")
def takes_long(world: World, seconds: float) -> None:
    """Nobody has the VIP that long."""
    world.pace.takeover = seconds


@fault("vip-stays-after-stop", "keepalived leaves the VIP on the node when it is stopped")
def stays(world: World, node: str = "rke-cp01") -> None:
    """Stopped, and still answering ARP."""
    world.trouble.vip_stays.add(host_of(world, node).name)


@fault(
    "etcd-election-takes-long", "etcd's leader is on the node; without it nobody leads for so long"
)
def long_election(world: World, node: str = "rke-cp02", seconds: float = 3.0) -> None:
    """Every API answers 500 meanwhile."""
    name = host_of(world, node).name
    world.pace.election = seconds
    for cluster in world.etcd[:1]:
        cluster.led_by = name


@fault("killall-leaves-etcd", "rke2-killall.sh ends with 0 on the node and leaves etcd and the API")
def killall_leaves(world: World, node: str = "rke-cp02") -> None:
    """An outage that is none."""
    world.trouble.killall_leaves.add(host_of(world, node).name)


@fault("server-stop-fails", "`systemctl stop rke2-server` ends with an error on the node")
def stop_fails(world: World, node: str = "rke-cp02") -> None:
    """The unit goes on running."""
    world.trouble.stop_fails.add(host_of(world, node).name)


@fault("server-stop-takes", "`systemctl stop rke2-server` takes so many seconds on the node")
def stop_takes(world: World, seconds: float, node: str = "rke-cp02") -> None:
    """Long enough for an authorization to end meanwhile."""
    world.trouble.stop_takes[host_of(world, node).name] = seconds


@fault("server-start-fails", "rke2-server ends with an error each time it starts on the node")
def start_fails(world: World, node: str = "rke-cp02") -> None:
    """Restart=always: it tries for ever."""
    world.trouble.start_fails.add(host_of(world, node).name)


@fault("volume-mounted", "an RBD volume is mounted on the node")
def volume_mounted(world: World, node: str = "rke-cp02") -> None:
    """rke2-killall.sh would take its server away."""
    host_of(world, node).mounts.append(
        "/dev/rbd0 /var/lib/kubelet/pods/0c1/volumes/kubernetes.io~csi/pvc-1/mount ext4 rw 0 0"
    )


@fault("leftover-undo", "a timer of an earlier drill still waits on the node to start keepalived")
def leftover(world: World, node: str = "rke-cp02", run: str = "20261101T000000Z-0ld") -> None:
    """It would fire in the middle of the next drill."""
    argv = ("/usr/bin/systemctl", "--no-block", "start", "keepalived.service")
    service = Service(f"rke2-undo-{run}-C-5.service", argv)
    transient.arm(world, host_of(world, node), service, 3600.0)


@fault("link-cut-after", "the link breaks once commands that match have run, before their answer")
def cut_after(
    world: World, host: str = "*", command: str = "", where: str = "bastion", times: int = 1
) -> None:
    """The change was made, and nobody is told."""
    cut = cut_of(where)
    world.severings.append(Severing(host, pattern_of(command), cut, times))


@fault("lock-held", "another run holds the lock on the bastion")
def lock_held(world: World, name: str = "Ana", run: str = "20261101T000000Z-0ther") -> None:
    """Nobody knows whether that run lives."""
    owner = {
        "name": name,
        "operator": f"{name.lower()}@laptop",
        "run": run,
        "host": "laptop",
        "at": "2026-11-01T00:00:00Z",
        "gates": ["F6-3"],
    }
    _flag(world, "lock/owner", json.dumps(owner))


@fault("stop-file", "a colleague has put a file STOP beside the lock")
def stop_file(world: World, text: str = "Ana: stop, I am on the phone with the customer") -> None:
    """The run ends before its next change."""
    _flag(world, "STOP", text)


@fault("latch-set", "the latch on the bastion is set")
def latch_set(world: World, text: str = "F6-3 of run 20261101T000000Z-0ther has not ended") -> None:
    """No drill before a named human clears it."""
    _flag(world, "latch", text)


@fault("cleanup-stop-set", "another operator's CLEANUP STOP of the gate stands on the bastion")
def cleanup_stop_set(world: World, gate: str, uid: str = "0c5d7f5e-1111-4222-8333") -> None:
    """Their log has it, ours has not."""
    event = {"state": "set", "uid": uid, "why": "2026-11-01T00:00:00Z, of Ana's log", "run": "r"}
    _flag(world, f"cleanup-stop-{gate}", json.dumps(event))


@fault("flags-unreadable", "the folder of the flags on the bastion cannot be read")
def flags_unreadable(world: World) -> None:
    """Whether a latch is set is not known."""
    world.bastion.files.folder(f"{_FLAGS}/lab", 0o000)


def _flag(world: World, name: str, text: str) -> None:
    files = world.bastion.files
    folders = [_FLAGS, f"{_FLAGS}/lab", *([f"{_FLAGS}/lab/lock"] if "/" in name else [])]
    for folder in folders:
        files.folder(folder, 0o700, layout.USER)
    files.file(f"{_FLAGS}/lab/{name}", text.encode(), 0o600, layout.USER)
