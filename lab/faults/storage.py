"""Faults of Secrets as etcd keeps them, of the storage beyond the nodes, and of its driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.faults.registry import FaultError, fault

if TYPE_CHECKING:
    from lab.world import World

_FORMS = ("aescbc", "empty", "json", "kms", "plaintext", "secretbox")


@fault("at-rest", f"etcd keeps Secrets as {', '.join(_FORMS)}, whatever the status says")
def at_rest(world: World, form: str, namespace: str = "", name: str = "") -> None:
    """All Secrets, or one: `Enabled` does not mean that old ones were written anew."""
    if form not in _FORMS:
        raise FaultError(f"`form` is one of {', '.join(_FORMS)}, not `{form}`")
    if bool(namespace) != bool(name):
        raise FaultError("`namespace` and `name` come together")
    world.storage.raw[namespace, name] = form
