"""busybox, as a host has it for its initramfs: of its applets, arping (captures: ceph-way.out)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.ceph_lan import LEG
from lab.tools.call import UsageError, split
from lab.tools.kernel import owner_on_the_leg

if TYPE_CHECKING:
    from lab.tools.call import Call


async def busybox(call: Call) -> int:
    """`busybox arping -D -c N -w S -I INTERFACE ADDRESS`."""
    if call.arguments[:1] != ("arping",):
        raise UsageError(f"busybox: the lab knows its arping only, not {call.arguments}")
    options = split(call.arguments[1:], flags=("-D",), valued=("-c", "-w", "-I"), name="arping")
    (address,) = options.rest
    interface, count = options.get("-I") or "", options.get("-c") or "1"
    if call.user != "root":
        call.complain("arping: socket: Operation not permitted")
        return 1
    if (owner := owner_on_the_leg(call, interface, address)) is None:
        call.complain(f"arping: interface {interface} not found: No such device")
        return 2
    call.say(f"ARPING {address} from 0.0.0.0 {LEG}")
    if owner:
        call.say(f"Unicast reply from {address} [{owner}] 0.731ms")
    call.say(f"Sent {1 if owner else count} probe(s) (0 broadcast(s))")
    call.say(f"Received {1 if owner else 0} response(s) (0 request(s), 0 broadcast(s))")
    return 1 if owner else 0
