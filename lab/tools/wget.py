"""busybox' wget in containers, for `http://HOST[:PORT]/`; its seconds are scaled down."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab.cluster import names, ways
from lab.cluster.ways import End
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.tools.call import Call

_SCALE = 0.1
_FOR_EVER = 900.0


async def busybox(call: Call, pod: Object) -> int:
    """`wget -qO- [-T SECONDS] URL`: the page, or why not."""
    options = split(
        call.arguments,
        flags=("-q", "--quiet", "-c", "--spider"),
        valued=("-O", "--output-document", "-T", "--timeout"),
        name="wget",
        refuse="wget: unrecognized option '{flag}'",
    )
    url = urlsplit(options.rest[0]) if len(options.rest) == 1 else None
    if url is None or url.scheme != "http" or not url.hostname or url.path not in ("", "/"):
        raise UsageError(f"wget: the lab fetches the root of one http server, not {options.rest}")
    if options.get("-O", "--output-document") != "-":
        raise UsageError("wget: the lab knows -O - only")
    store, port = call.world.objects, url.port or 80
    address = _address(call, pod, url.hostname)
    if address is None:
        call.complain(f"wget: bad address '{url.netloc}'")
        return 1
    way = ways.connect(call.world, store, pod, address, port)
    if way.end is End.SERVED:
        call.write(way.content)
        return 0
    if way.end is End.REFUSED:
        call.complain(f"wget: can't connect to remote host ({address}): Connection refused")
        return 1
    await asyncio.sleep(float(options.get("-T", "--timeout") or _FOR_EVER) * _SCALE)
    call.complain("wget: download timed out")
    return 1


def _address(call: Call, pod: Object, host: str) -> str | None:
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        store = call.world.objects
        found = names.resolved(store, pod, host) if names.answered(store) else None
        return found[1][0] if found else None
