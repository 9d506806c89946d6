"""What one control plane's kube-apiserver answers; used by the TLS front and by local tools.

Texts follow a real v1.36.3 with `--anonymous-auth=false` (captures: kube-1.36.3.out).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from lab import layout
from lab.objects import RESOURCES, Resource, has_labels

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


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer. `known` is false when the path is one the lab does not model."""

    status: int
    body: str
    content_type: str = "application/json"
    known: bool = True

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def answer(world: World, host: Host, method: str, target: str, client: Client | None) -> Answer:
    """Answer one request on that control plane's API.

    `target` is a path with its query; `client` is whom the client certificate names, if any.
    """
    if client is None or not client.valid:
        return failure(401, "Unauthorized", "Unauthorized")
    url = urlsplit(target)
    query = parse_qs(url.query, keep_blank_values=True)
    name = url.path.strip("/")
    if name in ("readyz", "livez", "healthz"):
        return _health(world, host, name, verbose="verbose" in query)
    if name == "version":
        return _json(200, {"gitVersion": layout.RKE2, "major": "1", "minor": "36"})
    if method != "GET":
        refused = failure(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        return Answer(refused.status, refused.body, known=False)
    if not world.etcd_serves(host):
        return failure(
            504,
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be "
            "processing requests",
        )
    return _resource(world, world.objects_of(host), url.path, query)


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


def _resource(world: World, store: Store, path: str, query: dict[str, list[str]]) -> Answer:
    parts = path.strip("/").split("/")
    if parts[:2] == ["api", "v1"]:
        group_version, rest = "v1", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group_version, rest = "/".join(parts[1:3]), parts[3:]
    else:
        return _unknown_path()
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource = next(
        (r for r in RESOURCES if rest and r.plural == rest[0] and r.group_version == group_version),
        None,
    )
    if resource is None or len(rest) > 2:
        return _unknown_path()
    if resource.since is not None and not world.phase.reached(resource.since):
        return Answer(_unknown_path().status, _unknown_path().body)
    if len(rest) == 2:
        return get(store, resource, namespace, rest[1])
    items = select(
        store,
        resource,
        namespace or None,
        query.get("labelSelector", [""])[0],
        query.get("fieldSelector", [""])[0],
    )
    for item in items:
        # Items of a typed list carry neither kind nor version on the wire.
        item.pop("kind", None)
        item.pop("apiVersion", None)
    return _json(
        200,
        {
            "kind": f"{resource.kind}List",
            "apiVersion": resource.group_version,
            "metadata": {"resourceVersion": str(store.version)},
            "items": items,
        },
    )


def get(store: Store, resource: Resource, namespace: str, name: str) -> Answer:
    """One object, or the API's 404."""
    item = store.get(resource.kind, namespace, name)
    if item is None:
        return failure(
            404,
            "NotFound",
            f'{resource.qualified} "{name}" not found',
            {"name": name, "kind": resource.plural}
            | ({"group": resource.group} if resource.group else {}),
        )
    return _json(200, item)


def select(
    store: Store, resource: Resource, namespace: str | None, labels: str, fields: str
) -> list[Object]:
    """The objects a list request means.

    Raises:
        ValueError: a selector the lab does not know.
    """
    wanted = _selector(labels)
    found = store.select(resource.kind, namespace)
    for key, value in _selector(fields).items():
        found = [item for item in found if _field(item, key) == value]
    return [item for item in found if has_labels(item, wanted)]


def _selector(text: str) -> dict[str, str]:
    terms = [term for term in text.split(",") if term]
    if any("=" not in term or "!" in term or "(" in term for term in terms):
        raise ValueError(f"selector {text}")
    return dict(term.replace("==", "=").split("=", 1) for term in terms)


def _field(item: Object, dotted: str) -> str:
    value: Any = item
    for part in dotted.split("."):
        value = value.get(part, {}) if isinstance(value, dict) else {}
    return str(value) if value else ""


def failure(code: int, reason: str, message: str, details: dict[str, str] | None = None) -> Answer:
    """A Status object; 401 and 404 of unknown paths are indented as the real ones."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if details is not None:
        status["details"] = details
    status["code"] = code
    return Answer(code, json.dumps(status, indent=2))


def _unknown_path() -> Answer:
    refused = failure(404, "NotFound", "the server could not find the requested resource", {})
    return Answer(refused.status, refused.body, known=False)


def _json(status: int, document: object) -> Answer:
    return Answer(status, json.dumps(document) + "\n")
