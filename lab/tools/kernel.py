"""sysctl and arping, as far as phase F asks (captures: net.out, ceph-way.out)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.ceph_lan import LEG, WAN, is_gateway
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.host import Host
    from lab.tools.call import Call
    from lab.world import World

_KEY = "net.ipv4.conf."
_NAMES = "TcpExt: SyncookiesSent SyncookiesRecv IPReversePathFilter TCPOrigDataSent"


async def sysctl(call: Call) -> int:
    """`sysctl net.ipv4.conf.NAME.rp_filter …`."""
    options = split(call.arguments, flags=("-n",), name="sysctl")
    rc = 0
    for key in options.rest:
        name = key.removeprefix(_KEY).removesuffix(".rp_filter")
        if not key.startswith(_KEY) or not key.endswith(".rp_filter"):
            raise UsageError(f"sysctl: the lab does not know {key}")
        values = {"all": 1, "default": 1, "lo": 0, "eth0": 1}
        if is_gateway(call.host):
            values |= {WAN: 1} | ({LEG: 1} if call.world.ceph_lan.leg else {})
        if name in values:
            call.say(str(values[name]) if "-n" in options else f"{key} = {values[name]}")
        else:
            path = f"/proc/sys/net/ipv4/conf/{name}/rp_filter"
            call.complain(f"sysctl: cannot stat {path}: No such file or directory")
            rc = 1
    return rc


def netstat(world: World, host: Host) -> bytes:
    """`/proc/net/netstat` in part."""
    if is_gateway(host):
        world.ceph_lan.filtered += world.ceph_lan.strangers
    dropped = world.ceph_lan.filtered if is_gateway(host) else 0
    return f"{_NAMES}\nTcpExt: 0 0 {dropped} 81230\nIpExt: InNoRoutes\nIpExt: 0\n".encode()


def owner_on_the_leg(call: Call, interface: str, address: str) -> str | None:
    """Whose hardware address answers ARP there, empty for nobody's; None without that interface."""
    lan = call.world.ceph_lan
    if interface != LEG or not is_gateway(call.host) or not lan.leg:
        return None
    if not lan.linked:
        return ""
    if address in lan.monitors and address not in lan.silent:
        return "bc:24:11:00:00:10"
    return lan.claimed if address == lan.source else ""


async def arping(call: Call) -> int:
    """`arping -D -c N -w S -I INTERFACE ADDRESS` of iputils: does anybody have that address?"""
    options = split(
        call.arguments, flags=("-D", "-q"), valued=("-c", "-w", "-I"), name="arping", rc=2
    )
    (address,) = options.rest
    interface, count = options.get("-I") or "", options.get("-c") or "1"
    if call.user != "root":
        call.complain("arping: socket: Operation not permitted")
        return 2
    if (owner := owner_on_the_leg(call, interface, address)) is None:
        call.complain(f"arping: Device {interface} not available.")
        return 2
    call.say(f"ARPING {address} from 0.0.0.0 {LEG}")
    if owner:
        call.say(f"Unicast reply from {address} [{owner.upper()}]  0.731ms")
        call.say("Sent 1 probes (1 broadcast(s))")
        call.say("Received 1 response(s)")
        return 1
    call.say(f"Sent {count} probes ({count} broadcast(s))")
    call.say("Received 0 response(s)")
    return 0
