"""kubectl 1.36.3 (captures: kube-1.36.3.out); what writes and waits is in `kubectl_verbs`."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from lab import apilists, apiserver, layout
from lab.objects import resource_named
from lab.tools import tables
from lab.tools.call import UsageError, split
from lab.tools.kubeconfig import connect
from lab.tools.kubectl_verbs import READS, VERBS, Verb
from lab.tools.pods import execute_in_pod

if TYPE_CHECKING:
    from lab.objects import Object, Resource, Store
    from lab.statuses import Answer
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api

_VALUED = (
    "--kubeconfig",
    "-n",
    "--namespace",
    "-o",
    "--output",
    "-l",
    "--selector",
    "--server",
    "-s",
    "--field-selector",
    "--request-timeout",
    "-L",
    "--label-columns",
    "-c",
    "--container",
    "--raw",
    "--from-literal",
)
_FLAGS = (
    "-A",
    "--all-namespaces",
    "--no-headers",
    "--ignore-not-found",
    "--show-labels",
    "-i",
    "--stdin",
    "-t",
    "--tty",
    "-q",
    "--quiet",
    "--client",
    "--insecure-skip-tls-verify",
)


async def kubectl(call: Call) -> int:
    """`kubectl [OPTIONS] VERB …`."""
    arguments, inner = _until_dashes(call.arguments)
    known = next((VERBS[word] for word in arguments if word in VERBS), Verb(""))
    options = split(
        arguments,
        flags=(*_FLAGS, *known.flags),
        valued=(*_VALUED, *known.valued),
        name="kubectl",
        refuse="error: unknown flag: {flag}\nSee 'kubectl --help' for usage.",
    )
    verb = (options.rest or [""])[0]
    if verb == "version" and "--client" in options:
        return _version(call)
    if verb not in VERBS and verb not in READS:
        raise UsageError(
            f'error: unknown command "{verb}" for "kubectl"'
            if verb
            else "kubectl controls the Kubernetes cluster manager."
        )
    api = await connect(call, options)
    if api is None:
        return 1
    if verb == "version":
        rc = _version(call)
        call.say(f"Server Version: {layout.RKE2}")
        return rc
    raw = options.get("--raw")
    return _raw(call, api, raw) if raw is not None else await _resources(call, api, options, inner)


async def _resources(call: Call, api: Api, options: Options, inner: list[str]) -> int:
    verb, words = options.rest[0], options.rest[1:]
    listed = apiserver.answer(call.world, api.host, "GET", "/api/v1/nodes", api.client)
    if listed.status != 200:
        return _api_error(call, listed, f"({verb} {' '.join(words[:1])})")
    store = call.world.objects_of(api.host)
    if verb == "exec":
        return await _exec(call, store, options, words, inner)
    if verb in VERBS:
        return await _change(call, api, VERBS[verb], options, inner)
    look = _describe if verb == "describe" else _get
    return look(call, store, options, words)


async def _change(call: Call, api: Api, verb: Verb, options: Options, inner: list[str]) -> int:
    family, _, name = verb.function.partition(".")
    function = getattr(import_module(f"lab.tools.kubectl_{family}"), name)
    words = options.rest[1:]
    rc = (
        function(call, api, options, words, inner)
        if verb.inner
        else function(call, api, options, words)
    )
    return int(await rc if inspect.isawaitable(rc) else rc)


def _version(call: Call) -> int:
    call.say(f"Client Version: {layout.RKE2}")
    call.say("Kustomize Version: v5.7.1")
    return 0


def _until_dashes(arguments: tuple[str, ...]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return list(arguments), []
    at = arguments.index("--")
    return list(arguments[:at]), list(arguments[at + 1 :])


def _raw(call: Call, api: Api, target: str) -> int:
    answer = apiserver.answer(call.world, api.host, "GET", target, api.client)
    if not answer.known:
        call.mystery(f"API {target}")
    if answer.status == 200:
        call.write(answer.body)
        return 0
    if answer.status == 500:
        body = json.dumps(answer.body.rstrip("\n"))
        call.complain(
            f"Error from server (InternalError): an error on the server ({body}) has prevented the "
            "request from succeeding"
        )
        return 1
    return _api_error(call, answer, "")


def _api_error(call: Call, answer: Answer, suffix: str) -> int:
    status = answer.document
    if answer.status == 401:
        call.complain("error: You must be logged in to the server (Unauthorized)")
        return 1
    call.complain(f"Error from server ({status['reason']}): {status['message']} {suffix}".rstrip())
    return 1


async def _exec(
    call: Call, store: Store, options: Options, words: list[str], inner: list[str]
) -> int:
    namespace = options.get("-n", "--namespace") or "default"
    name = words[0].removeprefix("pod/").removeprefix("pods/") if words else ""
    command = inner or words[1:]
    if not name or not command:
        call.complain("error: you must specify at least one command for the container")
        return 1
    pod = store.get("Pod", namespace, name)
    if pod is None:
        call.complain(f'Error from server (NotFound): pods "{name}" not found')
        return 1
    return await execute_in_pod(call, pod, options.get("-c", "--container") or "", command)


def _describe(call: Call, store: Store, _options: Options, words: list[str]) -> int:
    if len(words) != 2 or resource_named(words[0]) != resource_named("node"):
        raise UsageError(f"error: the lab describes nodes only, not {' '.join(words)}")
    node = store.get("Node", "", words[1])
    if node is None:
        call.complain(f'Error from server (NotFound): nodes "{words[1]}" not found')
        return 1
    call.write(tables.node_description(node))
    return 0


@dataclass(frozen=True, slots=True)
class _Found:
    """What a `get` selected; `missing` are the names that are not there."""

    resource: Resource
    items: list[Object]
    missing: list[str]
    single: bool
    namespace: str | None
    everywhere: bool


def _get(call: Call, store: Store, options: Options, words: list[str]) -> int:
    if not words:
        raise UsageError("error: Required resource not specified.")
    if "," in words[0]:
        return _get_several(call, store, options, words[0].split(","))
    kind, _, slashed = words[0].partition("/")
    resource = _served(call, kind)
    if resource is None:
        return 1
    found = _select(store, options, resource, [slashed] if slashed else words[1:])
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
    elif form in ("", "wide"):
        _print_table(call, options, found, wide=form == "wide")
    else:
        raise UsageError(
            f'error: unable to match a printer suitable for the output format "{form}", allowed '
            "formats are: json,name,wide"
        )


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
