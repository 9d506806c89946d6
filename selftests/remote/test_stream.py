"""A file goes through this process, whole, private, and on from where a cut left it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.remote.errors import LinkError
from fixtures.remote.stream import Copied, Copy, Streamer
from selftests.remote.conftest import BASTION
from selftests.remote.shells import ShellHost
from selftests.remote.sockets import Relay

if TYPE_CHECKING:
    from collections.abc import Iterator
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

    def put(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(content)

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


@pytest.fixture
def sites(site: Site, tmp_path: Path) -> Iterator[Sites]:
    return Sites(site, tmp_path)


def test_a_copy_is_whole_and_private(sites: Sites) -> None:
    copied = sites.run()
    assert sites.is_whole()
    assert (copied.sent, copied.resumed) == (SIZE, False)
    assert sites.told[-1][:2] == (SIZE, SIZE)
    assert [told[0] for told in sites.told] == sorted(told[0] for told in sites.told)


def test_what_changes_something_is_told_before_it_is_sent(sites: Sites) -> None:
    sites.run()
    copy = sites.copy
    changes = [
        copy.making(), copy.reading(0), copy.writing(), copy.syncing(), copy.renaming()
    ]  # fmt: skip
    assert sites.sent == changes
    assert [request for request in copy.plan() if request in changes] == changes
    assert [output.request for output in sites.noted] == copy.plan()


def test_a_whole_copy_is_left_alone(sites: Sites) -> None:
    sites.run()
    sites.sent.clear()
    assert sites.run().sent == 0
    assert sites.sent == []
    assert sites.told[-1][:2] == (SIZE, SIZE)


@pytest.mark.parametrize("there", [0, 1, 1024 * 1024, SIZE - 1, SIZE])
def test_a_part_of_an_earlier_try_is_continued(sites: Sites, there: int) -> None:
    sites.put(sites.part, sites.original.read_bytes()[:there])
    sites.part.chmod(0o600)
    assert sites.run().sent == SIZE - there
    assert sites.is_whole()


@pytest.mark.parametrize("which", ["bastion", "cp01"])
def test_a_cut_connection_is_resumed_once(sites: Sites, which: str) -> None:
    getattr(sites, which).cut_after = 1024 * 1024
    copied = sites.run()
    assert sites.is_whole()
    assert copied.resumed
    assert copied.sent >= SIZE


@pytest.mark.parametrize("cuts", [1, 2])
def test_a_link_to_the_bastion_that_is_cut(sites: Sites, cuts: int) -> None:
    """Once is resumed; twice is an error, and the next run goes on where it ended."""
    relay = sites.site.behind_relay(Relay(sites.bastion.port))
    cut: list[HostCommand] = []

    def before(request: HostCommand) -> None:
        if "dd of" in request.command and len(cut) < cuts:
            cut.append(request)
            relay.cut_soon()

    streamer = Streamer(sites.site.link(), before=before)
    if cuts == 1:
        assert streamer.copy(sites.copy).resumed
    else:
        with pytest.raises(LinkError):
            streamer.copy(sites.copy)
        assert not (sites.folder / NAME).exists()
        sites.run()
    assert sites.is_whole()


def test_a_copy_that_is_not_ours_is_left_alone(sites: Sites) -> None:
    sites.put(sites.folder / NAME, b"another one")
    with pytest.raises(Undecided, match=r"has 11 bytes, .* has 3,145,760: it is not a piece"):
        sites.run()
    assert (sites.folder / NAME).read_bytes() == b"another one"


def test_a_part_that_is_too_long_is_left_alone(sites: Sites) -> None:
    sites.put(sites.part, b"x" * (SIZE + 1))
    with pytest.raises(Undecided, match="it is not a piece of this copy"):
        sites.run()
    assert not (sites.folder / NAME).exists()


def test_an_original_that_cannot_be_read(sites: Sites) -> None:
    with pytest.raises(Undecided, match=r"rke-cp01: .* ended with rc 1: dd: failed to open"):
        sites.run(replace(sites.copy, path="/nowhere/x"))
    assert not (sites.folder / NAME).exists()


def test_an_original_that_is_shorter_than_it_was(sites: Sites) -> None:
    sites.original.write_bytes(b"x" * 100)
    with pytest.raises(Undecided, match="has 100 bytes"):
        sites.run()
    assert not (sites.folder / NAME).exists()


def test_a_target_that_takes_no_more(sites: Sites) -> None:
    sites.folder.mkdir(mode=0o700)
    sites.part.symlink_to("/dev/full")
    copy = sites.copy
    stat = "#!/bin/sh\necho \"stat: cannot statx 'x': No such file or directory\" >&2\nexit 1\n"
    (sites.bastion.home / "bin" / "stat").write_text(stat)
    (sites.bastion.home / "bin" / "stat").chmod(0o755)
    with pytest.raises(Undecided, match="No space left on device"):
        sites.run(copy)


def test_a_folder_that_cannot_be_made(sites: Sites) -> None:
    sites.folder.write_text("a file")
    with pytest.raises(Undecided, match=r"mkdir|Not a directory|not a piece|look at it"):
        sites.run()


def test_the_limit_is_for_everything(sites: Sites) -> None:
    slow = sites.cp01.home / "bin" / "dd"
    slow.write_text("#!/bin/sh\necho half; exec sleep 30\n")
    slow.chmod(0o755)
    with pytest.raises(LinkError, match="was not copied within 1 s; what arrived stays in"):
        sites.run(replace(sites.copy, limit=1.0))
    assert sites.part.read_bytes() == b"half\n"


@pytest.mark.parametrize(
    ("folder", "name"),
    [("~/a b", "x"), ("rel", "x"), ("~/a", "a/b"), ("~/a", "-x"), ("~/a", ""), ("~/a;b", "x")],
)
def test_a_name_that_would_need_quoting_is_never_sent(folder: str, name: str) -> None:
    with pytest.raises(ValueError, match="not a plain folder and name"):
        Copy("rke-cp01", "/x", 1, BASTION, folder, name, 1.0, 1.0)
