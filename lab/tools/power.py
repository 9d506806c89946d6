"""reboot and shutdown: what they say, and the machine that restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import reboot as machine
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.tools.call import Call

_NOT_ROOT = (
    "Failed to set wall message, ignoring: Interactive authentication required.\n"
    "Call to Reboot failed: Interactive authentication required."
)


async def reboot(call: Call) -> int:
    """`reboot`: says nothing; the answer may or may not come before the connection ends."""
    options = split(
        call.arguments,
        flags=("--reboot", "--no-wall"),
        name="reboot",
        refuse="reboot: unrecognized option '{flag}'",
    )
    if options.rest:
        raise UsageError("Too many arguments.")
    return restart(call)


async def shutdown(call: Call) -> int:
    """`shutdown -r now`."""
    options = split(
        call.arguments,
        flags=("-r", "--reboot", "--no-wall"),
        name="shutdown",
        refuse="shutdown: unrecognized option '{flag}'",
    )
    if {"-r", "--reboot"}.isdisjoint(options.values) or options.rest[:1] not in (["now"], ["+0"]):
        raise UsageError("shutdown: the lab knows `-r now` only")
    return restart(call)


def restart(call: Call) -> int:
    """Restart the machine, if the user may."""
    if call.user != "root":
        call.complain(_NOT_ROOT)
        return 1
    machine.reboot(call.world, call.host)
    return 0
