"""Where every identity of the lab comes from: one seed kept under the reports folder.

Keys, certificates, ids and UIDs are derived from it, so the runs of one rehearsal meet one cluster
and nothing else has to be stored (contract: design, section 4).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True)
class Seed:
    """32 random bytes and when they were drawn.

    Attributes:
        value: the secret everything is derived from.
        born: when the lab cluster came to be; certificates and creation times count from it.
    """

    value: bytes
    born: datetime

    def bytes(self, *names: str, size: int = 32) -> bytes:
        """`size` bytes that belong to these names alone."""
        return hashlib.shake_256(self.value + "\0".join(names).encode()).digest(size)

    def hex(self, *names: str, digits: int) -> str:
        """Lower-case hexadecimal digits."""
        return self.bytes(*names, size=(digits + 1) // 2).hex()[:digits]

    def integer(self, *names: str) -> int:
        """An unsigned 64-bit number beyond 2**53, as etcd's ids are."""
        return int.from_bytes(self.bytes(*names, size=8), "big") | 1 << 62

    def uuid(self, *names: str) -> str:
        """A version-4 UUID as text."""
        return str(uuid.UUID(bytes=self.bytes(*names, size=16), version=4))

    def suffix(self, *names: str, digits: int) -> str:
        """Letters as the API server generates them: without vowels and look-alikes."""
        return "".join(
            _LETTERS[byte % len(_LETTERS)] for byte in self.bytes("suffix", *names, size=digits)
        )

    @classmethod
    def fresh(cls) -> Seed:
        """A seed nobody has seen."""
        return cls(secrets.token_bytes(32), datetime.now(UTC).replace(microsecond=0))

    @classmethod
    def kept_in(cls, folder: Path) -> Seed:
        """The folder's seed, drawn now if it has none. Labs that start together agree on one.

        Raises:
            OSError: the folder cannot be written.
            ValueError: the seed file is not one.
        """
        path = folder / "seed.json"
        if not path.exists():
            _keep(path, cls.fresh())
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return cls(bytes.fromhex(stored["seed"]), datetime.fromisoformat(stored["born"]))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{path} is not a seed of the lab; move it aside") from None


def _keep(path: Path, seed: Seed) -> None:
    text = json.dumps({"seed": seed.value.hex(), "born": seed.born.isoformat()})
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        # A hard link appears whole or not at all, and never replaces another lab's seed.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)  # noqa: PTH108
