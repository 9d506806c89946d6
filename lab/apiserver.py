"""What one control plane's kube-apiserver answers; used by the TLS front and by local tools.

Texts follow a real v1.36.3 with `--anonymous-auth=false` (captures: kube-1.36.3.out).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab import apilists, apipaths, apiwrites, layout
from lab.admission import PARTS
from lab.apipaths import Target
from lab.statuses import (
    Answer,
    bad_request,
    document,
    failure,
    not_found,
    unknown_group,
    unknown_path,
    wrong_method,
)

if TYPE_CHECKING:
    from lab.host import Host
    from lab.objects import Object, Store
    from lab.pki import Client
    from lab.world import World

_CHECKS = (
    "ping",
    "log",
    "etcd",
    "etcd-readiness",
    "informer-sync",
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
    "shutdown",
)
_ONLY_READYZ = frozenset({"etcd-readiness", "informer-sync", "shutdown"})
_NEED_ETCD = frozenset({"etcd", "etcd-readiness"})


def answer(
    world: World,
    host: Host,
    method: str,
    path: str,
    client: Client | None,
    *,
    body: bytes = b"",
) -> Answer:
    """Answer one request on that control plane's API.

    `path` has its query; `client` is whom the client certificate names, if any.
    """
    url = urlsplit(path)
    name = url.path.strip("/")
    if client is None or not client.valid:
        return failure(401, "Unauthorized", "Unauthorized")
    if name in ("readyz", "livez", "healthz"):
        return _health(world, host, name, verbose="verbose" in url.query)
    if name == "version":
        return document(200, {"gitVersion": layout.RKE2, "major": "1", "minor": "36"})
    if not world.etcd_serves(host):
        return failure(
            504,
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be "
            "processing requests",
        )
    return _resource(world, host, method, path, body)


def _resource(world: World, host: Host, method: str, path: str, body: bytes) -> Answer:
    target = apipaths.target(path)
    missing = unknown_path if apipaths.served_group(path, world.phase) else unknown_group
    if target is None:
        return missing()
    if not apipaths.served(target.resource, world.phase):
        return missing(known=True)
    try:
        sent = json.loads(body or b"{}")
    except ValueError:
        sent = None
    if not isinstance(sent, dict):
        return bad_request("the object provided is unrecognized: it is not a JSON object")
    play = _part if target.part and target.part != "status" else _object
    return play(world, host, method, target, sent)


def _health(world: World, host: Host, name: str, *, verbose: bool) -> Answer:
    serving = world.etcd_serves(host)
    checks = [check for check in _CHECKS if name == "readyz" or check not in _ONLY_READYZ]
    lines = [
        f"[-]{check} failed: reason withheld"
        if check in _NEED_ETCD and not serving
        else f"[+]{check} ok"
        for check in checks
    ]
    if not serving:
        return Answer(
            500, "\n".join([*lines, f"{name} check failed", ""]), "text/plain; charset=utf-8"
        )
    text = "\n".join([*lines, f"{name} check passed", ""]) if verbose else "ok"
    return Answer(200, text, "text/plain; charset=utf-8")


def _object(world: World, host: Host, method: str, target: Target, body: Object) -> Answer:
    name = target.name
    if method == "GET":
        store = world.objects_of(host)
        return _get(store, target) if name else apilists.answer(store, target)
    if method == "POST" and not name:
        return apiwrites.create(world, host, target, body)
    if method == "PATCH" and name:
        return apiwrites.merge(world, host, target, body)
    if method == "DELETE" and name:
        return apiwrites.remove(world, host, target, _options(target, body))
    if method == "DELETE" and target.asked("labelSelector"):
        return _remove_all(world, host, target, body)
    return wrong_method()


def _part(world: World, host: Host, method: str, target: Target, body: Object) -> Answer:
    """A subresource, as far as somebody plays it."""
    store, resource = world.objects_of(host), target.resource
    item = store.get(resource.kind, target.namespace, target.name)
    if item is None:
        return not_found(resource, target.name)
    play = PARTS.get((resource.kind, target.part, method))
    return wrong_method() if play is None else play(world, store, item, target, body)


def _remove_all(world: World, host: Host, target: Target, body: Object) -> Answer:
    listed = apilists.answer(world.objects_of(host), target)
    if listed.status == 200:
        for item in listed.document["items"]:
            metadata = item["metadata"]
            place = Target(target.resource, metadata.get("namespace", ""), metadata["name"])
            apiwrites.remove(world, host, place, _options(target, body))
    return listed


def _options(target: Target, body: Object) -> Object:
    """The DeleteOptions of a deletion: in its body, or in its query."""
    options: Object = {}
    if policy := target.asked("propagationPolicy"):
        options["propagationPolicy"] = policy
    if (grace := target.asked("gracePeriodSeconds")).isdigit():
        options["gracePeriodSeconds"] = int(grace)
    return options | body


def _get(store: Store, target: Target) -> Answer:
    item = store.get(target.resource.kind, target.namespace, target.name)
    return not_found(target.resource, target.name) if item is None else document(200, item)
