"""kubectl wait: until a condition holds, or an object is gone (captures: kube-1.36.3.out)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lab import apilists
from lab.cluster import conditions
from lab.objects import resource_named
from lab.tools.call import UsageError
from lab.tools.durations import given

if TYPE_CHECKING:
    from lab.objects import Object, Resource
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api

_LOOK = 0.02
_DEFAULT = "30s"


async def wait(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`wait --for=condition=X[=V]|delete KIND/NAME… | KIND -l … [--timeout=…]`."""
    wanted = options.get("--for") or ""
    if wanted != "delete" and not wanted.startswith("condition="):
        raise UsageError(f"error: unrecognized condition: {wanted!r}, the lab knows condition=")
    resource, names = _named(call, api, options, words)
    if not names:
        call.complain("error: no matching resources found")
        return 1
    namespace = _namespace(options, resource)
    for name in names:
        there = call.world.objects_of(api.host).peek(resource.kind, namespace, name)
        if there is None and wanted != "delete":
            call.complain(f'Error from server (NotFound): {resource.qualified} "{name}" not found')
            return 1
    deadline = asyncio.get_running_loop().time() + given(options.get("--timeout") or _DEFAULT)
    rc = 0
    for name in names:
        while not _holds(
            call.world.objects_of(api.host).peek(resource.kind, namespace, name), wanted
        ):
            if asyncio.get_running_loop().time() >= deadline:
                where = f"{resource.plural}/{name}"
                call.complain(f"error: timed out waiting for the condition on {where}")
                rc = 1
                break
            await asyncio.sleep(_LOOK)
        else:
            call.say(f"{resource.singular}/{name} condition met")
    return rc


def _named(call: Call, api: Api, options: Options, words: list[str]) -> tuple[Resource, list[str]]:
    kind, _, name = (words or [""])[0].partition("/")
    resource = resource_named(kind)
    if resource is None:
        raise UsageError(f'error: the server doesn\'t have a resource type "{kind}"')
    if name:
        return resource, [word.partition("/")[2] for word in words]
    if words[1:]:
        return resource, words[1:]
    found = apilists.select(
        call.world.objects_of(api.host),
        resource,
        _namespace(options, resource) or None,
        options.get("-l", "--selector") or "",
        "",
    )
    return resource, [item["metadata"]["name"] for item in found]


def _namespace(options: Options, resource: Resource) -> str:
    return (options.get("-n", "--namespace") or "default") if resource.namespaced else ""


def _holds(item: Object | None, wanted: str) -> bool:
    if wanted == "delete" or item is None:
        return item is None
    kind, _, value = wanted.removeprefix("condition=").partition("=")
    return conditions.of(item, kind).lower() == (value or "True").lower()
