"""traceroute and tracepath into the Ceph network (captures: ceph-way.out)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.ceph_lan import inside, is_gateway
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.tools.call import Call


async def traceroute(call: Call) -> int:
    """`traceroute -n [-N AT_ONCE] [-w S] [-q N] [-m HOPS] ADDRESS`, of Linux."""
    options = split(
        call.arguments, flags=("-n",), valued=("-N", "-w", "-q", "-m"), name="traceroute"
    )
    target = _target(call, options.rest)
    most, probes = int(options.get("-m") or 30), int(options.get("-q") or 3)
    call.say(f"traceroute to {target} ({target}), {most} hops max, 60 byte packets")
    times = "  ".join(f"0.{203 + 11 * number} ms" for number in range(probes))
    refused = "  ".join(f"1047.{894 - 26 * number} ms !H" for number in range(probes))
    silent = " ".join("*" for _ in range(probes))
    rows, refusal = _rows(call, target, most)
    for number, address in enumerate(rows, 1):
        told = refused if number - 1 == refusal else times
        call.say(f"{number:2}  {address}  {told}" if address else f"{number:2}  {silent}")
    return 0


async def tracepath(call: Call) -> int:
    """`tracepath -n [-m HOPS] ADDRESS`, of iputils."""
    options = split(call.arguments, flags=("-n",), valued=("-m",), name="tracepath")
    target, most = _target(call, options.rest), int(options.get("-m") or 30)
    rows, refusal = _rows(call, target, most)
    call.say(f" 1?: [LOCALHOST]{'':22}pmtu 1500")
    # The first hop is asked once more, when the MTU of the way is known.
    for number, address in [(1, rows[0]), *enumerate(rows, 1)]:
        if number - 1 == refusal:
            # Its refusal comes late, while the hop before is still waited for.
            call.say(f"{number - 1:2}:  {address:<52}3061.868ms !H")
        elif address:
            reached = "reached" if address == target else ""
            call.say(f"{number:2}:  {address:<52}  0.{99 + 24 * number:03}ms {reached}")
        else:
            call.say(f"{number:2}:  no reply")
    if rows[-1] == target:
        call.say(f"     Resume: pmtu 1500 hops {len(rows)} back {len(rows)} ")
    else:
        if refusal is None:
            call.say("     Too many hops: pmtu 1500")
        call.say("     Resume: pmtu 1500 ")
    return 0


def _target(call: Call, rest: list[str]) -> str:
    (target,) = rest
    if not inside(target):
        raise UsageError(f"{call.name}: the lab knows ways into the Ceph network only: {target}")
    return target


def _rows(call: Call, target: str, most: int) -> tuple[list[str], int | None]:
    """Who answers at each hop, nobody where it is empty, and which row is a router's refusal."""
    lan, gateway = call.world.ceph_lan, call.world.layout.gateway.address
    hops = [] if is_gateway(call.host) else [gateway]
    if lan.passes(call.world, call.host, target):
        return [*hops, target], None
    if lan.off(target) and hops:
        # Nobody answers the gateway's ARP: it says so, after a second.
        return [gateway, "", gateway], 2
    return [*hops, *[""] * (most - len(hops))], None
