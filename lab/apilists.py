"""Lists of the Kubernetes API: selectors, and pages of one consistent snapshot."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lab.statuses import Answer, bad_request, document, failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.apipaths import Target
    from lab.objects import Object, Resource, Store

_TERM = re.compile(
    r"(?P<key>[^\s,!=()]+)\s+(?P<word>in|notin)\s+\((?P<values>[^()]*)\)"
    r"|(?P<name>[^\s,!=()]+)\s*(?P<sign>==|!=|=)\s*(?P<value>[^\s,!=()]*)"
    r"|(?P<absent>!?)(?P<present>[^\s,!=()]+)"
)
_KEPT = 64
_EVERYWHERE = ("metadata.name", "metadata.namespace")
# Fields that a kind can be selected by besides; a few of each kind's.
_FIELDS = {
    "Event": ("involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"),
    "Job": ("status.successful",),
    "Namespace": ("status.phase", "name"),
    "Node": ("spec.unschedulable",),
    "Pod": ("spec.nodeName", "spec.restartPolicy", "status.phase", "status.podIP"),
    "ReplicaSet": ("status.replicas",),
    "Secret": ("type",),
}
_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)
# What is left of lists that somebody reads page by page, by token, as it was at the first page.
_LEFT: WeakKeyDictionary[Store, dict[str, tuple[int, list[Object]]]] = WeakKeyDictionary()


def answer(store: Store, target: Target) -> Answer:
    """The list, or the page of it that is asked for."""
    token, limit = target.asked("continue"), target.asked("limit") or "0"
    if not limit.isdigit():
        return bad_request(f'strconv.ParseInt: parsing "{limit}": invalid syntax')
    version, more = store.version, ""
    if token:
        known = _LEFT.get(store, {})
        if not _is_token(token):
            return bad_request(
                "invalid continue token: continue key is not valid: illegal base64 data at input "
                "byte 0"
            )
        if token not in known:
            return failure(410, "Expired", _EXPIRED)
        version, items = known[token]
    else:
        try:
            items = select(
                store,
                target.resource,
                target.namespace or None,
                target.asked("labelSelector"),
                target.asked("fieldSelector"),
            )
        except ValueError as error:
            return bad_request(str(error))
        for item in items:
            # Items of a typed list carry neither kind nor version on the wire.
            item.pop("kind", None)
            item.pop("apiVersion", None)
    metadata: dict[str, Any] = {"resourceVersion": str(version)}
    size = int(limit)
    if size and len(items) > size:
        items, left = items[:size], items[size:]
        more = _remember(store, version, left)
        metadata["continue"] = more
        if not target.asked("labelSelector") and not target.asked("fieldSelector"):
            metadata["remainingItemCount"] = len(left)
    return document(
        200,
        {
            "kind": f"{target.resource.kind}List",
            "apiVersion": target.resource.group_version,
            "metadata": metadata,
            "items": items,
        },
    )


def select(
    store: Store, resource: Resource, namespace: str | None, labels: str, fields: str
) -> list[Object]:
    """The objects a list request means.

    Raises:
        ValueError: not a selector; the API's text.
    """
    wanted = [_matching(term) for term in _terms(labels)]
    where = [_comparing(resource.kind, term) for term in _terms(fields)]
    return [
        item
        for item in store.select(resource.kind, namespace)
        if all(has(item["metadata"].get("labels") or {}) for has in wanted)
        and all(is_so(item) for is_so in where)
    ]


def forget(store: Store) -> None:
    """Let no token hold any more, as after etcd was compacted."""
    _LEFT.pop(store, None)


def _terms(text: str) -> list[re.Match[str]]:
    terms: list[re.Match[str]] = []
    at = 0
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            raise ValueError(f"found '{text[at]}', expected: !, identifier, or 'end of string'")
        at = term.end()
        if text[at : at + 1] not in ("", ","):
            raise ValueError(f"found '{text[at]}', expected: ',' or 'end of string'")
        terms.append(term)
        at += 1
    return terms


def _matching(term: re.Match[str]) -> Callable[[dict[str, str]], bool]:
    if term["word"]:
        key, values = term["key"], {value.strip() for value in term["values"].split(",")}
        if term["word"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if term["sign"]:
        name, value = term["name"], term["value"]
        if term["sign"] == "!=":
            return lambda labels: labels.get(name) != value
        return lambda labels: labels.get(name) == value
    present, wanted = term["present"], not term["absent"]
    return lambda labels: (present in labels) is wanted


def _comparing(kind: str, term: re.Match[str]) -> Callable[[Object], bool]:
    if not term["sign"]:
        raise ValueError(f"invalid selector: '{term[0]}'; can't understand '{term[0]}'")
    if term["name"] not in (*_EVERYWHERE, *_FIELDS.get(kind, ())):
        if kind in _FIELDS:
            raise ValueError(f"field label not supported: {term['name']}")
        raise ValueError(
            f'"{term["name"]}" is not a known field selector: only "metadata.name", '
            '"metadata.namespace"'
        )
    name, value, equal = term["name"], term["value"], term["sign"] != "!="
    return lambda item: (_field(item, name) == value) is equal


def _field(item: Object, dotted: str) -> str:
    value: Any = item
    for part in dotted.split("."):
        value = value.get(part, {}) if isinstance(value, dict) else {}
    return str(value) if value else ""


def _remember(store: Store, version: int, left: list[Object]) -> str:
    known = _LEFT.setdefault(store, {})
    metadata = left[0]["metadata"]
    start = f"{metadata.get('namespace', '')}/{metadata['name']}\0"
    plain = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start})
    token = base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")
    known[token] = version, left
    for oldest in list(known)[:-_KEPT]:
        del known[oldest]
    return token


def _is_token(token: str) -> bool:
    try:
        return b'"v"' in base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        return False
