"""`cilium hubble port-forward`: a port of the bastion that leads to hubble-relay."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lab.objects import has_labels
from lab.tools.call import split
from lab.tools.cilium import objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.objects import Store
    from lab.tools.call import Call

_NAMESPACE, _SERVICE = "kube-system", "hubble-relay"
_FIRST_FREE_PORT = 32_768


async def run(call: Call, arguments: Sequence[str]) -> int:
    """`cilium hubble port-forward [--port-forward PORT]`; 0 is any free port. It never ends."""
    options = split(
        arguments,
        valued=("--port-forward",),
        name="cilium",
        refuse="Error: unknown flag: {flag}",
        clustered=False,
    )
    flows = call.world.flows
    trouble = flows.refused or await _trouble(call)
    wanted = int(options.get("--port-forward") or 4245)
    if not trouble and wanted in flows.forwards:
        trouble = f"unable to listen on any of the requested ports: [{{{wanted} 4245}}]"
    if trouble:
        call.complain(f"\nError: Unable to port forward: failed to port forward: {trouble}")
        return 1
    port = wanted or max(flows.forwards, default=_FIRST_FREE_PORT) + 1
    flows.forwards.add(port)
    try:
        call.say(f"\N{INFORMATION SOURCE}\ufe0f  Hubble Relay is available at 127.0.0.1:{port}")
        call.streams.flush()
        await asyncio.get_running_loop().create_future()
    finally:
        flows.forwards.discard(port)
    return 0


async def _trouble(call: Call) -> str:
    path = f"/api/v1/namespaces/{_NAMESPACE}/services/{_SERVICE}"
    store = await objects(call, path)
    if isinstance(store, str):
        return f'failed to get service "{_SERVICE}": {store}'
    return _missing(store)


def _missing(store: Store) -> str:
    service = store.peek("Service", _NAMESPACE, _SERVICE)
    if service is None:
        return f'failed to get service "{_SERVICE}": services "{_SERVICE}" not found'
    selected = (
        pod
        for pod in store.each("Pod", _NAMESPACE)
        if has_labels(pod, service["spec"]["selector"]) and pod["status"].get("phase") == "Running"
    )
    return "" if next(selected, None) else f'no pods found for service: "{_SERVICE}"'
