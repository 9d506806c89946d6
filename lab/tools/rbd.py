"""rbd ls and rbd trash ls, on a host with a keyring."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lab.storage import POOL
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.tools.call import Call

_NO_POOL = 2


async def rbd(call: Call) -> int:
    """`rbd ls POOL [--format json]`, `rbd trash ls POOL [--all] [--format json]`."""
    options = split(
        call.arguments,
        flags=("--all", "-a"),
        valued=("--format", "--id", "-p", "--pool"),
        name="rbd",
        refuse="rbd: unrecognised option '{flag}'",
        clustered=False,
    )
    words, storage = options.rest, call.world.storage
    whole = not {"--all", "-a"}.isdisjoint(options.values)
    trash = storage.trash + (storage.removing if whole else [])
    listed = {("ls",): storage.images, ("trash", "ls"): trash}.get(tuple(words[:-1]))
    if listed is None:
        raise UsageError(f"error: unknown option '{' '.join(words)}'\n")
    if call.user != "root":
        call.complain("rbd: couldn't connect to the cluster!\nrbd: error opening pool: (13)")
        return 1
    if storage.rbd_error:
        call.complain(storage.rbd_error)
        return 1
    if words[-1] != POOL:
        call.complain(
            f"rbd: error opening pool '{words[-1]}': (2) No such file or directory\n"
            "rbd: listing images failed: (2) No such file or directory"
        )
        return _NO_POOL
    if options.get("--format") != "json":
        for name in listed:
            call.say(name if words[0] == "ls" else f"1e7a{name[-8:]} {name}")
        return 0
    rows = listed if words[0] == "ls" else [{"id": f"1e7a{n[-8:]}", "name": n} for n in listed]
    call.write(json.dumps(rows, separators=(",", ":")))
    return 0
