"""cilium, the command line v0.19.1 on the bastion; each of its commands is a file of its own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lab import layout
from lab.streams import Streams
from lab.tools.call import Call, Options, UsageError
from lab.tools.kubeconfig import connect

if TYPE_CHECKING:
    from lab.objects import Store

_COMMANDS = {
    "connectivity test": "cilium_connectivity",
    "hubble port-forward": "cilium_hubble",
    "status": "cilium_status",
    "version": "cilium_version",
}
# What kubectl says of the way to the API, and the same in the words of the Go client.
_WAYS = {
    "refused": "connect: connection refused",
    "no route": "connect: no route to host",
    "timeout": "i/o timeout",
}


async def cilium(call: Call) -> int:
    """`cilium COMMAND …`: the file of that command has a function `run(call, arguments)`."""
    for command, file in _COMMANDS.items():
        words = tuple(command.split())
        if call.arguments[: len(words)] == words:
            function = import_module(f"lab.tools.{file}").run
            return int(await function(call, call.arguments[len(words) :]))
    said = " ".join(call.arguments[:2])
    raise UsageError(f'Error: unknown command "{said}" for "cilium"')


async def objects(call: Call, path: str) -> Store | str:
    """What the API that KUBECONFIG names has, or why the request for `path` failed."""
    quiet = Call(call.shell, call.argv, Streams())
    api = await connect(quiet, Options({}, []))
    if api is not None:
        return call.world.objects_of(api.host)
    said = bytes(quiet.streams.err).decode()
    if "Unauthorized" in said:
        return "Unauthorized"
    why = next((way for word, way in _WAYS.items() if word in said), "EOF")
    address = f"{layout.VIP}:6443"
    return f'Get "https://{address}{path}": dial tcp {address}: {why}'
