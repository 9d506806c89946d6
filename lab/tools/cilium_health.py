"""cilium-health in an agent's container: what it finds of the other nodes."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from lab.cilium import serves, tunnelled
from lab.host import Link
from lab.kinds import stamp
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.host import Host
    from lab.objects import Object
    from lab.tools.call import Call
    from lab.world import World

_PORT = 4240
_NO_SOCKET = (
    'Error: Cannot get status: Get "http://localhost/v1beta/status": dial unix '
    "/var/run/cilium/health.sock: connect: no such file or directory\n"
)


async def in_pod(call: Call, _pod: Object) -> int:
    """`cilium-health status -o json [--probe]`."""
    options = split(
        call.arguments,
        flags=("--probe", "--succinct", "--verbose"),
        valued=("-o", "--output"),
        name="cilium-health",
        refuse="Error: unknown flag: {flag}",
        clustered=False,
    )
    if options.rest != ["status"] or options.get("-o", "--output") != "json":
        raise UsageError("cilium-health: the lab knows `status -o json` only")
    world, host = call.world, call.host
    if host.name in world.cilium.no_health:
        call.complain(_NO_SOCKET)
        return 1
    at = stamp(world.now(host))
    document = {
        "local": {"name": host.name},
        "nodes": [
            _node(world, host, world.hosts[item["metadata"]["name"]], item)
            for item in world.objects.each("CiliumNode")
            if item["metadata"]["name"] in world.hosts
        ],
        "probeInterval": "1m36.566274746s",
        "timestamp": at,
    }
    call.say(json.dumps(document, indent=2))
    return 0


def _node(world: World, source: Host, target: Host, item: Object) -> Object:
    alive = target.link is Link.UP and serves(world, target)
    machine = _path(world, source, target.machine.address, alive=alive or target is source)
    row = {"host": {"primary-address": machine, "secondary-addresses": []}, "name": target.name}
    address = item["spec"].get("health", {}).get("ipv4", "")
    if world.cilium.no_endpoint_health or not address:
        return row
    endpoint = _path(world, source, address, alive=tunnelled(world, source, target))
    return {
        "endpoint": endpoint,
        "health-endpoint": {"primary-address": endpoint, "secondary-addresses": []},
        **row,
    }


def _path(world: World, source: Host, address: str, *, alive: bool) -> Object:
    probed = stamp(world.now(source) - timedelta(seconds=len(address)))
    if alive:
        http: Object = {"lastProbed": probed, "latency": 511_428}
        icmp: Object = {"lastProbed": probed, "latency": 203_847}
    else:
        why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        http = {"lastProbed": probed, "status": f'Get "http://{address}:{_PORT}/hello": {why}'}
        icmp = {"lastProbed": probed, "status": "Connection timed out"}
    return {"http": http, "icmp": icmp, "ip": address}
