"""What each machine has before it boots: its name, its keys, its interfaces, its firewall."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from machines import dirs, gateway, plan, render, ssh_keys

if TYPE_CHECKING:
    from machines.container import Container
    from machines.ssh_keys import SshKey


def write_ssh_keys() -> dict[str, SshKey]:
    """Make the operator's key and every machine's host key, and what knows them; the latter."""
    keys = dirs.make_private(dirs.state() / "keys")
    client = ssh_keys.generate()
    dirs.write_private(keys / "id_ed25519", client.private)
    dirs.write_private(keys / "id_ed25519.pub", f"{client.public}\n")
    every = plan.running(plan.Phase.F)
    hosts = {machine.name: ssh_keys.generate() for machine in every}
    addresses = {machine.name: [str(machine.address)] for machine in every}
    addresses[plan.BASTION.name].insert(0, str(plan.WAN_BASTION.ip))
    dirs.write_private(dirs.state() / "known_hosts", ssh_keys.known_hosts(hosts, addresses))
    return hosts


def furnish(container: Container, host_key: SshKey) -> None:
    """Write what a machine boots with, before it does for the first time."""
    machine = container.machine
    client = (dirs.state() / "keys/id_ed25519.pub").read_text()
    container.write("/etc/hostname", f"{machine.name}\n")
    container.write("/etc/hosts", render.hosts(machine))
    container.write("/etc/machines-lab/interfaces", render.interfaces(machine))
    container.write("/etc/ssh/ssh_host_ed25519_key", host_key.private, mode=0o600)
    container.write("/etc/ssh/ssh_host_ed25519_key.pub", f"{host_key.public}\n")
    container.write(f"/home/{plan.SSH_USER}/.ssh/authorized_keys", client, mode=0o600, owner=1000)
    home = container.disk / "home" / plan.SSH_USER
    for folder, mode in ((home, 0o750), (home / ".ssh", 0o700)):
        folder.chmod(mode)
        shutil.chown(folder, 1000, 1000)
    if machine == plan.BASTION:
        container.write(gateway.FIREWALL, render.bastion_firewall(), mode=0o755)
    if machine == plan.GATEWAY:
        gateway.furnish()
    if machine in plan.ON_WAN:
        wants = container.disk / "etc/systemd/system/sysinit.target.wants/nftables.service"
        wants.parent.mkdir(parents=True, exist_ok=True)
        wants.symlink_to("/lib/systemd/system/nftables.service")
