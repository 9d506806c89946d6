"""etcdctl get: the values that etcd keeps, as far as the lab has them (facts 1.4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.storage import stored

if TYPE_CHECKING:
    from lab.etcd import EtcdCluster
    from lab.tools.call import Call

_SECRET = re.compile(r"/registry/secrets/([^/]+)/([^/]+)")


def get(call: Call, cluster: EtcdCluster, key: str, form: str, *, alone: bool) -> int:
    """The value of a key, with the key's line before it unless `alone`.

    A missing key is no error, and prints nothing.
    """
    match = _SECRET.fullmatch(key)
    if match is None or form != "simple":
        # Of everything else, and in other forms, only the absence is known.
        call.mystery(f"etcdctl get {key} -w {form}")
        return 0
    secret = call.world.store_of(cluster).peek("Secret", match[1], match[2])
    if secret is None or not (value := stored(call.world, secret)):
        return 0
    call.write(value + b"\n" if alone else f"{key}\n".encode() + value + b"\n")
    return 0
