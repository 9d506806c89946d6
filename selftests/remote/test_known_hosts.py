"""Reading known_hosts as OpenSSH does."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.remote.errors import RejectedError
from fixtures.remote.known_hosts import KnownHosts, fingerprint, parse_line

if TYPE_CHECKING:
    from pathlib import Path

BLOB = b"\x00\x00\x00\x0bssh-ed25519" + b"\x00\x00\x00\x20" + bytes(range(32))
KEY = f"ssh-ed25519 {base64.b64encode(BLOB).decode()}"


def hashed(name: str) -> str:
    salt = b"0123456789abcdefghij"
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


@pytest.mark.parametrize(
    ("patterns", "name", "covered"),
    [
        ("10.72.0.21", "10.72.0.21", True),
        ("10.72.0.21", "10.72.0.2", False),
        ("rke-cp01,10.72.0.21", "10.72.0.21", True),
        ("[192.0.2.10]:2222", "[192.0.2.10]:2222", True),
        ("192.0.2.10", "[192.0.2.10]:2222", False),
        ("10.72.0.*", "10.72.0.21", True),
        ("10.72.0.2?", "10.72.0.21", True),
        ("10.72.0.*,!10.72.0.21", "10.72.0.21", False),
        ("!10.72.0.21,10.72.0.*", "10.72.0.21", False),
        ("OPS01.example", "ops01.example", True),
        (hashed("10.72.0.21"), "10.72.0.21", True),
        (hashed("10.72.0.21"), "10.72.0.22", False),
        (hashed("[192.0.2.10]:2222"), "[192.0.2.10]:2222", True),
        ("|1|not-base64|either", "10.72.0.21", False),
    ],
)
def test_which_names_a_line_speaks_of(patterns: str, name: str, covered: bool) -> None:
    key = parse_line(f"{patterns} {KEY} comment", 1)
    assert key is not None
    assert key.covers(name) is covered


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        "# 10.72.0.21 ssh-ed25519 AAAA",
        "10.72.0.21 ssh-ed25519",
        "10.72.0.21 ssh-ed25519 !!!!",
        f"@cert-authority *.example {KEY}",
        f"@unheard-of 10.72.0.21 {KEY}",
    ],
)
def test_lines_that_name_no_host_key_are_skipped(line: str) -> None:
    assert parse_line(line, 1) is None


def test_revoked_lines_are_told_from_trusted_ones(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text(f"# ours\n10.72.0.21 {KEY}\n@revoked 10.72.0.22 {KEY}\n")
    known = KnownHosts.read(path)
    assert [key.line for key in known.trusted("10.72.0.21")] == [2]
    assert known.trusted("10.72.0.22") == ()
    revoked = known.revoked("10.72.0.22", BLOB)
    assert revoked is not None
    assert revoked.line == 3
    assert known.revoked("10.72.0.21", BLOB) is None


def test_an_unreadable_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match=r"known_hosts file .* cannot be read: No such file"):
        KnownHosts.read(tmp_path / "missing")


def test_the_fingerprint_is_openssh_s() -> None:
    # ssh-keygen -lf on the same key.
    assert fingerprint(b"") == "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"


@given(st.text())
def test_no_line_breaks_the_reader(line: str) -> None:
    key = parse_line(line, 7)
    assert key is None or key.line == 7


@given(st.from_regex(r"[a-z0-9.*?!\[\]:-]{1,20}", fullmatch=True), st.text(max_size=20))
def test_no_pattern_breaks_the_matching(pattern: str, name: str) -> None:
    key = parse_line(f"{pattern} {KEY}", 1)
    assert key is not None
    assert key.covers(name) in {True, False}


@given(st.from_regex(r"[a-z0-9.]{1,30}", fullmatch=True), st.integers(1, 65535))
def test_a_plain_or_hashed_name_covers_itself_only(name: str, port: int) -> None:
    bracketed = f"[{name}]:{port}"
    for written in (bracketed, hashed(bracketed)):
        key = parse_line(f"{written} {KEY}", 1)
        assert key is not None
        assert key.covers(bracketed)
        assert not key.covers(name)
