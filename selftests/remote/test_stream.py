"""A file goes through this process, whole, private, and on from where a cut left it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.remote.copying import Copy
from fixtures.remote.errors import LinkError
from fixtures.remote.stream import Streamer
from selftests.remote.conftest import BASTION
from selftests.remote.copies import NAME, SIZE, Sites
from selftests.remote.sockets import Relay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fixtures.core.requests import HostCommand
    from selftests.remote.conftest import Site


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
    planned = [each for each in copy.plan() if not each.only_if]
    assert sites.sent == changes
    assert [each.request for each in planned if each.change] == changes
    assert [output.request for output in sites.noted] == [each.request for each in planned]


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

    streamer = Streamer(sites.site.link(connect=3), before=before)
    if cuts == 1:
        assert streamer.copy(sites.copy).resumed
    else:
        with pytest.raises(LinkError):
            streamer.copy(sites.copy)
        assert not (sites.folder / NAME).exists()
        sites.run()
    assert sites.is_whole()


def test_a_copy_that_somebody_else_writes_to_gets_no_name(sites: Sites) -> None:
    def before(request: HostCommand) -> None:
        if request == sites.copy.writing():
            sites.put(sites.part, b"x")

    with pytest.raises(Undecided, match=r"has 3,145,761 bytes .* had 3,145,760: either somebody"):
        Streamer(sites.site.link(), before=before).copy(sites.copy)
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
    absent = "stat: cannot statx 'x': No such file or directory"
    sites.replace(sites.bastion, "stat", f'echo "{absent}" >&2; exit 1')
    with pytest.raises(Undecided, match="No space left on device"):
        sites.run(copy)


def test_a_folder_that_cannot_be_made(sites: Sites) -> None:
    sites.folder.write_text("a file")
    with pytest.raises(Undecided, match=r"mkdir|Not a directory|not a piece|look at it"):
        sites.run()


def test_the_limit_is_for_everything(sites: Sites) -> None:
    sites.replace(sites.cp01, "dd", "echo half; exec sleep 30")
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
