"""A Git checkout written file by file: the same commits every time, and no program to wait for.

Real Git reads it afterwards. Formats: gitformat-index(5), gitrepository-layout(5); objects are
loose.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_WHO: Final = "Operator <operator@lab>"
_START: Final = 1788000000
_FILE, _FOLDER = 0o100644, 0o040000
_CONFIG: Final = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"


@dataclass(slots=True)
class GitWriter:
    """One repository in the making.

    Attributes:
        objects: content of each object, by its id in hex.
        head: the last commit; empty before the first.
    """

    objects: dict[str, bytes] = field(default_factory=dict)
    head: str = ""
    _files: dict[str, bytes] = field(default_factory=dict)
    _commits: int = 0

    def commit(self, message: str, files: Mapping[str, str]) -> str:
        """Add these files to what was there; the commit's id."""
        self._files |= {path: text.encode() for path, text in files.items()}
        when = f"{_WHO} {_START + 3600 * self._commits} +0000"
        self._commits += 1
        parent = f"parent {self.head}\n" if self.head else ""
        text = f"tree {self._tree('')}\n{parent}author {when}\ncommitter {when}\n\n{message}\n"
        self.head = self._put("commit", text.encode())
        return self.head

    def write(self, folder: Path, fetched: str = "") -> None:
        """Write the work tree and its `.git`: branch main.

        Args:
            folder: the checkout.
            fetched: what origin/main is as it was fetched; the head by default.
        """
        git = folder / ".git"
        for name in ("objects", "refs/heads", "refs/remotes/origin", "info"):
            (git / name).mkdir(parents=True, exist_ok=True)
        for digest, content in self.objects.items():
            place = git / "objects" / digest[:2]
            place.mkdir(exist_ok=True)
            (place / digest[2:]).write_bytes(zlib.compress(content, 1))
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "config").write_text(_CONFIG)
        (git / "refs/heads/main").write_text(f"{self.head}\n")
        (git / "refs/remotes/origin/main").write_text(f"{fetched or self.head}\n")
        (git / "index").write_bytes(self._index())
        for path, content in self._files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)

    def _tree(self, prefix: str) -> str:
        entries: dict[str, tuple[int, str]] = {}
        for path, content in self._files.items():
            if not path.startswith(prefix):
                continue
            name, slash, _ = path[len(prefix) :].partition("/")
            if not slash:
                entries[name] = (_FILE, self._put("blob", content))
            elif name not in entries:
                entries[name] = (_FOLDER, self._tree(f"{prefix}{name}/"))
        # Git sorts a folder as if its name ended with a slash.
        ordered = sorted(entries.items(), key=lambda each: each[0] + "/" * (each[1][0] == _FOLDER))
        return self._put(
            "tree",
            b"".join(
                f"{mode:o} {name}\0".encode() + bytes.fromhex(digest)
                for name, (mode, digest) in ordered
            ),
        )

    def _put(self, kind: str, content: bytes) -> str:
        whole = f"{kind} {len(content)}\0".encode() + content
        digest = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        self.objects[digest] = whole
        return digest

    def _index(self) -> bytes:
        body = struct.pack(">4sII", b"DIRC", 2, len(self._files))
        for path in sorted(self._files):
            content, name = self._files[path], path.encode()
            digest = bytes.fromhex(self._put("blob", content))
            # Times of 0 make Git look into the file instead of believing the index.
            entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, _FILE, 0, 0, len(content))
            entry += digest + struct.pack(">H", min(len(name), 0xFFF)) + name
            body += entry + b"\0" * (8 - len(entry) % 8)
        return body + hashlib.sha1(body, usedforsecurity=False).digest()
