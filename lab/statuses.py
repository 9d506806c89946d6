"""Answers of the Kubernetes API: documents, and Status objects as the real one words them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.objects import Object, Resource


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer. `known` is false when it is about something the lab does not model."""

    status: int
    body: str
    content_type: str = "application/json"
    known: bool = True

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def document(status: int, value: object) -> Answer:
    """A JSON document."""
    return Answer(status, json.dumps(value) + "\n")


def success(item: Object, resource: Resource) -> Answer:
    """What a deletion answers that has nothing left to show."""
    return document(
        200,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details(resource, item["metadata"]["name"])
            | {"uid": item["metadata"]["uid"]},
        },
    )


def failure(code: int, reason: str, message: str, details: Object | None = None) -> Answer:
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


def details(resource: Resource, name: str) -> Object:
    """Which object a Status speaks of."""
    named = {"name": name} if name else {}
    group = {"group": resource.group} if resource.group else {}
    return {**named, **group, "kind": resource.plural}


def not_found(resource: Resource, name: str) -> Answer:
    """There is no such object."""
    text = f'{resource.qualified} "{name}" not found'
    return failure(404, "NotFound", text, details(resource, name))


def modified(resource: Resource, name: str) -> Answer:
    """The object is another version than the one to be changed."""
    text = (
        f'Operation cannot be fulfilled on {resource.qualified} "{name}": the object has been '
        "modified; please apply your changes to the latest version and try again"
    )
    return failure(409, "Conflict", text, details(resource, name))


def unmet(resource: Resource, name: str, why: str) -> Answer:
    """The object is not the one that a deletion is meant for."""
    text = f'Operation cannot be fulfilled on {resource.kind} "{name}": {why}'
    return failure(409, "Conflict", text, details(resource, name) | {"kind": resource.kind})


def bad_request(message: str) -> Answer:
    """The request makes no sense."""
    return failure(400, "BadRequest", message)


def invalid(resource: Resource, name: str, field: str, why: str, *, times: int = 1) -> Answer:
    """The object would not be one of its kind; `why` begins with the sort of mistake.

    The real server finds some mistakes several times.
    """
    group = f".{resource.group}" if resource.group else ""
    cause = {"reason": f"FieldValue{why.partition(' ')[0]}", "message": why, "field": field}
    return failure(
        422,
        "Invalid",
        f'{resource.kind}{group} "{name}" is invalid: {field}: {why}',
        details(resource, name) | {"kind": resource.kind, "causes": [cause] * times},
    )


def unknown_path(*, known: bool = False) -> Answer:
    """A group that is served has no such resource; `known` if the lab is sure of it."""
    refused = failure(404, "NotFound", "the server could not find the requested resource", {})
    return Answer(refused.status, refused.body, known=known)


def unknown_group(*, known: bool = False) -> Answer:
    """Nothing at all is served there; `known` if the lab is sure of it."""
    return Answer(404, "404 page not found\n", "text/plain; charset=utf-8", known=known)


def wrong_method() -> Answer:
    """The path is served, but not like this."""
    text = "the server does not allow this method on the requested resource"
    refused = failure(405, "MethodNotAllowed", text, {})
    return Answer(refused.status, refused.body, known=False)
