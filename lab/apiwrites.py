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
    details,
    document,
    failure,
    invalid,
    modified,
    not_found,
    success,
    unmet,
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
    refused = _misfit(resource, namespace, body, metadata) or _homeless(
        store, resource, namespace, metadata
    )
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
        why = f'Invalid value: "{given["uid"]}": field is immutable'
        return invalid(resource, name, "metadata.uid", why, times=2)
    version = metadata["resourceVersion"]
    if given.get("resourceVersion", version) != version:
        return modified(resource, name)
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
    if (refused := _unmet(resource, item, options.get("preconditions") or {})) is not None:
        return refused
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
    dying: Object = {"deletionTimestamp": metadata.get("deletionTimestamp", stamp(moment))}
    if item["kind"] == "Namespace":
        # It has no grace, and its state is the API's own.
        patch: Object = {"metadata": dying, "status": {"phase": "Terminating"}}
    else:
        patch = {"metadata": dying | {"deletionGracePeriodSeconds": grace}}
    store.merge(item["kind"], metadata.get("namespace", ""), metadata["name"], patch)
    item.update(merged(item, patch))
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
    version, kind = body.get("apiVersion", resource.group_version), body.get("kind", resource.kind)
    cannot = f'{kind} in version "{version}" cannot be handled as a {resource.kind}: '
    if version != resource.group_version:
        return bad_request(
            f'{cannot}no kind "{kind}" is registered for version "{version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    if kind != resource.kind:
        home = resource.group.partition(".")[0] or "core"
        return bad_request(
            f"{cannot}converting (v1.{kind}) to ({home}.{resource.kind}): unknown conversion"
        )
    if resource.namespaced and metadata.get("namespace", namespace) != namespace:
        return bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if not metadata.get("name") and not metadata.get("generateName"):
        why = "Required value: name or generateName is required"
        return invalid(resource, "", "metadata.name", why)
    return None


def _homeless(store: Store, resource: Resource, namespace: str, metadata: Object) -> Answer | None:
    """Why nothing can be made in that namespace."""
    if not resource.namespaced:
        return None
    home = store.get("Namespace", "", namespace)
    if home is None:
        spaces = next(each for each in RESOURCES if each.kind == "Namespace")
        return not_found(spaces, namespace)
    if home.get("status", {}).get("phase") != "Terminating":
        return None
    name = metadata.get("name", "")
    text = (
        f'{resource.qualified} "{name}" is forbidden: unable to create new content in namespace '
        f"{namespace} because it is being terminated"
    )
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    return failure(403, "Forbidden", text, details(resource, name) | {"causes": [cause]})


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


def _unmet(resource: Resource, item: Object, wanted: Object) -> Answer | None:
    """What a deletion's preconditions say of the object."""
    metadata = item["metadata"]
    for key, title, consequence in (
        ("uid", "UID", "deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "modified"),
    ):
        if wanted.get(key, metadata[key]) != metadata[key]:
            why = (
                f"the {title} in the precondition ({wanted[key]}) does not match the {title} in "
                f"record ({metadata[key]}). The object might have been {consequence}"
            )
            return unmet(resource, metadata["name"], why)
    return None
