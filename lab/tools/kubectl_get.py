"""kubectl get: what it selects, and how it prints it (captures: kube-1.36.3.out)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab import apilists
from lab.objects import resource_named
from lab.storage import missed
from lab.tools import tables
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.objects import Object, Resource, Store
    from lab.tools.call import Call, Options


@dataclass(frozen=True, slots=True)
class _Found:
    """What a `get` selected; `missing` are the names that are not there."""

    resource: Resource
    items: list[Object]
    missing: list[str]
    single: bool
    namespace: str | None
    everywhere: bool


def get(call: Call, store: Store, options: Options, words: list[str]) -> int:
    """`get KIND [NAMES…] | KINDS [-l …] [-o json|name|wide]`."""
    if not words:
        raise UsageError("error: Required resource not specified.")
    if "," in words[0]:
        return _get_several(call, store, options, words[0].split(","))
    kind, _, slashed = words[0].partition("/")
    resource = _served(call, kind)
    if resource is None:
        return 1
    names = [slashed] if slashed else words[1:]
    found = _select(store, options, resource, names)
    if resource.kind == "Secret" and found.missing:
        for name in found.missing:
            missed(call.world, store, found.namespace or "", name)
        found = _select(store, options, resource, names)
    _print(call, options, found)
    if "--ignore-not-found" in options:
        return 0
    for name in found.missing:
        call.complain(f'Error from server (NotFound): {resource.qualified} "{name}" not found')
    return 1 if found.missing else 0


def _served(call: Call, kind: str) -> Resource | None:
    """The type of that name; None with kubectl's complaint when this API has none."""
    resource = resource_named(kind)
    if resource is None:
        call.mystery(f"resource {kind}")
    elif resource.since is None or call.world.phase.reached(resource.since):
        return resource
    call.complain(f'error: the server doesn\'t have a resource type "{kind.partition(".")[0]}"')
    return None


def _get_several(call: Call, store: Store, options: Options, kinds: list[str]) -> int:
    if options.get("-o", "--output") != "json":
        raise UsageError("error: the lab prints several types with -o json only")
    items: list[Object] = []
    for kind in kinds:
        resource = _served(call, kind)
        if resource is None:
            return 1
        items += _select(store, options, resource, []).items
    _say_list(call, items)
    return 0


def _select(store: Store, options: Options, resource: Resource, names: list[str]) -> _Found:
    everywhere = "-A" in options or "--all-namespaces" in options
    namespace = None
    if resource.namespaced and not everywhere:
        namespace = options.get("-n", "--namespace") or "default"
    if names:
        known = {name: store.get(resource.kind, namespace or "", name) for name in names}
        items = [item for item in known.values() if item is not None]
        missing = [name for name, item in known.items() if item is None]
    else:
        missing = []
        try:
            items = apilists.select(
                store,
                resource,
                namespace,
                options.get("-l", "--selector") or "",
                options.get("--field-selector") or "",
            )
        except ValueError as error:
            raise UsageError(f"error: {error}") from None
    return _Found(resource, items, missing, len(names) == 1, namespace, everywhere)


def _print(call: Call, options: Options, found: _Found) -> None:
    form = options.get("-o", "--output") or ""
    if form == "json":
        _print_json(call, found)
    elif form == "name":
        for item in found.items:
            call.say(f"{found.resource.singular}/{item['metadata']['name']}")
    elif form.startswith("jsonpath="):
        call.write("".join(_filled(form.removeprefix("jsonpath="), item) for item in found.items))
    elif form in ("", "wide"):
        _print_table(call, options, found, wide=form == "wide")
    else:
        raise UsageError(
            f'error: unable to match a printer suitable for the output format "{form}", allowed '
            "formats are: json,jsonpath,name,wide"
        )


def _filled(template: str, item: Object) -> str:
    """A template of fields, such as `{.metadata.uid}`, with an object's values in it."""

    def value(match: re.Match[str]) -> str:
        found: Any = item
        for part in match[1].split("."):
            found = found.get(part, "") if isinstance(found, dict) else ""
        return str(found)

    if "[" in template:
        raise UsageError("error: the lab fills in plain fields only")
    return re.sub(r"\{\.([A-Za-z.]+)\}", value, template)


def _print_json(call: Call, found: _Found) -> None:
    if found.single and not found.items:
        return
    if not found.single:
        _say_list(call, found.items)
        return
    call.say(json.dumps(found.items[0], indent=4, sort_keys=True))


def _say_list(call: Call, items: list[Object]) -> None:
    document: Object = {"apiVersion": "v1", "items": items, "kind": "List"}
    document["metadata"] = {"resourceVersion": ""}
    call.say(json.dumps(document, indent=4, sort_keys=True))


def _print_table(call: Call, options: Options, found: _Found, *, wide: bool) -> None:
    if not found.items:
        where = f" in {found.namespace} namespace." if found.namespace else ""
        if not found.missing:
            call.complain(f"No resources found{where}")
        return
    columns = options.get("-L", "--label-columns")
    call.write(
        tables.table(
            found.resource,
            found.items,
            now=call.world.now(),
            wide=wide,
            headers="--no-headers" not in options,
            namespaces=found.everywhere and found.resource.namespaced,
            labels=columns.split(",") if columns else [],
            show_labels="--show-labels" in options,
        )
    )
