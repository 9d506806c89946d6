"""What a copy finds on the target counts only if it is this file's; nothing else is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.remote.stream import Streamer
from selftests.remote.conftest import BASTION
from selftests.remote.copies import NAME, SIZE, Sites

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fixtures.core.requests import HostCommand
    from selftests.remote.conftest import Site


@pytest.fixture
def sites(site: Site, tmp_path: Path) -> Iterator[Sites]:
    return Sites(site, tmp_path)


def test_a_whole_copy_is_left_alone(sites: Sites) -> None:
    sites.run()
    sites.sent.clear()
    sites.noted.clear()
    copied = sites.run()
    assert (copied.sent, copied.aside) == (0, False)
    assert sites.sent == []
    asked = [sites.copy.sizing(NAME), *sites.copy.summing(NAME)]
    assert [output.request for output in sites.noted] == asked
    assert sites.told[-1][:2] == (SIZE, SIZE)


@pytest.mark.parametrize("size", [0, 11, SIZE - 1, SIZE, SIZE + 1])
def test_another_file_of_the_copys_name_is_kept_beside_it(sites: Sites, size: int) -> None:
    """Two saves of one second have one name, and an etcd database seldom changes its size."""
    olders = [bytes(size), b"x" * size]
    for older in olders:
        sites.put(sites.folder / NAME, older)
        (sites.folder / NAME).chmod(0o600)
        copied = sites.run()
        assert (copied.sent, copied.aside) == (SIZE, True)
        assert sites.is_whole()
    assert sites.beside == {".~1~": olders[0], ".~2~": olders[1]}
    assert (sites.folder / f"{NAME}.~1~").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("there", [0, 1, 1024 * 1024, SIZE - 1, SIZE])
def test_a_part_of_an_earlier_try_is_continued(sites: Sites, there: int) -> None:
    sites.put(sites.part, sites.original.read_bytes()[:there])
    sites.part.chmod(0o600)
    assert sites.run().sent == SIZE - there
    assert sites.is_whole()


@pytest.mark.parametrize("there", [1, 1024 * 1024, SIZE, SIZE + 1])
def test_a_piece_of_another_file_is_started_anew(sites: Sites, there: int) -> None:
    own = sites.original.read_bytes()[: there - 1]
    sites.put(sites.part, own + bytes([sites.original.read_bytes()[len(own) % SIZE] ^ 1]))
    sites.part.chmod(0o644)
    copied = sites.run()
    assert (copied.sent, copied.aside) == (SIZE, False)
    assert sites.copy.removing() in sites.sent
    assert sites.is_whole()
    assert sites.beside == {}


@pytest.mark.parametrize("renamed", [True, False])
@pytest.mark.parametrize("older", [b"", b"x" * SIZE])
def test_a_cut_while_the_copy_gets_its_name(sites: Sites, older: bytes, *, renamed: bool) -> None:
    """Whether it got it or not: the next attempt finds out, and keeps an older file once."""
    if older:
        sites.put(sites.folder / NAME, older)
    # Removed first: the second attempt finds the real one.
    move = '/bin/mv "$@"; ' if renamed else ""
    sites.replace(sites.bastion, "mv", f'rm "$0"; {move}echo renaming')

    def before(request: HostCommand) -> None:
        if request == sites.copy.renaming():
            sites.sent.append(request)
            if len(sites.sent) == 1:
                sites.bastion.cut_after = 1

    copied = Streamer(sites.site.link(), before=before).copy(sites.copy)
    assert (copied.sent, copied.resumed, copied.aside) == (SIZE, True, bool(older))
    assert len(sites.sent) == (1 if renamed else 2)
    assert sites.is_whole()
    assert sites.beside == ({".~1~": older} if older else {})


@pytest.mark.parametrize("host", ["rke-cp01", BASTION])
@pytest.mark.parametrize(
    ("tool", "script", "there"),
    [
        ("sha256sum", "echo 'sha256sum: x: Input/output error' >&2; exit 1", NAME),
        ("sha256sum", "echo nonsense", NAME),
        # The rc of a pipe is its last command's: that of `sha256sum` of nothing.
        ("head", "echo 'head: error reading x: Input/output error' >&2; exit 1", f"{NAME}.part"),
    ],
)
def test_what_cannot_be_compared_is_left_as_it_is(
    sites: Sites, host: str, tool: str, script: str, there: str
) -> None:
    sites.put(sites.folder / there, sites.original.read_bytes())
    sites.replace(sites.bastion if host == BASTION else sites.cp01, tool, script)
    with pytest.raises(Undecided, match=rf"{host}: .*{tool}.* is not known; next: repair that"):
        sites.run()
    assert [path.name for path in sites.folder.iterdir()] == [there]
    assert sites.copy.removing() not in sites.sent


def test_a_remark_of_sudo_is_no_trouble(sites: Sites) -> None:
    sites.put(sites.part, sites.original.read_bytes()[:100])
    sites.part.chmod(0o600)
    remark = "echo 'sudo: unable to resolve host rke-cp01: Name or service not known' >&2"
    sites.replace(sites.cp01, "sudo", f'{remark}\nshift\nexec "$@"')
    assert sites.run().sent == SIZE - 100
    assert sites.is_whole()


@pytest.mark.parametrize("where", [NAME, f"{NAME}.part"])
def test_what_is_no_file_is_left_alone(sites: Sites, where: str) -> None:
    sites.folder.mkdir(mode=0o700)
    (sites.folder / where).symlink_to("elsewhere")
    with pytest.raises(Undecided, match=r"symbolic link .*; look at it by hand"):
        sites.run()
    assert (sites.folder / where).is_symlink()
