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
    controller,
    dirs,
    furnishing,
    gateway,
    inventory,
    leg,
    monitors,
    mounts,
    network,
    plan,
    switch,
    workers,
)
from machines.build import build, require_root
from machines.console import say, step
from machines.container import Container
from machines.errors import LabError
from machines.pki import Authority, ClusterPki, Pair

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from machines.build import Layers

INVENTORY: Final = "inventory.yaml"
_FACTS: Final = "lab.json"


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a running lab is nowhere else.

    Attributes:
        phase: how far its cluster was applied.
        layers: what its machines stand on; a lab on outdated layers is made anew.
        client_ca: the authority of the certificate in rke2.yaml; None before there is one.
    """

    phase: plan.Phase
    layers: str
    client_ca: Pair | None = None

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
            authority = values["client_ca"]
            return cls(
                phase=plan.Phase(values["phase"]),
                layers=values["layers"],
                client_ca=Pair(**authority) if authority else None,
            )
        except (ValueError, KeyError, TypeError) as damage:
            raise LabError(
                f"{path} is unreadable ({damage!r}): `python -m machines down`"
            ) from None

    @property
    def client_authority(self) -> Authority:
        """The authority that signs what is in rke2.yaml.

        Raises:
            LabError: RKE2 is applied nowhere.
        """
        if self.client_ca is None:
            raise LabError("RKE2 is not applied: `python -m machines up`")
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

    From machines without RKE2 it goes on to any phase, from three healthy control planes on to any
    further one; from anything else it starts anew.

    Raises:
        LabError: some machine failed; its journal is in the text. What was started stays for a
            look until `down` or the next `up`.
    """
    layers = build()
    standing = _healthy_at(layers)
    if standing is phase:
        say(f"the lab is up and healthy at phase {phase}; inventory: {inventory_path()}")
        return
    if standing not in plan.stations(phase):
        down()
        standing = _boot(layers)
    if standing is plan.Phase.ZERO and phase is not plan.Phase.ZERO:
        standing = _apply(phase)
    for further in (plan.Phase.D, plan.Phase.F):
        if phase.reaches(further) and not standing.reaches(further):
            _go_on(further, layers)
            dataclasses.replace(Facts.load(), phase=further).save()
    say(f"the lab is up at phase {phase}; inventory: {inventory_path()}")


def _go_on(phase: plan.Phase, layers: Layers) -> None:
    """What the operator does in that phase, once the one before is over."""
    if phase is plan.Phase.D:
        workers.join(_token())
        switch.install()
        leg.prepare()
    else:
        monitors.start(layers)
        with step("routing the nodes to Ceph"):
            gateway.plug()
            switch.flip()
            gateway.configure()


def _boot(layers: Layers) -> plan.Phase:
    """Machines without RKE2, and the controller's side: the runbook's preconditions."""
    dirs.make_private(dirs.state())
    with step("making keys and the controller's checkouts"):
        host_keys = furnishing.write_ssh_keys()
        commits = controller.lay_out(secrets.token_hex(16))
    with step("making the network namespaces"):
        network.create()
    containers = [Container(machine) for machine in plan.MACHINES]
    with step(f"booting {len(containers)} machines"):
        for machine in plan.running(plan.Phase.F):
            furnishing.furnish(Container(machine), host_keys[machine.name])
        for container in containers:
            container.start(layers)
        for container in containers:
            container.wait_booted()
    _write_inventory(commits)
    Facts(plan.Phase.ZERO, layers.lowerdir).save()
    return plan.Phase.ZERO


def _apply(phase: plan.Phase) -> plan.Phase:
    """The control planes of that phase."""
    pki = ClusterPki()
    applied = plan.applied(phase)
    cluster.apply(applied, pki, token=_token(), encryption_key=secrets.token_bytes(32))
    layers = Facts.load().layers
    standing = plan.Phase.C if phase.reaches(plan.Phase.C) else phase
    Facts(standing, layers, pki.client.pair).save()
    return standing


def _token() -> str:
    return (dirs.state() / controller.NODE_TOKEN).read_text().strip()


def reached() -> plan.Phase | None:
    """How far the running lab is applied; None if there is none."""
    try:
        return Facts.load().phase
    except LabError:
        return None


def complaints(phase: plan.Phase) -> list[str]:
    """What is wrong with a lab that should be at the end of `phase`; empty when healthy."""
    found = cluster.complaints(plan.applied(phase))
    if not found and phase.reaches(plan.Phase.D):
        found = workers.complaints()
    if phase.reaches(plan.Phase.F):
        found += [*monitors.complaints(), *gateway.complaints()]
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


def _healthy_at(layers: Layers) -> plan.Phase | None:
    """The phase that a healthy lab on these layers has reached; None if there is no such lab."""
    try:
        facts = Facts.load()
    except LabError:
        return None
    healthy = facts.layers == layers.lowerdir and not complaints(facts.phase)
    return facts.phase if healthy else None


def _write_inventory(commits: Mapping[str, str]) -> None:
    dirs.write_private(
        inventory_path(),
        inventory.text(
            key="keys/id_ed25519",
            known_hosts="known_hosts",
            controller=controller.PATHS,
            commits=commits,
            group_vars=controller.GROUP_VARS,
            versions={
                "rke2": plan.RKE2_VERSION,
                "etcd": plan.ETCD_VERSION,
                "cilium": plan.CILIUM_VERSION,
                "ansible-core": controller.ANSIBLE_VERSION,
            },
        ),
    )
