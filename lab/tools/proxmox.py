"""qm, as far as it tells of snapshots.

There is no capture of it. The forms are those of Proxmox VE's source: `print_snapshot_tree` of
pve-guest-common, the printer of `qm config` of qemu-server, and `load_config` for what is missing.
"""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING

from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from datetime import datetime

    from lab.proxmox import Snapshot
    from lab.tools.call import Call

# perl's die ends with errno: a configuration that is not there leaves ENOENT behind.
_NOT_THERE = 2
# Not UTC, as on many a host: what is printed is no time that can be compared.
_LOCAL = timezone(timedelta(hours=2))


async def qm(call: Call) -> int:
    """`qm listsnapshot VMID`, `qm config VMID --snapshot NAME`."""
    verb, *words = call.arguments or ("",)
    valued = {"listsnapshot": (), "config": ("--snapshot", "-snapshot")}.get(verb)
    if valued is None:
        raise UsageError(f"ERROR: unknown command 'qm {verb}'", 255)
    options = split(words, valued=valued, name="qm", refuse="Unknown option: {letter}", rc=255)
    if call.user != "root":
        call.complain("ipcc_send_rec[1] failed: Unknown error -1")
        call.complain("Unable to load access control list: Unknown error -1")
        return 255
    if len(options.rest) != 1 or not options.rest[0].isdigit():
        raise UsageError(f"400 not enough arguments\nqm {verb} <vmid> [OPTIONS]", 255)
    vm_id = int(options.rest[0])
    if call.world.proxmox.nodes.get(vm_id) != call.host.name:
        where = f"nodes/{call.host.name}/qemu-server/{vm_id}.conf"
        call.complain(f"Configuration file '{where}' does not exist")
        return _NOT_THERE
    snapshots = call.world.proxmox.snapshots[vm_id]
    if verb == "listsnapshot":
        _tree(call, snapshots)
        return 0
    return _config(call, snapshots, options.get("--snapshot", "-snapshot"))


def _tree(call: Call, snapshots: list[Snapshot]) -> None:
    rows = [(each.name, _local(call, each.taken), each.description) for each in snapshots]
    for depth, (name, taken, description) in enumerate([*rows, ("current", "", "You are here!")]):
        prefix = f"{' ' * depth}`->"
        width = max(0, 30 - len(prefix))
        first = (description or "no-description").split("\n")[0]
        call.say(f"{prefix} {name:<{width}} {taken:<23} {first}")


def _config(call: Call, snapshots: list[Snapshot], name: str | None) -> int:
    if name is None:
        call.mystery("qm config without --snapshot")
        return 255
    found = next((each for each in snapshots if each.name == name), None)
    if found is None:
        call.complain(f"snapshot '{name}' does not exist")
        return 255
    values = {
        "boot": "order=scsi0",
        "cores": "4",
        "memory": "8192",
        "snaptime": str(int(_written(call, found.taken).timestamp())),
    }
    if found.state:
        values["snapstate"] = found.state
    for key in sorted(values):
        call.say(f"{key}: {values[key]}")
    return 0


def _written(call: Call, taken: datetime) -> datetime:
    """The time as the host's own clock had it."""
    return taken + timedelta(seconds=call.host.clock_offset)


def _local(call: Call, taken: datetime) -> str:
    return f"{_written(call, taken).astimezone(_LOCAL):%Y-%m-%d %H:%M:%S}"
