"""Faults of snapshots and of the restore: each shows only when it is tried."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from lab.faults.registry import FaultError, fault, host_of
from lab.provision import RKE2
from lab.trouble import Murmur, Rejoin, Reset, Save

if TYPE_CHECKING:
    from enum import StrEnum

    from lab.world import World

    Way = TypeVar("Way", bound=StrEnum)


def _listed(ways: type[StrEnum]) -> str:
    return ", ".join(way.value for way in ways)


def _way(ways: type[Way], how: str) -> Way:
    try:
        return ways(how)
    except ValueError:
        raise FaultError(f"`how` is one of {_listed(ways)}, not `{how}`") from None


@fault("snapshot-save", f"what becomes of a save: {_listed(Save)}")
def snapshot_save(world: World, how: str) -> None:
    """Rc 0 alone proves nothing (facts/real-run 17)."""
    world.trouble.save = _way(Save, how)


@fault("snapshot-copy-damaged", "a byte of what is copied to the host gets lost")
def copy_damaged(world: World, host: str = "wetopi-ops01") -> None:
    """The copy has the size of the original, and another digest."""
    world.trouble.damaged_copies.add(host_of(world, host).name)


@fault("snapshot-name-taken", "an older copy on the host has the next snapshot's name and size")
def name_taken(world: World, host: str = "wetopi-ops01") -> None:
    """Two saves within one second get one name."""
    world.trouble.namesakes.add(host_of(world, host).name)


@fault("disk-full", "so many bytes are free on the host")
def disk_full(world: World, host: str, bytes: int = 4096) -> None:  # noqa: A002
    """A save fails silently, a copy has no room."""
    host_of(world, host).free = bytes


@fault("cluster-reset", f"what becomes of a cluster-reset: {_listed(Reset)}")
def cluster_reset(world: World, how: str) -> None:
    """The rows of facts/real-run, Restore, and commands.md 4.2."""
    world.trouble.reset = _way(Reset, how)


@fault("peer-rejoins", f"how the node comes up without its database: {_listed(Rejoin)}")
def peer_rejoins(world: World, how: str, node: str = "rke-cp02") -> None:
    """A third voter that never is one."""
    world.trouble.rejoin[host_of(world, node).name] = _way(Rejoin, how)


@fault("stray-pod", "the node's container runtime runs a pod that the API does not know")
def stray_pod(world: World, node: str = "rke-cp02", name: str = "made-after-the-snapshot") -> None:
    """It was made after the snapshot (kubernetes#131115)."""
    world.trouble.strays[host_of(world, node).name] = name


@fault("server-writes", "rke2-server (or etcd) writes this line on the node after each start")
def server_writes(
    world: World,
    text: str,
    *,
    node: str = "rke-cp01",
    times: int = 1,
    every: float = 0.1,
    unit: str = "rke2-server",
) -> None:
    """`times: 0` is for ever."""
    if unit not in ("rke2-server", "etcd"):
        raise FaultError(f"`unit` is rke2-server or etcd, not `{unit}`")
    lines = world.trouble.journal.setdefault(host_of(world, node).name, [])
    lines.append(Murmur(text, times, every, unit))


@fault("token-differs", "the node's token file holds another secret than the controller's")
def token_differs(world: World, node: str = "rke-cp01") -> None:
    """A reset would end in `encrypted with different token`."""
    files = host_of(world, node).files
    files.file(f"{RKE2}/server/token", f"K10{'0' * 64}::server:{'1' * 32}\n".encode(), 0o600)


@fault("token-missing", "the node has no token file")
def token_missing(world: World, node: str = "rke-cp01") -> None:
    """A reset would not begin."""
    host_of(world, node).files.remove(f"{RKE2}/server/token")


@fault("encryption", "what secrets-encrypt says on the node of status, stage and hash")
def encryption(
    world: World,
    *,
    node: str = "rke-cp01",
    enabled: bool = True,
    stage: str = "start",
    key: str = "aescbckey",
    hash_matches: bool = True,
) -> None:
    """Each server has its own view; only annotated nodes are compared."""
    host = host_of(world, node)
    host.encryption = replace(host.encryption, enabled=enabled, stage=stage, key=key)
    if not hash_matches and world.objects.get("Node", "", host.name):
        hashed = f"{stage}-{world.seed.hex('other encryption', host.name, digits=64)}"
        annotations = {"rke2.io/encryption-config-hash": hashed}
        world.objects.merge("Node", "", host.name, {"metadata": {"annotations": annotations}})


@fault("encryption-not-annotated", "the node has no encryption hash: it is skipped in silence")
def encryption_not_annotated(world: World, node: str = "rke-cp03") -> None:
    """`All hashes match` is printed nevertheless (facts/real-run 24)."""
    name = host_of(world, node).name
    if world.objects.get("Node", "", name):
        annotations = {"rke2.io/encryption-config-hash": None}
        world.objects.merge("Node", "", name, {"metadata": {"annotations": annotations}})
