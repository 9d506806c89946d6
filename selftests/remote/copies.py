"""Two hosts that run real commands, and a file that is copied from one to the other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fixtures.remote.copying import Copy
from fixtures.remote.stream import Copied, Streamer
from selftests.remote.conftest import BASTION
from selftests.remote.shells import ShellHost

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.core.requests import HostCommand, Output
    from selftests.remote.conftest import Site

SIZE = 3 * 1024 * 1024 + 32
NAME = "pre-addons-fase6-rke-cp01-1796044509"


class Sites:
    """A site whose bastion and first control plane run real commands."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.hosts: list[ShellHost] = []
        accepted = [site.user_key.convert_to_public()]
        for old in (site.bastion, site.cp01):
            home = folder / f"home{len(self.hosts)}"
            old.stop()
            new = ShellHost(old.host_keys, accepted, forwards=old.forwards, home=home)
            self.hosts.append(new)
            new.start()
        self.bastion, self.cp01 = self.hosts
        site.bastion, site.cp01 = self.bastion, self.cp01
        self.bastion.forwards["10.72.0.21", 22] = self.cp01.port
        site.write_known_hosts()
        self.original = folder / "snapshots" / NAME
        self.original.parent.mkdir()
        self.original.write_bytes(os.urandom(SIZE))
        self.folder = self.bastion.home / "rke2-snapshots"
        self.told: list[tuple[int, int, float]] = []
        self.sent: list[HostCommand] = []
        self.noted: list[Output] = []

    @property
    def copy(self) -> Copy:
        return Copy(
            "rke-cp01", str(self.original), SIZE, BASTION, "~/rke2-snapshots", NAME, 20.0, 5.0
        )

    @property
    def part(self) -> Path:
        return self.folder / f"{NAME}.part"

    @property
    def beside(self) -> dict[str, bytes]:
        """What else is in the folder, by what follows the copy's name."""
        found = {path.name.removeprefix(NAME): path for path in self.folder.iterdir()}
        return {name: path.read_bytes() for name, path in found.items() if name}

    def put(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(content)

    def replace(self, host: ShellHost, tool: str, script: str) -> None:
        path = host.home / "bin" / tool
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, copy: Copy | None = None) -> Copied:
        streamer = Streamer(
            self.site.link(),
            progress=lambda *told: self.told.append(told),
            before=self.sent.append,
            note=self.noted.append,
        )
        return streamer.copy(copy or self.copy)

    def is_whole(self) -> bool:
        copied = self.folder / NAME
        return (
            copied.read_bytes() == self.original.read_bytes()
            and not self.part.exists()
            and (copied.stat().st_mode & 0o777, self.folder.stat().st_mode & 0o777)
            == (0o600, 0o700)
        )
