"""hubble, the command line v0.13.6 on the bastion; what it prints is protojson (lab/flow_lines)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lab import flow_lines
from lab.tools.call import UsageError, split
from lab.tools.clocks import duration

if TYPE_CHECKING:
    from lab.tools.call import Call, Options

_DEFAULT_SERVER = "localhost:4245"
_VALUED = ("--server", "-o", "--output", "--since", "--last", "--namespace", "-n", "--verdict")


async def hubble(call: Call) -> int:
    """`hubble status|observe|version [OPTIONS]`."""
    options = split(
        call.arguments,
        flags=("--all",),
        valued=_VALUED,
        name="hubble",
        refuse="unknown flag: {flag}",
        clustered=False,
    )
    verb = " ".join(options.rest)
    if verb == "version":
        version = call.world.operations.versions["hubble-cli"]
        call.say(f"hubble {version}@HEAD-3e5d4a1 compiled with go1.22.5 on linux/amd64")
        return 0
    if verb not in ("status", "observe"):
        raise UsageError(f'unknown command "{verb}" for "hubble"')
    server = options.get("--server") or _DEFAULT_SERVER
    trouble = _trouble(call, server)
    if trouble:
        call.complain(f"failed to connect to '{server}': connection error: desc = \"{trouble}\"")
        return 1
    return _status(call, options) if verb == "status" else _observe(call, options)


def _trouble(call: Call, server: str) -> str:
    """Why there is no connection to the relay; empty if there is one."""
    address, _, port = server.rpartition(":")
    local = address in ("localhost", "127.0.0.1")
    if not local or not port.isdigit() or int(port) not in call.world.flows.forwards:
        dialled = server.replace("localhost", "127.0.0.1")
        return f"transport: error while dialing: dial tcp {dialled}: connect: connection refused"
    return "" if flow_lines.relay_serves(call.world) else "error reading server preface: EOF"


def _status(call: Call, options: Options) -> int:
    status = flow_lines.status(call.world)
    form = options.get("-o", "--output") or "compact"
    if form in ("json", "jsonpb"):
        call.say(json.dumps(status, separators=(",", ":")))
        return 0
    if form != "compact":
        raise UsageError(f"invalid output format: {form}")
    held, most = int(status["num_flows"]), int(status["max_flows"])
    call.say(f"Healthcheck (via {options.get('--server') or _DEFAULT_SERVER}): Ok")
    call.say(f"Current/Max Flows: {held:,}/{most:,} ({100 * held / most:.2f}%)")
    call.say(f"Flows/s: {status['flows_rate']:.2f}")
    missing = status.get("unavailable_nodes", [])
    connected = status["num_connected_nodes"]
    call.say(f"Connected Nodes: {connected}/{connected + len(missing)}")
    if missing:
        call.say(f"Unavailable Nodes: {len(missing)}")
        for name in missing:
            call.say(f"  - {name}")
    return 0


def _observe(call: Call, options: Options) -> int:
    form = options.get("-o", "--output") or "compact"
    if form not in ("json", "jsonpb"):
        call.mystery(f"hubble observe -o {form}")
        return 1
    since = options.get("--since")
    window = timedelta(seconds=duration("hubble", since)) if since else timedelta.max
    now = datetime.now(UTC)
    begin = now - window if since else datetime.fromtimestamp(0, UTC)
    last = int(options.get("--last") or (0 if since or "--all" in options else 20))
    namespace, verdict = options.get("--namespace", "-n"), options.get("--verdict")
    selection = flow_lines.Selection(begin, now, last, namespace, verdict)
    for line in flow_lines.seen(call.world, selection):
        call.say(json.dumps(line, separators=(",", ":")))
    for line in flow_lines.node_states(call.world):
        call.complain(json.dumps(line, separators=(",", ":")))
    return 0
