"""argocd, the command line v3.4.8 on the bastion (facts, section Argo CD)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from lab import gitops
from lab.kinds import stamp
from lab.kube_secret import decoded
from lab.storage import missed
from lab.tools.call import UsageError, split
from lab.tools.cilium import objects

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.tools.call import Call, Options

_FATAL = 20
_BUILD = "1a2b3c4"
_SERVER = {"app.kubernetes.io/name": "argocd-server"}


async def argocd(call: Call) -> int:
    """`argocd version [--short|--client]`, `argocd repo list [--refresh hard] [-o json]`."""
    options = split(
        call.arguments,
        flags=("--short", "--client", "--port-forward", "--insecure"),
        valued=("--port-forward-namespace", "-o", "--output", "--refresh"),
        name="argocd",
        refuse="unknown flag: {flag}",
        rc=_FATAL,
        clustered=False,
    )
    words = " ".join(options.rest)
    if words == "version":
        return await _version(call, options)
    if words == "repo list":
        return await _repositories(call, options)
    raise UsageError(f'Error: unknown command "{words}" for "argocd"', _FATAL)


async def _version(call: Call, options: Options) -> int:
    if "--short" not in options:
        call.mystery("argocd version in full")
    state = call.world.gitops
    call.say(f"argocd: {state.client}+{_BUILD}")
    if "--client" in options:
        return 0
    reached = await _server(call, options)
    if isinstance(reached, str):
        return _fatal(call, reached)
    call.say(f"argocd-server: {state.server}+{_BUILD}")
    return 0


async def _repositories(call: Call, options: Options) -> int:
    store = await _server(call, options)
    if isinstance(store, str):
        return _fatal(call, store)
    state = call.world.gitops
    if not state.logged_in:
        return _fatal(
            call,
            "rpc error: code = Unauthenticated desc = invalid session: token has invalid claims: "
            "token is expired",
        )
    missed(call.world, store, gitops.NAMESPACE, gitops.SECRET)
    if options.get("-o", "--output") != "json":
        call.mystery("argocd repo list as a table")
    rows = [
        _row(call, item, fresh=options.get("--refresh") == "hard")
        for item in store.select("Secret", gitops.NAMESPACE)
        if item["metadata"].get("labels", {}).get("argocd.argoproj.io/secret-type") == "repository"
    ]
    call.say(json.dumps(rows, indent=2))
    return 0


def _row(call: Call, item: Object, *, fresh: bool) -> Object:
    state = call.world.gitops
    status, message = state.connection
    tried = gitops.clock(call.world, "argocd-server-")
    if state.cached or not fresh:
        status, message, tried = "Successful", "", tried - timedelta(minutes=50)
    known: Object = {"attemptedAt": stamp(tried), "message": message, "status": status}
    if state.dateless:
        del known["attemptedAt"]
    return {
        "connectionState": known,
        "repo": decoded(item, "url"),
        "type": decoded(item, "type"),
        "username": decoded(item, "username"),
    }


async def _server(call: Call, options: Options) -> Store | str:
    """The API's objects, if Argo CD's server can be reached; else why not."""
    if "--port-forward" not in options and "--port-forward-namespace" not in options:
        return "Argo CD server address unspecified"
    namespace = options.get("--port-forward-namespace") or "default"
    store = await objects(call, f"/api/v1/namespaces/{namespace}/pods")
    if isinstance(store, str):
        return store
    pods = store.select("Pod", namespace, _SERVER)
    if not any(pod["status"].get("phase") == "Running" for pod in pods):
        selector = ",".join(f"{key}={value}" for key, value in _SERVER.items())
        return f"cannot find ready pod with selector: [{selector}] - use the --port-forward flags"
    return store


def _fatal(call: Call, why: str) -> int:
    now = f"{call.world.now(call.host):%Y-%m-%dT%H:%M:%SZ}"
    call.complain(f'time="{now}" level=fatal msg={json.dumps(why)}')
    return _FATAL
