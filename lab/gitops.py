"""Argo CD in the lab: the root Application, what registers its repository, and self-heal."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from lab import layout
from lab.checkouts import infrastructure
from lab.gitops_manifest import MANIFEST, sha256, text
from lab.kinds import stamp
from lab.kube_secret import base64, secret
from lab.objects import copied
from lab.operations import CHECKOUT
from lab.phase import Phase

if TYPE_CHECKING:
    from datetime import datetime

    from lab.objects import Object
    from lab.world import World

NAMESPACE: Final = "argocd"
ROOT: Final = "root"
TARGET: Final = "platform"
URL: Final = "https://github.com/wetopi-platform/infrastructure.git"
SECRET: Final = "repo-infra-https"  # noqa: S105 a name
ADMIN: Final = "argocd-initial-admin-secret"
VERSION: Final = "v3.4.8"
NAMES: Final = {
    "infrastructure_repository": URL,
    "argocd_namespace": NAMESPACE,
    "argocd_repository_secret": SECRET,
    "argocd_application": ROOT,
    "argocd_project": "platform",
    "argocd_path": "kubernetes/platform",
    "argocd_revision": "main",
    "argocd_target_namespace": TARGET,
    "argocd_manifest_sha256": sha256(),
}
"""As the inventory calls them."""

_API: Final = "argoproj.io/v1alpha1"
_CONTROLLER: Final = "argocd-application-controller-0"


@dataclass(slots=True)
class GitOps:
    """What Argo CD does, and what goes wrong with it.

    Attributes:
        tracked: what Git says of the objects it manages, by kind and name.
        client, server: versions, without their build.
        logged_in: the operator has a session that counts.
        connection: what the server says of the repository: state and message.
        cached: it says so without having tried, as of long ago.
        dateless: it does not say when it tried.
        compares: the controller compares cluster and Git.
        notices: it sees what differs.
        heals: what drifts is brought back.
        tells: of what it brought back, by a sync of its own.
    """

    tracked: dict[tuple[str, str], Object] = field(default_factory=dict)
    client: str = VERSION
    server: str = VERSION
    logged_in: bool = True
    connection: tuple[str, str] = ("Successful", "")
    cached: bool = False
    dateless: bool = False
    compares: bool = True
    notices: bool = True
    heals: bool = True
    tells: bool = True


def prepare(world: World) -> None:
    """What there is of it at the world's phase."""
    if world.phase.reached(Phase.E):
        # The checkout is cloned then, and has the manifest since long.
        world.bastion.files.file(f"{CHECKOUT}/{MANIFEST}", text().encode(), owner=layout.USER)
    if not world.phase.reached(Phase.G):
        return
    world.bastion.files.binary("/usr/local/bin/argocd", "argocd")
    store = world.objects
    store.put(secret(world, NAMESPACE, ADMIN, {"password": "bGFiLW9ubHktbm8tcGFzc3dvcmQ="}))
    credential = secret(
        world,
        NAMESPACE,
        SECRET,
        {
            "type": base64("git"),
            "url": base64(URL),
            "username": base64("box-daxter"),
            "password": base64("lab-only-no-token-at-all"),
        },
    )
    credential["metadata"]["labels"] = {"argocd.argoproj.io/secret-type": "repository"}
    world.storage.awaited[NAMESPACE, SECRET] = credential
    store.put(_application(world))
    store.views["Application"] = partial(_bring_up_to_date, world)


def track(world: World) -> None:
    """Git manages a ConfigMap from now on."""
    item: Object = {
        "apiVersion": "v1",
        "data": {"region": "gra", "tier": "platform"},
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {
                "argocd.argoproj.io/tracking-id": f"{ROOT}:/ConfigMap:{TARGET}/settings"
            },
            "creationTimestamp": stamp(world.seed.born),
            "labels": {"app.kubernetes.io/part-of": "platform"},
            "name": "settings",
            "namespace": TARGET,
            "uid": world.seed.uuid("configmap", TARGET, "settings"),
        },
    }
    world.gitops.tracked["ConfigMap", "settings"] = copied(item)
    world.objects.put(item)
    world.objects.merge(
        "Application", NAMESPACE, ROOT, {"status": {"resources": _resources(world)}}
    )


def begin(world: World) -> None:
    """Compare from now on."""
    world.objects.watch(partial(_notice, world))


def _notice(world: World, before: Object | None, after: Object | None) -> None:
    item = after or before
    assert item is not None
    key = (item["kind"], item["metadata"]["name"])
    if key not in world.gitops.tracked or not (world.gitops.compares and world.gitops.notices):
        return
    if item["metadata"].get("namespace") == TARGET and _drifted(world, *key):
        compare = partial(_compare, world, key)
        world.cluster.work.soon(world, world.pace.compare, ("compare", *key), compare)


def _drifted(world: World, kind: str, name: str) -> bool:
    wanted = world.gitops.tracked[kind, name]
    there = world.objects.peek(kind, TARGET, name)
    return there is None or _desired(there) != _desired(wanted)


def _desired(item: Object) -> Object:
    metadata = item["metadata"]
    content = {
        key: value for key, value in item.items() if key not in ("metadata", "apiVersion", "kind")
    }
    return {**content, "labels": metadata.get("labels", {})}


def _compare(world: World, key: tuple[str, str]) -> None:
    if not _drifted(world, *key):
        return
    _say(world, {"resources": _resources(world), "sync": {"status": "OutOfSync"}})
    if world.gitops.heals:
        heal = partial(_heal, world, key)
        world.cluster.work.soon(world, world.pace.heal, ("heal", *key), heal)


def _heal(world: World, key: tuple[str, str]) -> None:
    wanted = copied(world.gitops.tracked[key])
    there = world.objects.peek(key[0], TARGET, key[1])
    if there is None:
        world.serial += 1
        wanted["metadata"]["uid"] = world.seed.uuid(*key, str(world.serial))
    else:
        wanted["metadata"] = {**there["metadata"], "labels": wanted["metadata"]["labels"]}
    world.objects.put(wanted)
    said: Object = {"resources": _resources(world), "sync": {"status": "Synced"}}
    if world.gitops.tells:
        said["operationState"] = _operation(world, {"automated": True}, [_row(wanted)])
    _say(world, said)


def _say(world: World, status: Object) -> None:
    if world.objects.peek("Application", NAMESPACE, ROOT) is not None:
        world.objects.merge("Application", NAMESPACE, ROOT, {"status": status})
        world.timeline.changed()


def _resources(world: World) -> list[Object]:
    rows = []
    for key, item in world.gitops.tracked.items():
        status = "OutOfSync" if _drifted(world, *key) else "Synced"
        rows.append({**_row(item), "status": status})
    return rows


def _row(item: Object) -> Object:
    metadata = item["metadata"]
    return {
        "kind": item["kind"],
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "version": "v1",
    }


def _bring_up_to_date(world: World, item: Object) -> None:
    """A controller that lives compares all the time, with what the Application says now."""
    pod = world.objects.peek("Pod", NAMESPACE, _CONTROLLER)
    lives = pod is not None and pod["status"].get("phase") == "Running"
    if item["metadata"]["name"] == ROOT and "status" in item and world.gitops.compares and lives:
        item["status"]["reconciledAt"] = stamp(clock(world, _CONTROLLER))
        source = item.get("spec", {}).get("source")
        if source and "sync" in item["status"]:
            item["status"]["sync"]["comparedTo"] = {"source": copied(source)}


def clock(world: World, name: str) -> datetime:
    """The time on the node on which pods of that name run: what they write has that time."""
    for pod in world.objects.each("Pod"):
        metadata = pod["metadata"]
        if metadata.get("namespace") == NAMESPACE and metadata["name"].startswith(name):
            host = world.hosts.get(pod["spec"].get("nodeName", ""))
            return world.now(host) if host else world.now()
    return world.now()


def _revision() -> str:
    return infrastructure().commits[-1]


def _application(world: World) -> Object:
    return {
        "apiVersion": _API,
        "kind": "Application",
        "metadata": {
            "creationTimestamp": stamp(world.seed.born),
            "generation": 1,
            "name": ROOT,
            "namespace": NAMESPACE,
            "uid": world.seed.uuid("application", ROOT),
        },
        "spec": {
            "destination": {"namespace": TARGET, "server": "https://kubernetes.default.svc"},
            "project": "platform",
            "source": {"path": "kubernetes/platform", "repoURL": URL, "targetRevision": "main"},
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "syncOptions": ["CreateNamespace=true"],
            },
        },
        "status": {
            "controllerNamespace": NAMESPACE,
            "health": {"status": "Healthy"},
            "history": [
                {
                    "deployedAt": stamp(world.seed.born),
                    "id": 0,
                    "initiatedBy": {"automated": True},
                    "revision": _revision(),
                }
            ],
            "operationState": _operation(world, {"username": "admin"}, []),
            "reconciledAt": stamp(world.seed.born),
            "sourceType": "Directory",
            "sync": {"revision": _revision(), "status": "Synced"},
        },
    }


def _operation(world: World, by: Object, resources: list[Object]) -> Object:
    now = clock(world, _CONTROLLER)
    sync: Object = {"prune": True, "revision": _revision()}
    source = {"path": "kubernetes/platform", "repoURL": URL, "targetRevision": "main"}
    result: Object = {"revision": _revision(), "source": source}
    if resources:
        sync["resources"] = resources
        result["resources"] = [{**row, "status": "Synced"} for row in resources]
    return {
        "finishedAt": stamp(now),
        "message": "successfully synced (no more tasks)"
        if not resources
        else "successfully synced (all tasks run)",
        "operation": {"initiatedBy": by, "retry": {"limit": 5}, "sync": sync},
        "phase": "Succeeded",
        "startedAt": stamp(now - timedelta(seconds=1)),
        "syncResult": result,
    }
