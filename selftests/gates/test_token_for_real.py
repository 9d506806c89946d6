"""0.4 against real Git and a real shell: what spoils a token, and where Git had it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.judge.preconditions import token_private
from fixtures.observe.token_file import TokenFiles
from selftests.gates.checkout_stand import Checkout, Here, clone, made, verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fixtures.core.inventory import Cluster

TOKEN = b"0123456789abcdef0123456789ABCDEF\n"


def private(cluster: Cluster) -> tuple[str, str]:
    return verdict(lambda: token_private(TokenFiles(cluster, Here()).seen()))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return made(tmp_path / "infrastructure")


def with_token(checkout: Checkout, content: bytes = TOKEN, mode: int = 0o600) -> Path:
    path = checkout.path / "node-token"
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("content", [TOKEN, TOKEN[:-1], TOKEN.lower(), TOKEN.upper()])
def test_a_private_token_is_good(content: bytes, checkout: Checkout) -> None:
    path = with_token(checkout, content)
    assert private(checkout.cluster(node_token=path)) == ("PASS", "")
    around = checkout.path / "ansible" / ".." / "node-token"
    assert private(checkout.cluster(node_token=around)) == ("PASS", "")
    link = checkout.path.with_name("link")
    link.symlink_to(checkout.path)
    there = Checkout(link, checkout.commits).cluster(node_token=link / "node-token")
    assert private(there) == ("PASS", "")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        TOKEN[:-2] + b"\n",
        TOKEN[:-1] + b"0\n",
        TOKEN[:-1] + b"0",
        TOKEN[:-1] + b"\r\n",
        TOKEN + b"\n",
        TOKEN[:-1] + b"\0",
        b"\n" + TOKEN[:-1],
        b" " + TOKEN[1:],
        b"\xef\xbb\xbf" + TOKEN,
        TOKEN + TOKEN,
        TOKEN.replace(b"f", b"g"),
    ],
)
def test_nothing_but_32_hex_characters_is_a_token(content: bytes, checkout: Checkout) -> None:
    said = private(checkout.cluster(node_token=with_token(checkout, content)))
    assert said[0] == "FAIL"
    assert "expected 32 hex characters" in said[1]
    for line in content.split():
        assert line.decode("latin-1") not in said[1]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o400, 0o700, 0o4600])
def test_any_other_mode_is_wrong(mode: int, checkout: Checkout) -> None:
    said = private(checkout.cluster(node_token=with_token(checkout, mode=mode)))
    assert said[0] == "FAIL"


def test_a_link_to_a_token_is_none(checkout: Checkout) -> None:
    path = with_token(checkout)
    real = path.rename(checkout.path.with_name("real"))
    path.symlink_to(real)
    assert "symbolic link" in private(checkout.cluster(node_token=path))[1]


def test_a_token_outside_the_checkout_is_not_the_playbooks(checkout: Checkout) -> None:
    real = with_token(checkout).rename(checkout.path.with_name("real"))
    said = private(checkout.cluster(node_token=real))
    assert said[0] == "UNKNOWN"
    assert "outside repository" in said[1]


def taken_back_before_the_merge(checkout: Checkout) -> None:
    checkout.git("checkout", "-q", "-b", "side")
    checkout.git("add", "-f", "node-token")
    checkout.git("commit", "-q", "-m", "Oops")
    checkout.git("rm", "-q", "--cached", "node-token")
    checkout.git("commit", "-q", "-m", "Take it back")
    checkout.git("checkout", "-q", "main")
    checkout.commit("Meanwhile", **{"other.yml": "---\n"})
    checkout.git("merge", "-q", "--no-ff", "side", "-m", "Merge")
    checkout.git("branch", "-q", "-D", "side")


def in_the_index(checkout: Checkout) -> None:
    checkout.git("add", "-f", "node-token")


def stashed(checkout: Checkout) -> None:
    checkout.git("add", "-f", "node-token")
    checkout.git("stash", "-q")
    with_token(checkout)


def committed_by_another_name(checkout: Checkout) -> None:
    checkout.write("old-token", (checkout.path / "node-token").read_text())
    checkout.commit("Oops")
    (checkout.path / "old-token").unlink()
    checkout.commit("Take it back")


def taken_back_behind_a_graft(checkout: Checkout) -> None:
    begin = checkout.commits[-1]
    checkout.git("add", "-f", "node-token")
    checkout.commit("Oops")
    checkout.git("rm", "-q", "--cached", "node-token")
    checkout.write(".git/info/grafts", f"{checkout.commit('Take it back')} {begin}\n")


@pytest.mark.parametrize(
    "state",
    [
        *(taken_back_before_the_merge, in_the_index, stashed),
        *(committed_by_another_name, taken_back_behind_a_graft),
    ],
)
def test_a_token_that_git_ever_had_is_exposed(
    state: Callable[[Checkout], None], checkout: Checkout
) -> None:
    path = with_token(checkout)
    state(checkout)
    said = private(checkout.cluster(node_token=path))
    assert said[0] == "FAIL"
    assert "treat the token as exposed" in said[1]


def test_a_folder_named_like_a_pattern_hides_no_token(tmp_path: Path) -> None:
    checkout = made(tmp_path / "[infra]*")
    path = with_token(checkout)
    assert private(checkout.cluster(node_token=path)) == ("PASS", "")
    taken_back_before_the_merge(checkout)
    assert private(checkout.cluster(node_token=path))[0] == "FAIL"


def test_a_history_that_is_cut_off_proves_no_token_private(checkout: Checkout) -> None:
    found = clone(checkout, "--depth", "1")
    said = private(found.cluster(node_token=with_token(found)))
    assert said[0] == "UNKNOWN"
    assert "cut off" in said[1]
