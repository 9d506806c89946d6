"""kubectl's verbs that write: create configmap, delete."""

from __future__ import annotations

import json
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


def create(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`create configmap NAME [--from-literal=K=V] [-o json|name]`."""
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


def delete(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`delete KIND NAMES… [--ignore-not-found] [--wait=…]`."""
    kind, _, slashed = (words or [""])[0].partition("/")
    resource = resource_named(kind)
    names = [slashed] if slashed else words[1:]
    if resource is None or not names:
        raise UsageError("error: resource(s) were provided, but no name was specified")
    namespace = (options.get("-n", "--namespace") or "default") if resource.namespaced else ""
    rc = 0
    for name in names:
        place = Target(resource, namespace, name)
        answer = apiwrites.remove(call.world, api.host, place)
        if answer.status == 404 and "--ignore-not-found" in options:
            continue
        if answer.status != 200:
            rc = refused(call, answer)
            continue
        where = f" from {namespace} namespace" if resource.namespaced else ""
        call.say(f'{resource.singular} "{name}" deleted{where}')
    return rc


def refused(call: Call, answer: Answer) -> int:
    """Kubectl's words for a Status; its rc."""
    status = answer.document
    call.complain(f"Error from server ({status['reason']}): {status['message']}")
    return 1
