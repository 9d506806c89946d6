"""nslookup in containers: BIND's of jessie-dnsutils (9.9), and busybox' (captures: dns2.out)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import layout
from lab.cluster import names
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.tools.call import Call

_SILENT = ";; connection timed out; no servers could be reached\n"


async def bind(call: Call, pod: Object) -> int:
    """`nslookup NAME`: the search list comes first, and only IPv4 is asked for."""
    name, store = _asked(call), call.world.objects
    if not names.answered(store):
        call.say(_SILENT)
        return 1
    _server(call, "#")
    found = names.resolved(store, pod, name)
    if found is None:
        call.say(f"** server can't find {name}: NXDOMAIN\n")
        return 1
    for address in found[1]:
        call.say(f"Name:\t{found[0]}\nAddress: {address}")
    call.say("")
    return 0


async def busybox(call: Call, pod: Object) -> int:
    """`nslookup NAME`: a name with a dot is asked for as it is, whatever the search list."""
    name, store = _asked(call), call.world.objects
    if not names.answered(store):
        call.say(_SILENT)
        return 1
    _server(call, ":")
    wanted = [name] if "." in name else [f"{name}.{each}" for each in names.search_list(pod)]
    missing = [_print(call, store, each, ipv6=ipv6) for ipv6 in (False, True) for each in wanted]
    return int(any(missing))


def _print(call: Call, store: Store, name: str, *, ipv6: bool) -> bool:
    """Print what is known of the name, which never has an IPv6 address; whether it is missing."""
    found = names.addresses(store, name)
    if found is None:
        call.say(f"** server can't find {name}: NXDOMAIN\n")
        return True
    for address in () if ipv6 else found:
        call.say(f"Name:\t{name}\nAddress: {address}")
    call.say("")
    return False


def _asked(call: Call) -> str:
    words = [word for word in call.arguments if not word.startswith("-")]
    if len(words) != 1 or len(call.arguments) != 1:
        raise UsageError(f"nslookup: the lab knows one name and no option, not {call.arguments}")
    return words[0]


def _server(call: Call, mark: str) -> None:
    call.say(f"Server:\t\t{layout.DNS}\nAddress:\t{layout.DNS}{mark}53\n")
