"""What `argocd` prints, and the repositories that are registered."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.argocd_cli import parse_repositories, parse_versions, without_credential
from fixtures.observe.argocd_repository import parse_registrations


def test_versions_are_read_with_their_build() -> None:
    text = "argocd: v3.4.8+1a2b3c4.dirty\nargocd-server: v3.4.8+1a2b3c4\n"
    assert parse_versions(text) == {
        "argocd": "v3.4.8+1a2b3c4.dirty",
        "argocd-server": "v3.4.8+1a2b3c4",
    }


@pytest.mark.parametrize("text", ["", "argocd-server: v3.4.8\n", "argocd: v1\nargocd: v2\n"])
def test_what_does_not_tell_the_client_is_no_answer(text: str) -> None:
    with pytest.raises(Misread):
        parse_versions(text)


@pytest.mark.parametrize("text", ["[]", "null"])
def test_no_repository_is_an_answer(text: str) -> None:
    assert parse_repositories(text) == ()


@given(
    secret=st.from_regex(r"[A-Za-z0-9]{8,20}", fullmatch=True),
    around=st.sampled_from(
        [
            "https://user:{}@github.com/a/b.git",
            "https://{}@github.com/a/b.git",
            "https://{}:x-oauth-basic@github.com/a/b.git",
            "HTTPS://user:{}@github.com/a/b.git",
            "http://user:{}@github.com:8443/a/b.git",
            "ssh://git:{}@github.com/a/b.git",
            "https://github.com/a/b.git?access_token={}",
            "https://github.com/a/b.git#{}",
            "https:/user:{}@github.com/a/b.git",
            "user:{}@github.com:a/b.git",
            "user:{}@github.com/a/b.git",
            " https://user:{}@github.com/a/b.git",
            "https://user:{}@[::1]/a/b.git",
            "https://us er:{}@github.com/a",
            "oci://user:{}@registry/a",
            "{}",
        ]
    ),
)
def test_a_credential_in_a_url_is_never_kept(secret: str, around: str) -> None:
    seen = without_credential(around.format(secret))
    assert secret not in seen
    assert seen not in KEPT


KEPT = [
    "https://github.com/a/b.git",
    "https://github.com:8443/a/b_c~d.git",
    "git@github.com:a/b.git",
    "ssh://git@github.com/a/b.git",
    "ssh://git@github.com:22/a/b.git",
]


@pytest.mark.parametrize("url", KEPT)
def test_a_url_without_a_place_for_a_credential_is_kept_as_it_is(url: str) -> None:
    assert without_credential(url) == url


@given(st.text(max_size=60))
def test_any_url_is_shortened_or_kept(url: str) -> None:
    seen = without_credential(url)
    assert without_credential(seen) == seen or "(credential)" in seen or seen.startswith("(not")


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "repo": st.sampled_from(KEPT),
                "connectionState": st.fixed_dictionaries(
                    {
                        "status": st.sampled_from(["Successful", "Failed", "Unknown"]),
                        "message": st.text(max_size=10),
                        "attemptedAt": st.sampled_from(["2026-11-30T12:00:00Z", None]),
                    }
                ),
            }
        ),
        max_size=4,
    )
)
def test_repositories_are_read_as_they_are(rows: list[dict[str, Any]]) -> None:
    seen = parse_repositories(json.dumps(rows))
    told = [
        (row["repo"], row["connectionState"]["status"], bool(row["connectionState"]["attemptedAt"]))
        for row in rows
    ]
    assert [(row.repo, row.state, row.attempted is not None) for row in seen] == told


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '"x"',
        "[7]",
        '[{"repo": 7}]',
        "[{}]",
        '[{"repo": "x", "connectionState": []}]',
        "TYPE NAME REPO",
        "",
    ],
)
def test_what_is_no_list_of_repositories_is_no_answer(text: str) -> None:
    with pytest.raises(Misread):
        parse_repositories(text)


VERSION = st.from_regex(
    r"v[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,2}(\+[0-9a-f]{7}(\.dirty)?)?", fullmatch=True
)


@given(VERSION, VERSION, st.sampled_from(["", "time=x level=warning msg=y\n", "  \n"]))
def test_versions_are_read_whatever_stands_around_them(
    client: str, server: str, noise: str
) -> None:
    text = f"{noise}argocd: {client}\n{noise}argocd-server: {server}\n"
    assert parse_versions(text) == {"argocd": client, "argocd-server": server}


def test_no_value_of_a_registration_is_kept() -> None:
    def coded(text: str) -> str:
        return b64encode(text.encode()).decode()

    data = {"url": coded("https://x/y.git"), "type": coded("git"), "password": coded("hush-hush")}
    metadata = {"name": "repo", "annotations": {"managed-by": "argocd.argoproj.io"}}
    item = {"metadata": metadata, "data": data}
    (seen,) = parse_registrations(json.dumps({"kind": "SecretList", "items": [item]}))
    assert (seen.url, seen.type, seen.username, seen.password, seen.inline) == (
        "https://x/y.git",
        "git",
        False,
        True,
        True,
    )
    assert "hush" not in repr(seen)


def test_a_registration_that_is_no_base64_is_no_answer_and_quotes_nothing() -> None:
    for value in ("hush-hush!", "//79", "hush-a"):
        item = {"metadata": {"name": "repo"}, "data": {"password": value}}
        with pytest.raises(Misread) as misread:
            parse_registrations(json.dumps({"kind": "SecretList", "items": [item]}))
        assert value not in str(misread.value)
