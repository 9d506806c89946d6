"""A host's files: mode, owner and content, with the permission checks a real kernel makes."""

from __future__ import annotations

import posixpath
import stat
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Content: TypeAlias = bytes | Callable[[], bytes]


class Kind(StrEnum):
    """What stands at a path, as `stat -c %F` names it."""

    FILE = "regular file"
    FOLDER = "directory"
    LINK = "symbolic link"
    DEVICE = "character special file"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path.

    Attributes:
        mode: permission bits.
        content: bytes, or a function for what is costly or changes.
        program: name of the tool that runs when the file is executed, if it is a binary.
        target: where a link points.
        size: bytes, when the content is only pretended (binaries).
        modified: seconds since the epoch; None is before the lab began.
        born: the same of its making; None where nothing asks.
    """

    kind: Kind
    mode: int
    owner: str = "root"
    group: str = "root"
    content: Content = b""
    program: str | None = None
    target: str = ""
    size: int | None = None
    modified: float | None = None
    born: float | None = None

    def read(self) -> bytes:
        """The whole content."""
        return self.content if isinstance(self.content, bytes) else self.content()

    @property
    def length(self) -> int:
        """Bytes, as `stat` tells them."""
        return self.size if self.size is not None else len(self.read())

    def allows(self, user: str, need: int) -> bool:
        """Whether `user` has the bits `need` (4 read, 2 write, 1 execute)."""
        if user == "root":
            return need != 1 or self.kind is Kind.FOLDER or bool(self.mode & 0o111)
        shift = 6 if user == self.owner else 3 if user == self.group else 0
        return (self.mode >> shift) & need == need


class FileError(Exception):
    """An errno of a path: the text is what `strerror` says."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


NO_SUCH_FILE = "No such file or directory"
PERMISSION_DENIED = "Permission denied"
IS_A_FOLDER = "Is a directory"
NOT_A_FOLDER = "Not a directory"


class FileSystem:
    """Paths to entries; folders above a path come to be with it, 0755 root.

    Attributes:
        clock: seconds since the epoch, for what is written from now on.
    """

    def __init__(self) -> None:
        self.clock: Callable[[], float] | None = None
        self._entries: dict[str, Entry] = {"/": Entry(Kind.FOLDER, 0o755)}

    def put(self, path: str, entry: Entry) -> None:
        """Place an entry, and the folders above it where they are missing."""
        parent = posixpath.dirname(path)
        if parent not in self._entries:
            self.put(parent, Entry(Kind.FOLDER, 0o755))
        if self.clock is not None and entry.modified is None:
            entry = replace(entry, modified=self.clock())
        self._entries[path] = entry

    def file(
        self,
        path: str,
        content: Content,
        mode: int = 0o644,
        owner: str = "root",
        group: str | None = None,
    ) -> None:
        """Place a regular file."""
        self.put(path, Entry(Kind.FILE, mode, owner, group or owner, content))

    def folder(self, path: str, mode: int = 0o755, owner: str = "root") -> None:
        """Place a folder."""
        self.put(path, Entry(Kind.FOLDER, mode, owner, owner))

    def binary(self, path: str, program: str, size: int = 1_234_560) -> None:
        """Place an executable that runs the lab's tool `program`."""
        self.put(path, Entry(Kind.FILE, 0o755, program=program, size=size))

    def change(self, path: str, **fields: object) -> None:
        """Replace fields of the entry at `path`."""
        if self.clock is not None and "content" in fields:
            fields["modified"] = self.clock()
        self._entries[path] = replace(self._entries[path], **fields)  # type: ignore[arg-type]

    def remove(self, path: str) -> None:
        """Take away the path and everything below it."""
        for known in [
            known for known in self._entries if known == path or known.startswith(path + "/")
        ]:
            del self._entries[known]

    def take_over(self, other: FileSystem, path: str) -> None:
        """Copy what is below the path in `other` and not here."""
        for known, entry in other._entries.items():
            if known.startswith(path + "/"):
                self._entries.setdefault(known, entry)

    def move(self, source: str, target: str) -> None:
        """Give the path and everything below it another name; the target must not be there."""
        for known in sorted(self._entries):
            if known == source or known.startswith(source + "/"):
                self._entries[target + known[len(source) :]] = self._entries.pop(known)

    def resolve(self, path: str, user: str, *, follow: bool = True) -> tuple[str, Entry]:
        """The real path and its entry, as `user` may reach it.

        Raises:
            FileError: absent, a file where a folder is needed, or a folder `user` may not enter.
        """
        return self._resolve(posixpath.normpath(path), path, user, follow=follow, hops=0)

    def _resolve(
        self, path: str, asked: str, user: str, *, follow: bool, hops: int
    ) -> tuple[str, Entry]:
        walked = "/"
        parts = [part for part in path.split("/") if part]
        for index, part in enumerate(parts):
            above = self._entries[walked]
            if above.kind is not Kind.FOLDER:
                raise FileError(asked, NOT_A_FOLDER)
            if not above.allows(user, 1):
                raise FileError(asked, PERMISSION_DENIED)
            here = posixpath.join(walked, part)
            entry = self._entries.get(here)
            if entry is None:
                raise FileError(asked, NO_SUCH_FILE)
            last = index == len(parts) - 1
            if entry.kind is Kind.LINK and (follow or not last):
                if hops > 8:
                    raise FileError(asked, "Too many levels of symbolic links")
                target = posixpath.normpath(
                    posixpath.join(walked, entry.target, *parts[index + 1 :])
                )
                return self._resolve(target, asked, user, follow=follow, hops=hops + 1)
            walked = here
        return walked, self._entries[walked]

    def entry(self, path: str, user: str = "root", *, follow: bool = True) -> Entry:
        """The entry at `path`.

        Raises:
            FileError: see `resolve`.
        """
        return self.resolve(path, user, follow=follow)[1]

    def has(self, path: str) -> bool:
        """Whether root finds something at `path`."""
        try:
            self.entry(path)
        except FileError:
            return False
        return True

    def read(self, path: str, user: str = "root") -> bytes:
        """The content of a regular file.

        Raises:
            FileError: absent, a folder, or not readable for `user`.
        """
        entry = self.entry(path, user)
        if entry.kind is Kind.FOLDER:
            raise FileError(path, IS_A_FOLDER)
        if not entry.allows(user, 4):
            raise FileError(path, PERMISSION_DENIED)
        return entry.read()

    def write(
        self, path: str, content: bytes, user: str, *, append: bool = False, mode: int = 0o644
    ) -> None:
        """Replace or extend a file's content; a new file is `user`'s and has that mode.

        Raises:
            FileError: no such folder, or not writable for `user`.
        """
        parent = self.entry(posixpath.dirname(path) or "/", user)
        try:
            real, entry = self.resolve(path, user)
        except FileError as error:
            if error.reason != NO_SUCH_FILE:
                raise
            if not parent.allows(user, 2):
                raise FileError(path, PERMISSION_DENIED) from None
            self.put(posixpath.normpath(path), Entry(Kind.FILE, mode, user, user, content))
            return
        if entry.kind is Kind.FOLDER:
            raise FileError(path, IS_A_FOLDER)
        if not entry.allows(user, 2):
            raise FileError(path, PERMISSION_DENIED)
        if entry.kind is not Kind.DEVICE:
            self.change(real, content=entry.read() + content if append else content)

    def check_folder_of(self, path: str, user: str) -> None:
        """Whether `user` may add and remove entries beside `path`.

        Raises:
            FileError: no such folder, or not writable for `user`.
        """
        if not self.entry(posixpath.dirname(path) or "/", user).allows(user, 2):
            raise FileError(path, PERMISSION_DENIED)

    def children(self, path: str) -> list[str]:
        """The names in a folder, sorted."""
        prefix = path.rstrip("/") + "/"
        return sorted(
            known[len(prefix) :]
            for known in self._entries
            if known.startswith(prefix)
            and len(known) > len(prefix)
            and "/" not in known[len(prefix) :]
        )

    def walk(self, path: str) -> Iterator[str]:
        """The path and everything below it, folders before their content."""
        yield path
        for name in self.children(path):
            yield from self.walk(posixpath.join(path, name))


def ls_mode(entry: Entry) -> str:
    """The entry's type and permissions as `ls -l` prints them."""
    kinds = {
        Kind.FILE: stat.S_IFREG,
        Kind.FOLDER: stat.S_IFDIR,
        Kind.LINK: stat.S_IFLNK,
        Kind.DEVICE: stat.S_IFCHR,
    }
    return stat.filemode(kinds[entry.kind] | entry.mode)
