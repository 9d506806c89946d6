"""Faults of Secrets as etcd keeps them, of the storage beyond the nodes, and of its driver."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from lab.faults.registry import FaultError, fault
from lab.storage import SECRET

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


@fault("volumes-not-provisioned", "claims stay Pending: the provisioner gets no answer from Ceph")
def not_provisioned(world: World) -> None:
    """A placeholder clusterID, a wrong key, or no route."""
    world.storage.provisions = False


@fault("volumes-not-mounted", "no node can map an image: Bound is not mountable")
def not_mounted(world: World) -> None:
    """What kubelet tells of it is an event of the pod."""
    world.storage.mount_error = (
        "rpc error: code = Internal desc = rbd: map failed with error an error (exit status 110) "
        "occurred while running rbd args"
    )


@fault("volumes-forget", "what was written to a volume is lost with the pod")
def forget(world: World) -> None:
    """As if it had been written to the container's own file system."""
    world.storage.forgets = True


@fault("images-stay", "the image of a deleted claim stays in the pool, or in its trash")
def images_stay(world: World, *, trash: bool = False) -> None:
    """A class that retains, or a trash that nobody empties."""
    world.storage.keeps, world.storage.trashes = not trash, trash


@fault("images-half-removed", "the removal of a deleted claim's image is begun and cut off")
def images_half_removed(world: World) -> None:
    """What `rbd trash ls` lists with `--all` only."""
    world.storage.halves = True


@fault("volume-stays", "the image of a deleted claim goes, its volume stays on the cluster")
def volume_stays(world: World) -> None:
    """A finalizer that nobody takes away."""
    world.storage.stays = True


@fault("volumes-are-no-rbd", "what a pod has mounted for its claim is this, such as tmpfs")
def no_rbd(world: World, device: str = "tmpfs") -> None:
    """Written and read well, and not on Ceph."""
    world.storage.device = device


@fault("ceph-user-is-admin", "the Secret of the driver has Ceph's administrator")
def user_is_admin(world: World) -> None:
    """It can do everything in every pool."""
    if secret := world.storage.awaited.get(SECRET):
        secret["data"]["userID"] = b64encode(b"admin").decode()


@fault("rbd-fails", "rbd cannot reach the Ceph cluster from the host")
def rbd_fails(world: World) -> None:
    """Its empty list is not an empty pool."""
    world.storage.rbd_error = "rbd: couldn't connect to the cluster!\nrbd: listing images failed"


@fault("csi-errors", "the driver logs errors of each volume when it makes it, and goes on")
def csi_errors(world: World) -> None:
    """They end in success."""
    line = (
        "ID: 27 Req-ID: VOLUME GRPC error: rpc error: code = Aborted desc = an operation with the "
        "given Volume ID VOLUME already exists"
    )
    world.storage.errors = [line]


@fault("csi-errors-last", "the driver cannot clean up behind a volume, and gives up")
def csi_errors_last(world: World) -> None:
    """No success follows."""
    world.storage.last_errors = [
        "ID: 31 Req-ID: VOLUME failed to delete omap of image IMAGE: rados: ret=-110"
    ]


@fault("csi-restarts", "the driver ends and is started again when it has removed a volume")
def csi_restarts(world: World) -> None:
    """What it said before is in its former log."""
    world.storage.restarts = True


@fault("csi-silent", "the driver's log level is so low that its logs name no volume")
def csi_silent(world: World) -> None:
    """That there is no error proves nothing then."""
    world.storage.silent = True
