"""What the runbook provisions on ops01 before phase E: checkout, venv, inventory, programs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab import layout, plan
from lab.phase import Phase
from lab.releases import installed
from lab.repository import infrastructure

if TYPE_CHECKING:
    from lab.releases import Release
    from lab.repository import Repository
    from lab.world import World

CHECKOUT = f"{layout.HOME}/wetopi-infrastructure"
HOSTS_JSON = f"{CHECKOUT}/ansible/inventories/prod/hosts.json"
ANSIBLE = f"{CHECKOUT}/.venv/bin/ansible-playbook"
BIN = f"{layout.HOME}/bin"
PROGRAMS = ("cilium", "helm", "hubble", "kubectl", "tofu")
# Handbook 2.1; the version of kubectl is that of RKE2's, as everywhere in the lab.
VERSIONS = {
    "ansible-core": "2.21.3",
    "cilium-cli": "v0.19.1",
    "helm": "v3.19.0",
    "hubble-cli": "v0.13.6",
}


@dataclass(slots=True)
class Operations:
    """What lies on ops01 and is more than files.

    Attributes:
        repositories: by host and folder.
        releases: what Helm finds in the cluster.
        versions: what the programs say of themselves, as the inventory calls them.
    """

    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    releases: list[Release] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=lambda: dict(VERSIONS))


def provision(world: World) -> None:
    """Everything but the kubeconfig."""
    files, user = world.bastion.files, layout.USER
    files.folder(CHECKOUT, 0o755, user)
    files.folder(f"{CHECKOUT}/.git", 0o755, user)
    files.file(f"{CHECKOUT}/requirements-dev.txt", b"ansible-core==2.21.3\n", owner=user)
    files.file(HOSTS_JSON, _hosts(world).encode(), 0o600, user)
    files.binary(ANSIBLE, "ansible-playbook")
    for program in PROGRAMS:
        files.binary(f"{BIN}/{program}", program)
    world.operations.repositories[world.bastion.name, CHECKOUT] = infrastructure()
    if world.phase.reached(Phase.F):
        files.file(plan.PATH, plan.file(world), 0o600, user)
    world.operations.releases = list(installed(world.phase))


def _hosts(world: World) -> str:
    """The inventory in part: Ansible's `all` with the hosts' addresses."""
    hosts = {machine.name: {"ansible_host": machine.address} for machine in world.layout.machines}
    local = {"ansible_connection": "local", "ansible_become": False}
    return json.dumps({"all": {"hosts": {**hosts, "localhost": local}}}, indent=2) + "\n"
