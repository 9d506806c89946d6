"""The lab as a whole: its private facts on disk, `up` and `down`."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import secrets
import shutil
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from machines import (
    cgroups,
    cluster,
    dirs,
    inventory,
    mounts,
    network,
    plan,
    render,
    ssh_keys,
    workers,
)
from machines.build import build, require_root
from machines.console import say, step
from machines.container import Container
from machines.errors import LabError
from machines.pki import Authority, ClusterPki, Pair

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from machines.build import Layers
    from machines.ssh_keys import SshKey

INVENTORY: Final = "inventory.yaml"
_FACTS: Final = "lab.json"
_TOKEN: Final = "keys/node_token"  # noqa: S105 the name of a file


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a running lab is nowhere else.

    Attributes:
        phase: how far its cluster was applied.
        layers: what its machines stand on; a lab on outdated layers is made anew.
        client_ca: the authority of the certificate in rke2.yaml.
    """

    phase: plan.Phase
    layers: str
    client_ca: Pair

    @classmethod
    def load(cls) -> Facts:
        """The running lab's facts.

        Raises:
            LabError: no lab is up, or what describes it is damaged.
        """
        path = dirs.state() / _FACTS
        if not path.exists():
            raise LabError("the lab is not up: `python -m machines up`")
        try:
            values = json.loads(path.read_text())
            return cls(
                phase=plan.Phase(values["phase"]),
                layers=values["layers"],
                client_ca=Pair(**values["client_ca"]),
            )
        except (ValueError, KeyError, TypeError) as damage:
            raise LabError(
                f"{path} is unreadable ({damage!r}): `python -m machines down`"
            ) from None

    @property
    def client_authority(self) -> Authority:
        """The authority that signs what is in rke2.yaml."""
        return Authority.load(self.client_ca)

    def save(self) -> None:
        """Write them, 0600: from here on the lab counts as up."""
        dirs.write_private(dirs.state() / _FACTS, json.dumps(asdict(self)))


def inventory_path() -> Path:
    """Where `up` writes the inventory."""
    return dirs.state() / INVENTORY


@contextlib.contextmanager
def exclusive() -> Iterator[None]:
    """Only one `up`, `down`, `break` or `mend` at a time.

    Raises:
        LabError: another one is at work.
    """
    require_root()
    # Folders of a machine's disk are seen by its users whatever the umask of who runs the lab;
    # what is private says so itself.
    umask = os.umask(0o022)
    lock = dirs.make_private(dirs.cache()) / "lab.lock"
    try:
        with lock.open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LabError(f"another `python -m machines` is at work ({lock})") from None
            yield
    finally:
        os.umask(umask)


def up(phase: plan.Phase) -> None:
    """Bring the lab to `phase`, or find it there and healthy already.

    From healthy control planes it goes on to the workers; from anything else it starts anew.

    Raises:
        LabError: some machine failed; its journal is in the text. What was started stays for a
            look until `down` or the next `up`.
    """
    layers = build()
    if _is_up(phase, layers):
        say(f"the lab is up and healthy at phase {phase}; inventory: {inventory_path()}")
        return
    if not (phase is plan.Phase.D and _is_up(plan.Phase.C, layers)):
        down()
        _start(phase, layers)
    if plan.joined(phase):
        workers.join((dirs.state() / _TOKEN).read_text().strip())
        dataclasses.replace(Facts.load(), phase=phase).save()
    say(f"the lab is up at phase {phase}; inventory: {inventory_path()}")


def _start(phase: plan.Phase, layers: Layers) -> None:
    dirs.make_private(dirs.state())
    with step("making keys and certificates"):
        pki = ClusterPki()
        host_keys = _write_ssh_keys()
    with step("making the network namespaces"):
        network.create()
    containers = [Container(machine) for machine in plan.MACHINES]
    with step(f"booting {len(containers)} machines"):
        for container in containers:
            _furnish(container, host_keys[container.machine.name])
            container.start(layers)
        for container in containers:
            container.wait_booted()
    token = secrets.token_hex(16)
    cluster.apply(plan.applied(phase), pki, token=token, encryption_key=secrets.token_bytes(32))
    _write_inventory(token)
    reached = plan.Phase.C if plan.joined(phase) else phase
    Facts(reached, layers.lowerdir, pki.client.pair).save()


def complaints(phase: plan.Phase) -> list[str]:
    """What is wrong with a lab that should be at the end of `phase`; empty when healthy."""
    found = cluster.complaints(plan.applied(phase))
    if not found and plan.joined(phase):
        found = workers.complaints()
    return found


def down() -> None:
    """End every process of the lab and remove its state. Fine when there is nothing.

    Raises:
        LabError: a process does not end.
    """
    units = cgroups.units()
    if not units and not dirs.state().exists():
        return
    with step("taking the lab down"):
        cgroups.end()
        mounts.unmount_below(dirs.state())
        shutil.rmtree(dirs.state(), ignore_errors=True)
        if dirs.state().exists():
            raise LabError(f"{dirs.state()} cannot be removed: is a file system mounted in it?")


def _is_up(phase: plan.Phase, layers: Layers) -> bool:
    try:
        facts = Facts.load()
    except LabError:
        return False
    wanted = facts.phase is phase and facts.layers == layers.lowerdir
    return wanted and not complaints(phase)


def _write_ssh_keys() -> dict[str, SshKey]:
    keys = dirs.make_private(dirs.state() / "keys")
    client = ssh_keys.generate()
    dirs.write_private(keys / "id_ed25519", client.private)
    dirs.write_private(keys / "id_ed25519.pub", f"{client.public}\n")
    hosts = {machine.name: ssh_keys.generate() for machine in plan.MACHINES}
    addresses = {machine.name: [str(machine.address)] for machine in plan.MACHINES}
    addresses[plan.BASTION.name].insert(0, str(plan.WAN_BASTION.ip))
    dirs.write_private(dirs.state() / "known_hosts", ssh_keys.known_hosts(hosts, addresses))
    return hosts


def _furnish(container: Container, host_key: SshKey) -> None:
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
        container.write("/etc/nftables.conf", render.bastion_firewall(), mode=0o755)
        wants = container.disk / "etc/systemd/system/sysinit.target.wants/nftables.service"
        wants.parent.mkdir(parents=True, exist_ok=True)
        wants.symlink_to("/lib/systemd/system/nftables.service")


def _write_inventory(token: str) -> None:
    dirs.write_private(dirs.state() / _TOKEN, f"{token}\n")
    dirs.write_private(
        inventory_path(),
        inventory.text(
            key="keys/id_ed25519",
            known_hosts="known_hosts",
            node_token=_TOKEN,
            versions={
                "rke2": plan.RKE2_VERSION,
                "etcd": plan.ETCD_VERSION,
                "cilium": plan.CILIUM_VERSION,
            },
        ),
    )
