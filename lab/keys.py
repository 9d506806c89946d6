"""The lab's SSH keys: ed25519, derived from the seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

if TYPE_CHECKING:
    from lab.seed import Seed


@dataclass(frozen=True, slots=True)
class SshKey:
    """A key pair in OpenSSH's text forms."""

    private: bytes
    public: str


def ssh_key(seed: Seed, *names: str) -> SshKey:
    """The key that belongs to these names."""
    key = Ed25519PrivateKey.from_private_bytes(seed.bytes("ssh", *names))
    return SshKey(
        key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()),
        key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode(),
    )


def user_key(seed: Seed) -> SshKey:
    """The operator's key."""
    return ssh_key(seed, "user")


def host_key(seed: Seed, host: str, generation: int = 0) -> SshKey:
    """A host's key; another generation is another key."""
    return ssh_key(seed, "host", host, str(generation))
