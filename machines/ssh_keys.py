"""Ed25519 keys of hosts and of the client, in OpenSSH's own formats."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class SshKey:
    """A key pair: the private half in OpenSSH PEM, the public half as `ssh-ed25519 AAAA…`."""

    private: str
    public: str

    @property
    def fingerprint(self) -> str:
        """As OpenSSH prints it: `SHA256:` and unpadded base64."""
        blob = base64.b64decode(self.public.split()[1])
        digest = base64.b64encode(hashlib.sha256(blob).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"


def generate() -> SshKey:
    """A new key pair, without a passphrase."""
    key = Ed25519PrivateKey.generate()
    return SshKey(
        private=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ).decode(),
        public=key.public_key()
        .public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        .decode(),
    )


def known_hosts(keys: Mapping[str, SshKey], addresses: Mapping[str, Iterable[str]]) -> str:
    """A known_hosts file: one line a machine, all its addresses before its key."""
    return "".join(f"{','.join(addresses[name])} {keys[name].public}\n" for name in keys)
