"""kubectl create, and what kubectl says of a refusal."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

from lab import apiwrites
from lab.apipaths import Target
from lab.objects import resource_named
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.statuses import Answer
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api


async def create(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`create configmap NAME [--from-literal=K=V] [-o json|name]`, `create namespace NAME`.

    Also `create -f FILE|-`.
    """
    if options.get("-f", "--filename") is not None:
        return await _from_manifests(call, api, options)
    if len(words) == 2 and words[0] in ("namespace", "ns"):
        return _namespace(call, api, words[1])
    if len(words) != 2 or words[0] not in ("configmap", "cm"):
        raise UsageError(f"error: the lab creates configmaps only, not {' '.join(words)}")
    resource = resource_named("configmap")
    assert resource is not None
    place = Target(resource, options.get("-n", "--namespace") or "default", words[1])
    body: Object = {"metadata": {"name": place.name}}
    literal = options.get("--from-literal")
    if literal is not None:
        key, _, value = literal.partition("=")
        body["data"] = {key: value}
    answer = apiwrites.create(call.world, api.host, place, body)
    if answer.status == 409:
        message = answer.document["message"]
        call.complain(f"error: failed to create configmap: {message}")
        return 1
    if answer.status != 201:
        return refused(call, answer)
    form = options.get("-o", "--output")
    if form == "json":
        call.say(json.dumps(answer.document, indent=4, sort_keys=True))
    else:
        call.say(f"configmap/{place.name}{'' if form == 'name' else ' created'}")
    return 0


async def _from_manifests(call: Call, api: Api, options: Options) -> int:
    family = import_module("lab.tools.kubectl_apply")
    for document in await family.manifests(call, options) or ():
        place = family.placed(call, options, document)
        if place is None:
            return 1
        answer = apiwrites.create(call.world, api.host, place, document)
        if answer.status != 201:
            return refused(call, answer)
        call.say(f"{family.titled(place)} created")
    return 0


def _namespace(call: Call, api: Api, name: str) -> int:
    resource = resource_named("namespace")
    assert resource is not None
    body: Object = {"metadata": {"name": name}}
    answer = apiwrites.create(call.world, api.host, Target(resource, "", name), body)
    if answer.status != 201:
        return refused(call, answer)
    call.say(f"namespace/{name} created")
    return 0


def refused(call: Call, answer: Answer) -> int:
    """Kubectl's words for a Status; its rc."""
    status = answer.document
    call.complain(f"Error from server ({status['reason']}): {status['message']}")
    return 1
