"""kubectl 1.36.3 (captures: kube-1.36.3.out); what writes and waits is in `kubectl_verbs`."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from typing import TYPE_CHECKING

from lab import apiserver, layout
from lab.objects import resource_named
from lab.tools import tables
from lab.tools.call import UsageError, split
from lab.tools.kubeconfig import connect
from lab.tools.kubectl_get import get
from lab.tools.kubectl_verbs import READS, VERBS, Verb
from lab.tools.pods import execute_in_pod

if TYPE_CHECKING:
    from lab.objects import Store
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
    look = _describe if verb == "describe" else get
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
