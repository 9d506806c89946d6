"""kubectl's verbs for manifests: apply and delete with -f, from a file or standard input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import yaml

from lab import apiwrites
from lab.apipaths import Target, served
from lab.filesystem import FileError
from lab.objects import RESOURCES, merged
from lab.tools.call import UsageError
from lab.tools.kubectl_changes import refused

if TYPE_CHECKING:
    from lab.objects import Object, Resource
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api

_LAST = "kubectl.kubernetes.io/last-applied-configuration"


async def apply(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`apply -f FILE|-`."""
    del words
    documents = await manifests(call, options)
    if documents is None:
        return 1
    rc = 0
    for document in documents:
        place = placed(call, options, document)
        if place is None:
            return 1
        rc = _apply(call, api, place, document) or rc
    return rc


def _apply(call: Call, api: Api, place: Target, document: Object) -> int:
    name = titled(place)
    noted: Object = {"metadata": {"annotations": {_LAST: json.dumps(document) + "\n"}}}
    body = merged(document, noted)
    there = call.world.objects_of(api.host).get(place.resource.kind, place.namespace, place.name)
    if there is None:
        answer = apiwrites.create(call.world, api.host, place, body)
        if answer.status != 201:
            return refused(call, answer)
        call.say(f"{name} created")
        return 0
    if merged(there, body) == there:
        call.say(f"{name} unchanged")
        return 0
    answer = apiwrites.merge(call.world, api.host, place, body)
    if answer.status != 200:
        return refused(call, answer)
    call.say(f"{name} configured")
    return 0


async def manifests(call: Call, options: Options) -> list[Object] | None:
    """The documents of `-f`; None with kubectl's complaint."""
    path = options.get("-f", "--filename")
    if path is None:
        call.complain("error: must specify one of -f and -k")
        return None
    try:
        text = (
            await call.streams.stdin.read()
            if path == "-"
            else call.files.read(call.path(path), call.user)
        )
    except FileError:
        call.complain(f'error: the path "{path}" does not exist')
        return None
    try:
        documents = [each for each in yaml.safe_load_all(text) if each]
    except yaml.YAMLError as error:
        call.complain(f"error: error parsing STDIN: error converting YAML to JSON: yaml: {error}")
        return None
    if not documents:
        call.complain("error: no objects passed to apply")
        return None
    return documents


def placed(call: Call, options: Options, document: Object) -> Target | None:
    """Where the document's object lives; None with kubectl's complaint."""
    version, kind = document.get("apiVersion"), document.get("kind")
    resource: Resource | None = next(
        (each for each in RESOURCES if (each.group_version, each.kind) == (version, kind)), None
    )
    if resource is None:
        call.mystery(f"manifest of {version} {kind}")
    if resource is None or not served(resource, call.world.phase):
        call.complain(
            f'error: resource mapping not found for name: "" namespace: "" from "STDIN": no '
            f'matches for kind "{kind}" in version "{version}"'
        )
        return None
    metadata = document.get("metadata") or {}
    namespace = metadata.get("namespace") or options.get("-n", "--namespace") or "default"
    if "name" not in metadata:
        raise UsageError("error: resource name may not be empty")
    return Target(resource, namespace if resource.namespaced else "", metadata["name"])


def titled(place: Target) -> str:
    """As kubectl names the object: `networkpolicy.networking.k8s.io/deny`."""
    resource = place.resource
    group = f".{resource.group}" if resource.group else ""
    return f"{resource.singular}{group}/{place.name}"
