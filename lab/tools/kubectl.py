"""kubectl 1.36.3: get, get --raw, exec, describe node, version (captures: kube-1.36.3.out)."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import asyncio

from lab import apiserver, layout
from lab.filesystem import FileError
from lab.objects import resource_named
from lab.pki import client_of
from lab.tools import tables
from lab.tools.call import UsageError, split
from lab.world import Door

if TYPE_CHECKING:
    from lab.host import Host
    from lab.objects import Object, Resource
    from lab.pki import Client
    from lab.tools.call import Call, Options

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


@dataclass(frozen=True, slots=True)
class _Api:
    """Where requests go, and as whom."""

    host: Host
    client: Client


async def kubectl(call: Call) -> int:
    """`kubectl [OPTIONS] VERB …`."""
    arguments, inner = _until_dashes(call.arguments)
    options = split(
        arguments,
        flags=_FLAGS,
        valued=_VALUED,
        name="kubectl",
        refuse="error: unknown flag: {flag}\nSee 'kubectl --help' for usage.",
    )
    verb, words = (options.rest or [""])[0], options.rest[1:]
    if verb == "version":
        call.say(f"Client Version: {layout.RKE2}")
        call.say("Kustomize Version: v5.7.1")
        if "--client" in options:
            return 0
    if verb not in ("get", "exec", "describe", "version"):
        raise UsageError(
            f'error: unknown command "{verb}" for "kubectl"'
            if verb
            else "kubectl controls the Kubernetes cluster manager."
        )
    api = await _api(call, options)
    if api is None:
        return 1
    if verb == "version":
        call.say(f"Server Version: {layout.RKE2}")
        return 0
    raw = options.get("--raw")
    if raw is not None:
        return _raw(call, api, raw)
    refused = apiserver.answer(call.world, api.host, "GET", "/api/v1/nodes", api.client)
    if refused.status != 200:
        return _api_error(call, refused, f"({verb} {' '.join(words[:1])})")
    if verb == "exec":
        return await _exec(call, api, options, words, inner)
    if verb == "describe":
        return _describe(call, words)
    return _get(call, options, words)


def _until_dashes(arguments: tuple[str, ...]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return list(arguments), []
    at = arguments.index("--")
    return list(arguments[:at]), list(arguments[at + 1 :])


async def _api(call: Call, options: Options) -> _Api | None:
    path = options.get("--kubeconfig") or call.shell.variables.get("KUBECONFIG")
    server, client = "http://localhost:8080", None
    if path:
        try:
            text = call.files.read(call.path(path), call.user).decode()
        except FileError as error:
            if error.reason != "No such file or directory" or options.get("--kubeconfig"):
                what = "stat" if error.reason == "No such file or directory" else "open"
                prefix = (
                    "error: "
                    if what == "stat"
                    else (f'error: error loading config file "{path}": ')
                )
                call.complain(f"{prefix}{what} {path}: {error.reason.lower()}")
                return None
        else:
            server = _value(text, "server") or server
            certificate = _value(text, "client-certificate-data")
            client = client_of(b64decode(certificate)) if certificate else None
    server = options.get("--server", "-s") or server
    url = urlsplit(server)
    address, port = url.hostname or "localhost", url.port or 443
    reached = call.world.connect(
        call.host, "127.0.0.1" if address == "localhost" else address, port
    )
    if reached.door is Door.OPEN and reached.host is not None:
        if reached.host.api_hangs:
            await asyncio.sleep(32)
            call.complain(f"Unable to connect to the server: net/http: TLS handshake timeout")
            return None
        if client is None or not client.valid:
            call.complain("error: You must be logged in to the server (Unauthorized)")
            return None
        return _Api(reached.host, client)
    await _no_connection(call, server, f"{address}:{port}", reached.door)
    return None


async def _no_connection(call: Call, server: str, place: str, door: Door) -> None:
    if door is Door.DROPPED:
        await asyncio.sleep(32)
        call.complain(f"Unable to connect to the server: dial tcp {place}: i/o timeout")
        return
    dialled = place.replace("localhost", "127.0.0.1")
    reason = "connection refused" if door is Door.REFUSED else "no route to host"
    at = call.world.now(call.host)
    for index in range(5):
        call.complain(
            f"E{at:%m%d %H:%M:%S}.{100000 + index * 731}   12825 memcache.go:265] "
            '"Unhandled Error" err="couldn\'t get current server API group list: '
            f'Get \\"{server}/api?timeout=32s\\": dial tcp {dialled}: connect: {reason}"'
        )
    if door is Door.REFUSED:
        call.complain(
            f"The connection to the server {place} was refused - did you specify the right host "
            "or port?"
        )
    else:
        call.complain(f"Unable to connect to the server: dial tcp {place}: connect: {reason}")


def _value(text: str, key: str) -> str | None:
    match = re.search(rf"^\s*{re.escape(key)}:\s*(\S+)", text, re.MULTILINE)
    return match.group(1) if match else None


def _raw(call: Call, api: _Api, target: str) -> int:
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


def _api_error(call: Call, answer: apiserver.Answer, suffix: str) -> int:
    status = answer.document
    if answer.status == 401:
        call.complain("error: You must be logged in to the server (Unauthorized)")
        return 1
    call.complain(f"Error from server ({status['reason']}): {status['message']} {suffix}".rstrip())
    return 1


async def _exec(call: Call, api: _Api, options: Options, words: list[str], inner: list[str]) -> int:
    from lab.tools.pods import execute_in_pod

    namespace = options.get("-n", "--namespace") or "default"
    name = words[0].removeprefix("pod/").removeprefix("pods/") if words else ""
    command = inner or words[1:]
    if not name or not command:
        call.complain("error: you must specify at least one command for the container")
        return 1
    pod = call.world.objects.get("Pod", namespace, name)
    if pod is None:
        call.complain(f'Error from server (NotFound): pods "{name}" not found')
        return 1
    return await execute_in_pod(call, api.host, pod, command)


def _describe(call: Call, words: list[str]) -> int:
    if len(words) != 2 or resource_named(words[0]) != resource_named("node"):
        raise UsageError(f"error: the lab describes nodes only, not {' '.join(words)}")
    node = call.world.objects.get("Node", "", words[1])
    if node is None:
        call.complain(f'Error from server (NotFound): nodes "{words[1]}" not found')
        return 1
    call.write(tables.node_description(node))
    return 0


def _get(call: Call, options: Options, words: list[str]) -> int:
    if not words:
        call.complain("You must specify the type of resource to get.")
        raise UsageError("error: Required resource not specified.")
    kind, _, slashed = words[0].partition("/")
    names = [slashed] if slashed else words[1:]
    resource = resource_named(kind)
    if resource is None:
        call.mystery(f"resource {kind}")
        call.complain(f'error: the server doesn\'t have a resource type "{kind.partition(".")[0]}"')
        return 1
    everywhere = "-A" in options or "--all-namespaces" in options
    namespace = None
    if resource.namespaced and not everywhere:
        namespace = options.get("-n", "--namespace") or "default"
    items, missing = _items(call, options, resource, namespace, names)
    if items is None:
        return 1
    if not _print(
        call,
        options,
        resource,
        items,
        single=bool(names) and len(names) == 1,
        everywhere=everywhere,
        namespace=namespace,
        missing=missing,
    ):
        return 1
    for name in missing:
        if "--ignore-not-found" not in options:
            call.complain(f'Error from server (NotFound): {resource.qualified} "{name}" not found')
    return 1 if missing and "--ignore-not-found" not in options else 0


def _items(
    call: Call, options: Options, resource: Resource, namespace: str | None, names: list[str]
) -> tuple[list[Object] | None, list[str]]:
    if names:
        found = {
            name: call.world.objects.get(resource.kind, namespace or "", name) for name in names
        }
        return (
            [item for item in found.values() if item is not None],
            [name for name, item in found.items() if item is None],
        )
    try:
        items = apiserver.select(
            call.world,
            resource,
            namespace,
            options.get("-l", "--selector") or "",
            options.get("--field-selector") or "",
        )
    except ValueError as error:
        raise UsageError(f"error: unable to parse requirement: {error}") from None
    return items, []


def _print(
    call: Call,
    options: Options,
    resource: Resource,
    items: list[Object],
    *,
    single: bool,
    everywhere: bool,
    namespace: str | None,
    missing: list[str],
) -> bool:
    form = options.get("-o", "--output") or ""
    if form == "json":
        if single and not items:
            return True
        document: Object = (
            items[0]
            if single
            else {
                "apiVersion": "v1",
                "items": items,
                "kind": "List",
                "metadata": {"resourceVersion": ""},
            }
        )
        call.say(json.dumps(document, indent=4, sort_keys=True))
        return True
    if form == "name":
        for item in items:
            call.say(f"{resource.singular}/{item['metadata']['name']}")
        return True
    if form not in ("", "wide"):
        raise UsageError(
            f'error: unable to match a printer suitable for the output format "{form}", allowed '
            "formats are: json,name,wide"
        )
    if not items and not missing:
        where = f" in {namespace} namespace" if namespace else ""
        call.complain(f"No resources found{where}." if where else "No resources found")
        return True
    columns = options.get("-L", "--label-columns")
    call.write(
        tables.table(
            resource,
            items,
            now=call.world.now(),
            wide=form == "wide",
            headers="--no-headers" not in options,
            namespaces=everywhere and resource.namespaced,
            labels=columns.split(",") if columns else [],
            show_labels="--show-labels" in options,
        )
    )
    return True
