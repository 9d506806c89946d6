"""What the real server keeps in etcd under its token; here the token's mark alone."""

from __future__ import annotations

import base64
import hashlib
from typing import Final

from . import etcd

_PREFIX: Final = "/bootstrap/"


class WrongTokenError(Exception):
    """The data in etcd was written under another token; the text is the real server's."""


def reconcile(token: str) -> bool:
    """Leave the token's mark in etcd, or find it there; whether it was there.

    Raises:
        WrongTokenError: there is another one.
        EtcdError: etcd did not answer.
    """
    own = f"{_PREFIX}{hashlib.sha256(token.encode()).hexdigest()[:12]}"
    found = etcd.ctl("get", _PREFIX, "--prefix", "--keys-only").get("kvs", [])
    names = {base64.b64decode(entry["key"]).decode() for entry in found}
    if not names:
        etcd.ctl("put", own, "{}")
        return False
    if own not in names:
        raise WrongTokenError(
            "failed to save bootstrap data: bootstrap data already found and encrypted with "
            "different token"
        )
    return True
