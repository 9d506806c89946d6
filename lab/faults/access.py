"""Faults of getting there: SSH, sudo, tools, clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import operations
from lab.faults.registry import FaultError, fault, host_of
from lab.host import Link, Ssh

if TYPE_CHECKING:
    from lab.world import World


@fault("ssh-silent", "the host's port 22 accepts connections and says nothing")
def ssh_silent(world: World, host: str) -> None:
    """No banner."""
    host_of(world, host).ssh = Ssh.SILENT


@fault("ssh-refused", "nothing listens on the host's port 22")
def ssh_refused(world: World, host: str) -> None:
    """The daemon is stopped."""
    host_of(world, host).ssh = Ssh.REFUSED


@fault("ssh-auth-denied", "the host accepts no key of ours")
def ssh_auth_denied(world: World, host: str) -> None:
    """`Permission denied (publickey)`."""
    host_of(world, host).ssh = Ssh.NO_KEY_ACCEPTED


@fault("host-down", "the host does not answer on the network: No route to host")
def host_down(world: World, host: str) -> None:
    """Powered off; if it held the VIP, that moves."""
    host_of(world, host).link = Link.DOWN


@fault("host-unreachable", "packets for the host are dropped: connections hang")
def host_unreachable(world: World, host: str) -> None:
    """A firewall that drops."""
    host_of(world, host).link = Link.DROPPED


@fault("host-key-changed", "the host shows another key than known_hosts has")
def host_key_changed(world: World, host: str) -> None:
    """A rebuilt machine, or somebody in between."""
    host_of(world, host).key_generation = 1


@fault("host-key-unknown", "known_hosts has no key of the host")
def host_key_unknown(world: World, host: str) -> None:
    """A machine nobody has met yet."""
    host_of(world, host).key_known = False


@fault("bastion-rate-limited", "the bastion takes so many new connections and then drops them")
def bastion_rate_limited(world: World, allow: int = 0, reset: bool = False) -> None:
    """Silent drops as nftables does, or resets as MaxStartups does."""
    world.bastion_allowance = allow
    world.bastion_resets = reset


@fault("bastion-down", "nothing answers on the bastion's port")
def bastion_down(world: World) -> None:
    """Connections are reset at once."""
    world.bastion.ssh = Ssh.REFUSED


@fault("sudo-denied", "ubuntu may not use sudo without a password on the host")
def sudo_denied(world: World, host: str) -> None:
    """`sudo: a password is required`, rc 1."""
    host_of(world, host).sudo = False


@fault("tool-missing", "the program is not installed on the host")
def tool_missing(world: World, host: str, tool: str) -> None:
    """Exit status 127, or sudo's 1."""
    files = host_of(world, host).files
    folders = (
        *("/usr/bin", "/usr/sbin", "/var/lib/rancher/rke2/bin", "/usr/local/bin"),
        *(operations.BIN, operations.ANSIBLE.rpartition("/")[0]),
    )
    paths = [f"{folder}/{tool}" for folder in folders]
    known = [path for path in paths if path in set(files.walk(path.rpartition("/")[0]))]
    if not known and world.etcd:
        raise FaultError(f"the lab's {host} never had `{tool}`")
    for path in known:
        files.remove(path)


@fault("clock-skew", "the host's clock is so many seconds ahead (or, negative, behind)")
def clock_skew(world: World, host: str, seconds: float) -> None:
    """Times of different hosts cannot be compared."""
    host_of(world, host).clock_offset = float(seconds)
