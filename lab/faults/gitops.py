"""Faults of Argo CD: its repository, what it does about drift, its command line, its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import gitops
from lab.faults.registry import FaultError, fault
from lab.gitops_manifest import MANIFEST
from lab.operations import CHECKOUT
from lab.phase import Phase

if TYPE_CHECKING:
    from lab.world import World

_MANIFESTS = ("absent", "changed", "longer")
_WAYS = ("ignored", "not-healed", "not-told")


@fault("gitops-repository", "the server says of the repository: `state`, `message`; or of long ago")
def gitops_repository(
    world: World,
    *,
    state: str = "Failed",
    message: str = "",
    cached: bool = False,
    dateless: bool = False,
) -> None:
    """`cached`: even a hard refresh does not try it anew. `dateless`: nobody knows when it did."""
    world.gitops.connection = (state, message)
    world.gitops.cached, world.gitops.dateless = cached, dateless


@fault("gitops-logged-out", "the operator's session with Argo CD is over")
def gitops_logged_out(world: World) -> None:
    """The token lives a day."""
    world.gitops.logged_in = False


@fault("gitops-stalled", "Argo CD's controller compares nothing any more; its pod looks healthy")
def gitops_stalled(world: World) -> None:
    """What the Application says is what it last wrote."""
    world.gitops.compares = False


@fault("gitops-version", "client or server of Argo CD is of another version")
def gitops_version(
    world: World, client: str = gitops.VERSION, server: str = gitops.VERSION
) -> None:
    """Without their build."""
    world.gitops.client, world.gitops.server = client, server


@fault("gitops-manages", "Git manages a ConfigMap in namespace platform")
def gitops_manages(world: World) -> None:
    """The first workload has landed."""
    if world.phase.reached(Phase.G):
        gitops.track(world)


@fault("gitops-drift", f"drift is {', '.join(_WAYS)}")
def gitops_drift(world: World, how: str) -> None:
    """Not compared; seen and left alone; or healed without a sync of its own."""
    if how not in _WAYS:
        raise FaultError(f"`how` is one of {', '.join(_WAYS)}, not `{how}`")
    world.gitops.notices = how != "ignored"
    world.gitops.heals = how == "not-told"
    world.gitops.tells = False


@fault("gitops-manifest", f"the pinned manifest on ops01 is {', '.join(_MANIFESTS)}")
def gitops_manifest(world: World, how: str = "changed") -> None:
    """Not there, or not the reviewed one."""
    if how not in _MANIFESTS:
        raise FaultError(f"`how` is one of {', '.join(_MANIFESTS)}, not `{how}`")
    files, path = world.bastion.files, f"{CHECKOUT}/{MANIFEST}"
    if not files.has(path):
        return
    if how == "absent":
        files.remove(path)
        return
    more = "# changed\n" if how == "changed" else "---\napiVersion: v1\nkind: Secret\n"
    files.file(path, files.read(path) + more.encode())
