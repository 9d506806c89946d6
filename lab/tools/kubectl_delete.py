"""kubectl delete: by name, by label or by manifest; it waits until the objects are gone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lab import apilists, apiwrites
from lab.apipaths import Target
from lab.objects import resource_named
from lab.tools.call import UsageError
from lab.tools.durations import given
from lab.tools.kubectl_apply import manifests, placed
from lab.tools.kubectl_changes import refused

if TYPE_CHECKING:
    from lab.objects import Object, Resource
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api

_LOOK = 0.02
_FORCED = (
    "Warning: Immediate deletion does not wait for confirmation that the running resource has been "
    "terminated. The resource may continue to run on the cluster indefinitely."
)


async def delete(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`delete KIND NAMES…|-l …|--all | -f FILE [--ignore-not-found] [--wait=…] [--force]`."""
    targets = await _targets(call, api, options, words)
    if targets is None:
        return 1
    body = _options(options)
    if body.get("gracePeriodSeconds") == 0 and "--force" in options:
        call.complain(_FORCED)
    rc = 0
    going: list[Target] = []
    for place in targets:
        answer = apiwrites.remove(call.world, api.host, place, body)
        if answer.status == 404 and "--ignore-not-found" in options:
            continue
        if answer.status != 200:
            rc = refused(call, answer)
            continue
        resource = place.resource
        where = f" from {place.namespace} namespace" if resource.namespaced else ""
        forced = "force deleted" if "--force" in options else "deleted"
        call.say(f'{resource.singular} "{place.name}" {forced}{where}')
        going.append(place)
    if not targets:
        call.say("No resources found")
    if options.get("--wait") == "false" or not call.world.timeline.runs:
        return rc
    return await _gone(call, api, going, given(options.get("--timeout") or "0s")) or rc


async def _targets(call: Call, api: Api, options: Options, words: list[str]) -> list[Target] | None:
    if options.get("-f", "--filename"):
        documents = await manifests(call, options)
        if documents is None:
            return None
        found = [placed(call, options, document) for document in documents]
        return None if None in found else [place for place in found if place is not None]
    kind, _, slashed = (words or [""])[0].partition("/")
    resource = resource_named(kind)
    names = [slashed] if slashed else words[1:]
    selector = options.get("-l", "--selector")
    if resource is None or not (names or selector or "--all" in options):
        raise UsageError("error: resource(s) were provided, but no name was specified")
    namespace = (options.get("-n", "--namespace") or "default") if resource.namespaced else ""
    if not names:
        return _selected(call, api, resource, namespace, selector or "")
    return [Target(resource, namespace, name) for name in names]


def _selected(
    call: Call, api: Api, resource: Resource, namespace: str, selector: str
) -> list[Target]:
    store = call.world.objects_of(api.host)
    found = apilists.select(store, resource, namespace or None, selector, "")
    return [Target(resource, namespace, item["metadata"]["name"]) for item in found]


def _options(options: Options) -> Object:
    grace = options.get("--grace-period")
    if "--now" in options:
        return {"gracePeriodSeconds": 1}
    if "--force" in options and grace is None:
        return {"gracePeriodSeconds": 0}
    return {"gracePeriodSeconds": int(grace)} if grace is not None else {}


async def _gone(call: Call, api: Api, going: list[Target], limit: float) -> int:
    store = call.world.objects_of(api.host)
    uids = [(place, _uid(store.peek(*_key(place)))) for place in going]
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limit
    for place, uid in uids:
        while uid and _uid(store.peek(*_key(place))) == uid:
            if limit and loop.time() >= deadline:
                where = f"{place.resource.plural}/{place.name}"
                call.complain(f"error: timed out waiting for the condition on {where}")
                return 1
            await asyncio.sleep(_LOOK)
    return 0


def _key(place: Target) -> tuple[str, str, str]:
    return place.resource.kind, place.namespace, place.name


def _uid(item: Object | None) -> str:
    return str(item["metadata"]["uid"]) if item else ""
