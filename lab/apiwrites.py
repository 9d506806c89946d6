"""Writing objects of the Kubernetes API: create, merge, remove. Used by its front and by kubectl.

Every change ends in `world.timeline.changed()`, so that controllers react.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lab.admission import ADMITS, LINGERS
from lab.kinds import stamp
from lab.objects import RESOURCES, copied, merged
from lab.statuses import (
    Answer,
    bad_request,
    conflict,
    details,
    document,
    failure,
    invalid,
    not_found,
    success,
)

if TYPE_CHECKING:
    from lab.apipaths import Target
    from lab.host import Host
    from lab.objects import Object, Resource, Store
    from lab.world import World

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME_WANTED = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
# Kinds whose deletion answers with the object, not with a Status.
_SHOWN = frozenset({"Namespace", "Pod"})
_COUNTS_GENERATIONS = frozenset({"apps/v1", "policy/v1", "networking.k8s.io/v1"})


def create(world: World, host: Host, target: Target, body: Object) -> Answer:
    """`POST` of an object to that control plane's API: 201 and the object, or why not.

    Its name is in `body`, not in `target`.
    """
    resource, namespace = target.resource, target.namespace
    store = world.objects_of(host)
    metadata = dict(body.get("metadata") or {})
    refused = _misfit(resource, namespace, body, metadata) or _homeless(store, resource, namespace)
    if refused is not None:
        return refused
    world.serial += 1
    if not metadata.get("name"):
        base = metadata["generateName"]
        metadata["name"] = base + world.seed.suffix(base, str(world.serial), digits=5)
    name = metadata["name"]
    if not _NAME.fullmatch(name):
        why = f'Invalid value: "{name}": {_NAME_WANTED}'
        return invalid(resource, name, "metadata.name", why)
    there = store.get(resource.kind, namespace, name)
    if there is not None:
        dying = "object is being deleted: " if "deletionTimestamp" in there["metadata"] else ""
        text = f'{dying}{resource.qualified} "{name}" already exists'
        return failure(409, "AlreadyExists", text, details(resource, name))
    metadata |= {
        "creationTimestamp": stamp(world.now(host)),
        "uid": world.seed.uuid(resource.kind, namespace, name, str(world.serial)),
    }
    if resource.namespaced:
        metadata["namespace"] = namespace
    if resource.group_version in _COUNTS_GENERATIONS:
        metadata["generation"] = 1
    item = body | {
        "apiVersion": resource.group_version,
        "kind": resource.kind,
        "metadata": metadata,
    }
    for admit in ADMITS.get(resource.kind, ()):
        refused = admit(world, store, item)
        if refused is not None:
            return refused
    store.put(item)
    world.timeline.changed()
    return document(201, item)


def merge(world: World, host: Host, target: Target, patch: Object) -> Answer:
    """`PATCH` of an object with a merge patch: 200 and the object, or why not."""
    resource, namespace, name = target.resource, target.namespace, target.name
    store = world.objects_of(host)
    before = store.get(resource.kind, namespace, name)
    if before is None:
        return not_found(resource, name)
    given, metadata = patch.get("metadata") or {}, before["metadata"]
    if given.get("name", name) != name:
        return bad_request(
            f"the name of the object ({given['name']}) does not match the name on the URL ({name})"
        )
    if given.get("uid", metadata["uid"]) != metadata["uid"]:
        return conflict(resource, name, _other_uid(given["uid"], before))
    version = metadata["resourceVersion"]
    if given.get("resourceVersion", version) != version:
        return conflict(resource, name, _MODIFIED)
    after = merged(before, patch)
    if after == before:
        return document(200, before)
    store.merge(resource.kind, namespace, name, patch)
    if "generation" in metadata and after.get("spec") != before.get("spec"):
        _mark(store, before, generation=metadata["generation"] + 1)
    if "deletionTimestamp" in metadata and not after["metadata"].get("finalizers"):
        _settle(world, store, after)
    world.timeline.changed()
    return document(200, store.get(resource.kind, namespace, name) or after)


def remove(world: World, host: Host, target: Target, options: Object | None = None) -> Answer:
    """`DELETE` of an object; `options` is a DeleteOptions.

    An object that does not go at once gets its `deletionTimestamp`; its dependents go with it
    unless `propagationPolicy` is `Orphan`.
    """
    resource, namespace, name = target.resource, target.namespace, target.name
    options = options or {}
    store = world.objects_of(host)
    item = store.get(resource.kind, namespace, name)
    if item is None:
        return not_found(resource, name)
    metadata = item["metadata"]
    wanted = options.get("preconditions") or {}
    if wanted.get("uid", metadata["uid"]) != metadata["uid"]:
        return conflict(resource, name, _other_uid(wanted["uid"], item))
    if wanted.get("resourceVersion", metadata["resourceVersion"]) != metadata["resourceVersion"]:
        return conflict(resource, name, _MODIFIED)
    if options.get("propagationPolicy") == "Orphan":
        _orphan(store, metadata["uid"])
    grace = options.get("gracePeriodSeconds")
    if "deletionTimestamp" not in metadata or grace == 0:
        _begin_to_delete(world, store, item, grace)
    world.timeline.changed()
    left = store.get(resource.kind, namespace, name)
    if left is not None:
        return document(200, left)
    return document(200, item) if resource.kind in _SHOWN else success(item, resource)


def finish(world: World, store: Store, item: Object) -> None:
    """Let an object be gone, and whatever it owns: nobody holds it any more."""
    metadata = item["metadata"]
    store.delete(item["kind"], metadata.get("namespace", ""), metadata["name"])
    for dependent in _dependents(store, metadata["uid"]):
        if "deletionTimestamp" not in dependent["metadata"]:
            _begin_to_delete(world, store, dependent, None)


def _begin_to_delete(world: World, store: Store, item: Object, grace: int | None) -> None:
    if grace is None:
        grace = int(item.get("spec", {}).get("terminationGracePeriodSeconds", 0))
    metadata = item["metadata"]
    moment = datetime.now(UTC) + timedelta(seconds=grace)
    metadata.setdefault("deletionTimestamp", stamp(moment))
    metadata["deletionGracePeriodSeconds"] = grace
    _mark(
        store,
        item,
        deletionTimestamp=metadata["deletionTimestamp"],
        deletionGracePeriodSeconds=grace,
    )
    _settle(world, store, item)


def _mark(store: Store, item: Object, **fields: object) -> None:
    metadata = item["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace", "")
    store.merge(item["kind"], namespace, name, {"metadata": fields})


def _settle(world: World, store: Store, item: Object) -> None:
    """Let a deleted object be gone unless something still holds it."""
    stays = LINGERS.get(item["kind"])
    if item["metadata"].get("finalizers") or (stays is not None and stays(world, store, item)):
        return
    finish(world, store, item)


def _misfit(resource: Resource, namespace: str, body: Object, metadata: Object) -> Answer | None:
    given = body.get("apiVersion", resource.group_version), body.get("kind", resource.kind)
    if given != (resource.group_version, resource.kind):
        return bad_request(
            f'{resource.kind} in version "{resource.group_version.rpartition("/")[2]}" cannot be '
            f'handled as a {resource.kind}: no kind "{given[1]}" is registered for version '
            f'"{given[0]}"'
        )
    if resource.namespaced and metadata.get("namespace", namespace) != namespace:
        return bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if not metadata.get("name") and not metadata.get("generateName"):
        why = "Required value: name or generateName is required"
        return invalid(resource, "", "metadata.name", why)
    return None


def _homeless(store: Store, resource: Resource, namespace: str) -> Answer | None:
    if not resource.namespaced:
        return None
    home = store.get("Namespace", "", namespace)
    spaces = next(each for each in RESOURCES if each.kind == "Namespace")
    if home is None:
        return not_found(spaces, namespace)
    if home.get("status", {}).get("phase") != "Terminating":
        return None
    why = f"namespace {namespace} is being terminated"
    text = (
        f"{resource.qualified} is forbidden: unable to create new content in namespace {namespace} "
        "because it is being terminated"
    )
    causes = [
        {"reason": "NamespaceTerminating", "message": why, "field": "metadata.namespace"},
    ]
    return failure(403, "Forbidden", text, {"kind": resource.plural, "causes": causes})


def _dependents(store: Store, uid: str) -> list[Object]:
    return [
        copied(item)
        for resource in RESOURCES
        for item in store.each(resource.kind)
        if any(owner["uid"] == uid for owner in item["metadata"].get("ownerReferences", ()))
    ]


def _orphan(store: Store, uid: str) -> None:
    for item in _dependents(store, uid):
        owners = item["metadata"]["ownerReferences"]
        _mark(store, item, ownerReferences=[each for each in owners if each["uid"] != uid])


def _other_uid(uid: str, item: Object) -> str:
    return (
        f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
        f"{item['metadata']['uid']}"
    )
