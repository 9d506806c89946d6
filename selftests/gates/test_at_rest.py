"""How etcd keeps a Secret, and what came before it was made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.judge.at_rest import CLOCK, came_before, encrypted, facts
from fixtures.observe.answers import Misread
from fixtures.observe.at_rest import PREFIX, Raw, Secret, Stored, Version, parse_raw, parse_version

SECRET = Secret("kube-system", "csi-rbd-secret")
MADE = datetime(2026, 8, 30, 3, 0, 10, tzinfo=UTC)
VERSION = Version("0c5d7f5e-1111-4222-8333-944455566677", "1136", MADE)


def printed(value: bytes) -> str:
    """What the shell on the control plane prints of a value, behind which etcdctl ends a line."""
    text = value + b"\n"
    head, rest = text[:PREFIX], text[PREFIX:]
    rows = [head[at : at + 16] for at in range(0, len(head), 16)]
    return "".join(f" {row.hex(' ')}\n" for row in rows) + f"{len(rest)}\n"


def stored(value: bytes) -> Stored:
    return Stored(SECRET, VERSION, Raw(value[:PREFIX], len(value)), VERSION)


@given(st.binary(min_size=1, max_size=300))
def test_prefix_and_length_are_read_back(value: bytes) -> None:
    raw = parse_raw(printed(value))
    assert raw.prefix == value[:PREFIX].removesuffix(b"\n") or raw.prefix == value[:PREFIX]
    assert raw.length in {len(value), len(value) - 1}


@given(st.text(max_size=60))
def test_any_other_text_is_misread(text: str) -> None:
    for parse in (parse_raw, parse_version):
        try:
            parse(text)
        except Misread:
            continue


def test_nothing_is_an_empty_value_and_an_absent_secret() -> None:
    assert parse_raw("0\n").length == 0
    assert parse_version("") is None


@pytest.mark.parametrize(
    "value",
    [
        b"k8s:enc:aescbc:v1:aescbckey:\x00\xff",
        b"k8s:enc:aescbc:v1:aescbckey-2026-08-30T03:37:00Z:\x01",
        b"k8s:enc:secretbox:v1:secretboxkey-2026-08-30T03:37:00Z:\x01",
    ],
)
def test_encrypted(value: bytes) -> None:
    assert encrypted(stored(value)) == ()


@pytest.mark.parametrize("value", [b"k8s\0\n\x0c\n\x02v1\x12\x06Secret", b'{"data":{"userKey":"s'])
def test_plaintext_is_a_finding_that_shows_nothing_of_it(value: bytes) -> None:
    (finding,) = encrypted(stored(value))
    assert "PLAINTEXT" in finding
    assert "userKey" not in finding
    assert "userKey" not in str(facts(stored(value)))


@pytest.mark.parametrize("value", [b"", b"k8s:enc:kms:v2:key:", b"k8s:enc:", b"anything", b"k8s"])
def test_what_is_neither_is_not_decided(value: bytes) -> None:
    with pytest.raises(Undecided):
        encrypted(stored(value))


def test_another_secret_or_state_is_not_decided() -> None:
    good = stored(b"k8s:enc:aescbc:v1:aescbckey:x")
    for after in (None, replace(VERSION, uid="0c5d7f5e-2222"), replace(VERSION, version="1137")):
        with pytest.raises(Undecided):
            encrypted(replace(good, after=after))
    with pytest.raises(Undecided):
        encrypted(replace(good, before=None, after=None))


def test_the_check_was_over_before_the_secret_was_made() -> None:
    made = int(MADE.timestamp())
    came_before([], SECRET, None)
    came_before([{CLOCK: made + 60}, {CLOCK: made - 1}], SECRET, VERSION)
    for checks in ([], [{CLOCK: made}], [{CLOCK: made + 1}], [{CLOCK: "yesterday"}], [{}]):
        with pytest.raises(Undecided, match="order not proved"):
            came_before(checks, SECRET, VERSION)
