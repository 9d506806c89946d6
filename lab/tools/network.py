"""ping and nc, answered by the model's network (captures: net.out)."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from lab import layout
from lab.ceph_lan import inside
from lab.host import Link
from lab.tools.call import UsageError, split
from lab.world import Door

if TYPE_CHECKING:
    from lab.host import Host
    from lab.tools.call import Call
    from lab.world import World

_PING_USAGE = "\nUsage\n  ping [options] <destination>\n"


async def ping(call: Call) -> int:
    """`ping -c N [-W S] [-i S] [-s SIZE] [-M do] ADDRESS`, without waiting between packets."""
    options = split(
        call.arguments,
        flags=("-n", "-q", "-4", "-O"),
        valued=("-c", "-W", "-w", "-i", "-s", "-M", "-I"),
        refuse="ping: invalid option -- '{letter}'" + _PING_USAGE,
        name="ping",
        rc=2,
    )
    if len(options.rest) != 1:
        raise UsageError("ping: usage error: Destination address required", 1)
    target = options.rest[0]
    if not re.fullmatch(r"[0-9.]+", target):
        call.complain(f"ping: {target}: Name or service not known")
        return 2
    count, size = int(options.get("-c") or 1), int(options.get("-s") or 56)
    if options.get("-M") == "do" and size > 1472:
        return _too_long(call, target, count, size)
    call.say(f"PING {target} ({target}) {size}({size + 28}) bytes of data.")
    host = call.host if target.startswith("127.") else call.world.owner_of(target, call.host)
    alive = host is not None and (host is call.host or host.link is Link.UP)
    if beyond := inside(target):
        alive = call.world.ceph_lan.passes(call.world, call.host, target)
    quiet = "-q" in options
    lost = min(count, call.world.ping_lost if target == layout.VIP else 0) if alive else count
    ttl = 63 if beyond else 64
    times = [0.31 + 0.05 * (index % 3) for index in range(count - lost)]
    for index, time in enumerate(times, 1 + (lost if alive else 0)):
        if not quiet:
            call.say(
                f"{size + 8} bytes from {target}: icmp_seq={index} ttl={ttl} time={time:.3f} ms"
            )
    # Who finds that nobody is there: the host itself on its own link, the gateway behind it.
    finder = call.host.machine.address
    unreachable = host is None and not quiet and not beyond
    if beyond and call.world.ceph_lan.off(target):
        finder, unreachable = call.world.layout.gateway.address, not quiet
    if unreachable:
        for index in range(1, count + 1):
            call.say(f"From {finder} icmp_seq={index} Destination Host Unreachable")
    errors = f"+{count} errors, " if unreachable else ""
    share = f"{100 * lost / count:.6g}%"
    call.say("")
    call.say(f"--- {target} ping statistics ---")
    call.say(
        f"{count} packets transmitted, {len(times)} received, {errors}{share} packet loss, "
        f"time {1001 * (count - 1)}ms"
    )
    if times:
        average = sum(times) / len(times)
        call.say(f"rtt min/avg/max/mdev = {min(times):.3f}/{average:.3f}/{max(times):.3f}/0.041 ms")
        return 0
    call.say("pipe 3" if unreachable else "")
    return 1


def _too_long(call: Call, target: str, count: int, size: int) -> int:
    call.say(f"PING {target} ({target}) {size}({size + 28}) bytes of data.")
    for _ in range(count):
        call.complain("ping: local error: message too long, mtu=1500")
    call.say("")
    call.say(f"--- {target} ping statistics ---")
    call.say(
        f"{count} packets transmitted, 0 received, +{count} errors, 100% packet loss, "
        f"time {1001 * (count - 1)}ms"
    )
    call.say("")
    return 1


async def nc(call: Call) -> int:
    """OpenBSD's `nc -z [-v] [-w S] ADDRESS PORT`; every text is on stderr."""
    options = split(
        call.arguments,
        flags=("-z", "-v", "-n", "-4"),
        valued=("-w",),
        refuse="nc: invalid option -- '{letter}'",
        name="nc",
    )
    if len(options.rest) != 2 or "-z" not in options:
        raise UsageError("usage: nc [-46CDdFhklNnrStUuvZz] [destination] [port]")
    address, port = options.rest[0], int(options.rest[1])
    name = call.name
    door = call.world.connect(call.host, address, port).door
    if door is Door.OPEN:
        if "-v" in options:
            call.complain(f"Connection to {address} {port} port [tcp/*] succeeded!")
        return 0
    if door is Door.DROPPED:
        await asyncio.sleep(float(options.get("-w") or 127))
        if "-v" in options:
            call.complain(
                f"{name}: connect to {address} port {port} (tcp) timed out: "
                "Operation now in progress"
            )
        return 1
    if "-v" in options:
        reason = "Connection refused" if door is Door.REFUSED else "No route to host"
        call.complain(f"{name}: connect to {address} port {port} (tcp) failed: {reason}")
    return 1


def knock(world: World, source: Host, address: str, port: int) -> None:
    """Open and close a TCP connection (bash's /dev/tcp).

    Raises:
        ConnectionError: with bash's reason.
        TimeoutError: likewise, when nothing answers for as long as the kernel waits.
    """
    door = world.connect(source, address, port).door
    if door is Door.DROPPED:
        raise TimeoutError("Connection timed out")
    if door is not Door.OPEN:
        refused = door is Door.REFUSED
        raise ConnectionError("Connection refused" if refused else "No route to host")
