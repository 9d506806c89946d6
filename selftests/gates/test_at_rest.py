"""How etcd keeps a Secret, and what came before it was made."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Undecided
from fixtures.judge.at_rest import CLOCK, FELL, came_before, encrypted, facts
from fixtures.observe.answers import Misread
from fixtures.observe.at_rest import (
    PREFIX,
    Form,
    Secret,
    Stored,
    Version,
    _raw,
    parse_raw,
    parse_version,
)
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")

SECRET = Secret("kube-system", "csi-rbd-secret")
MADE = datetime(2026, 8, 30, 3, 0, 10, tzinfo=UTC)
VERSION = Version("0c5d7f5e-1111-4222-8333-944455566677", "1136", MADE)


SHORTENS = _raw(CLUSTER, SECRET).command.partition(" | ")[2]
"""What the shell on the control plane does to what etcdctl prints."""


def shell(value: bytes) -> str:
    """That, done by a real shell. Behind the value etcdctl ends a line."""
    bash = ["bash", "-c", f"set -o pipefail; cat | {SHORTENS}"]
    return subprocess.run(
        bash, input=value + b"\n", capture_output=True, check=True
    ).stdout.decode()


def printed(value: bytes) -> str:
    """The same, quicker."""
    shown = 1
    if value.startswith((b"k8s:enc:aescbc:", b"k8s:enc:secretbox:")):
        shown = PREFIX
    elif value.startswith(b"k8s"):
        shown = 8 if value.startswith(b"k8s:enc:") else 4
    head, rest = (value + b"\n")[:PREFIX], (value + b"\n")[PREFIX:]
    row = head[:shown].hex(" ").split() + ["--"] * len(head[shown:])
    return f" {' '.join(row)}\n{len(rest)}\n"


def stored(value: bytes) -> Stored:
    return Stored(SECRET, VERSION, parse_raw(printed(value)), VERSION)


KINDS = [b"k8s", b"k8s\0", b"k8s:enc:", b"k8s:enc:aescbc:", b"k8s:enc:secretbox:", b"{"]
VALUES = st.binary(max_size=300) | st.builds(
    bytes.__add__, st.sampled_from(KINDS), st.binary(max_size=40)
)


@given(VALUES)
def test_the_length_is_read_back_and_of_the_prefix_only_what_is_no_content(value: bytes) -> None:
    raw = parse_raw(printed(value))
    assert raw.length == len(value)
    assert value.startswith(raw.prefix)
    assert len(raw.prefix) <= {Form.PLAIN: 4, Form.OTHER: 8}.get(raw.form, PREFIX)
    assert len(raw.prefix) <= 1 or value.startswith(b"k8s")


@pytest.mark.parametrize(
    "value",
    [
        b"k8s:enc:aescbc:v1:aescbckey:\x00\xff",
        b"k8s:enc:secretbox:v1:key:\n\n",
        b"k8s:enc:kms:v2:hunter2:x",
        b"k8s:encrypted?",
        b"k8s\0\n\x0c\n\x02v1\x12\x06Secret\x12\x20hunter2",
        b"k8s",
        b'{"password":"hunter2"}',
        b"hunter2",
        "\uff48hunter2 in wide letters".encode(),
        b"\n\nhunter2\n\n",
        b"/registry/secrets/argocd/repo-infra-https\nk8s:enc:aescbc:v1:k:x",
        b"",
    ],
)
def test_the_control_plane_itself_cuts_the_value(value: bytes) -> None:
    text = shell(value)
    assert parse_raw(text) == parse_raw(printed(value))
    assert b"hu" not in bytes.fromhex(text.partition("\n")[0].replace("--", ""))


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


@pytest.mark.parametrize(
    ("fell", "proved"), [(-20, True), (-10, False), (-5, False), (0, False), (1, True), (60, True)]
)
def test_a_check_that_failed_since_takes_its_worth_away(fell: int, proved: bool) -> None:
    """Green, then red, then the Secret, then green: it was made although the check said no."""
    made = int(MADE.timestamp())
    checks = [{CLOCK: made - 30}, {CLOCK: made - 10}, {FELL: made + fell}, {CLOCK: made + 90}]
    if proved:
        came_before(checks, SECRET, VERSION)
        return
    with pytest.raises(Undecided, match=r"after a check .* that failed"):
        came_before(checks, SECRET, VERSION)
