"""The rke2 binary and its scripts, as far as phases B and C need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import actions, layout
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.tools.call import Call


async def rke2(call: Call) -> int:
    """`rke2 --version`."""
    if call.arguments[:1] in (("--version",), ("-v",)):
        call.say(f"rke2 version {layout.RKE2} (c4f306e6)")
        call.say("go version go1.26.8")
        return 0
    command = call.arguments[0] if call.arguments else ""
    raise UsageError(f"No help topic for '{command}'", 3)


async def rke2_killall(call: Call) -> int:
    """`rke2-killall.sh`: ends every process of RKE2 on the host."""
    if call.user != "root":
        call.complain("rke2-killall.sh: must be run as root")
        return 1
    actions.kill_all(call.world, call.host)
    return 0
