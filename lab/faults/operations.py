"""Faults of what is provisioned on ops01: checkout, programs, rendered inventory; and leftovers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import layout
from lab.faults.registry import FaultError, fault, host_of
from lab.operations import CHECKOUT, HOSTS_JSON

if TYPE_CHECKING:
    from lab.repository import Repository
    from lab.world import World

_WAYS = ("absent", "behind", "changed", "hidden", "never-fetched", "not-reviewed", "shallow")


@fault("ops-checkout", f"the infrastructure checkout on ops01 is {', '.join(_WAYS)}")
def ops_checkout(world: World, how: str) -> None:
    """Not what the runbook wants applied from."""
    if how not in _WAYS:
        raise FaultError(f"`how` is one of {', '.join(_WAYS)}, not `{how}`")
    repository = world.operations.repositories.get((world.bastion.name, CHECKOUT))
    if repository is None:
        # It is cloned in phase E.
        return
    if how == "absent":
        world.bastion.files.remove(CHECKOUT)
    elif how == "changed":
        repository.changes = [" M ansible/playbooks/cilium.yml", "?? notes.txt"]
    elif how == "hidden":
        repository.hidden = ["h ansible/inventories/prod/group_vars/all.yml"]
    elif how == "never-fetched":
        repository.fetched = None
    elif how == "not-reviewed":
        repository.commit(world.seed.hex("commit", "not reviewed", digits=40))
    else:
        _go_back(repository, shallow=how == "shallow")


def _go_back(repository: Repository, *, shallow: bool) -> None:
    """Stand before d553643, or have a history that begins after it."""
    line = list(repository.parents)
    if shallow:
        repository.parents = {line[-1]: None}
        repository.shallow = True
    else:
        repository.head = line[1]


@fault("ops-hosts-json-missing", "the rendered Ansible inventory is not on ops01")
def ops_hosts_json_missing(world: World) -> None:
    """Neither rendered there nor copied over."""
    world.bastion.files.remove(HOSTS_JSON)


@fault("ops-tool-version", "a program on ops01 says that it is of another version")
def ops_tool_version(world: World, tool: str = "cilium-cli", version: str = "v0.18.3") -> None:
    """`tool` as the inventory's `versions:` calls it."""
    if tool not in world.operations.versions:
        known = ", ".join(world.operations.versions)
        raise FaultError(f"`tool` is one of {known}, not `{tool}`")
    world.operations.versions[tool] = version


@fault("left-in-tmp", "the file lies in the host's /tmp")
def left_in_tmp(world: World, name: str = "rke2-admin-kubeconfig", host: str = "rke-cp01") -> None:
    """The relay's copy was not removed."""
    files = host_of(world, host).files
    files.file(f"/tmp/{name}", b"apiVersion: v1\n", 0o600, layout.USER)  # noqa: S108 of the lab
