"""kubectl's verbs that write: create configmap, delete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lab.kinds import stamp
from lab.objects import resource_named
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.tools.call import Call, Options


def create(call: Call, store: Store, options: Options, words: list[str]) -> int:
    """`create configmap NAME [--from-literal=K=V] [-o json|name]`."""
    if len(words) != 2 or words[0] not in ("configmap", "cm"):
        raise UsageError(f"error: the lab creates configmaps only, not {' '.join(words)}")
    namespace, name = options.get("-n", "--namespace") or "default", words[1]
    if store.get("Namespace", "", namespace) is None:
        call.complain(f'Error from server (NotFound): namespaces "{namespace}" not found')
        return 1
    if store.get("ConfigMap", namespace, name) is not None:
        call.complain(f'error: failed to create configmap: configmaps "{name}" already exists')
        return 1
    literal = options.get("--from-literal")
    call.world.serial += 1
    item: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "creationTimestamp": stamp(call.world.now(call.host)),
            "name": name,
            "namespace": namespace,
            "uid": call.world.seed.uuid("configmap", name, str(call.world.serial)),
        },
    }
    if literal is not None:
        key, _, value = literal.partition("=")
        item["data"] = {key: value}
    store.put(item)
    form = options.get("-o", "--output")
    if form == "json":
        call.say(json.dumps(store.get("ConfigMap", namespace, name), indent=4, sort_keys=True))
    else:
        call.say(f"configmap/{name}{'' if form == 'name' else ' created'}")
    return 0


def delete(call: Call, store: Store, options: Options, words: list[str]) -> int:
    """`delete KIND NAMES… [--ignore-not-found] [--wait=…]`."""
    kind, _, slashed = (words or [""])[0].partition("/")
    resource = resource_named(kind)
    names = [slashed] if slashed else words[1:]
    if resource is None or not names:
        raise UsageError("error: resource(s) were provided, but no name was specified")
    namespace = (options.get("-n", "--namespace") or "default") if resource.namespaced else ""
    rc = 0
    for name in names:
        if store.get(resource.kind, namespace, name) is None:
            if "--ignore-not-found" not in options:
                call.complain(
                    f'Error from server (NotFound): {resource.qualified} "{name}" not found'
                )
                rc = 1
            continue
        store.delete(resource.kind, namespace, name)
        where = f" from {namespace} namespace" if resource.namespaced else ""
        call.say(f'{resource.singular} "{name}" deleted{where}')
    return rc
