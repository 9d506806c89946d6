"""Argo CD's answers: what is read, and that anything else is no answer."""

from __future__ import annotations

import json
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.argocd import parse_application, parse_space
from fixtures.observe.argocd_cli import parse_repositories, parse_versions, without_credential
from fixtures.observe.argocd_manifest import Split, parse_digest, parse_split
from fixtures.observe.argocd_repository import parse_registrations
from fixtures.observe.managed import parse_config_map
from lab.gitops_manifest import text as manifest

if TYPE_CHECKING:
    from collections.abc import Callable

PARSERS: dict[str, Callable[[str], object]] = {
    "application": parse_application,
    "config map": parse_config_map,
    "digest": parse_digest,
    "registrations": parse_registrations,
    "repositories": parse_repositories,
    "space": parse_space,
    "split": parse_split,
    "versions": parse_versions,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "kind",
                    "metadata",
                    "items",
                    "spec",
                    "status",
                    "source",
                    "data",
                    "repo",
                    "sync",
                    "name",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60) | JSON.map(json.dumps))
def test_a_parser_reads_or_says_that_it_cannot(name: str, text: str) -> None:
    with suppress(Misread):
        PARSERS[name](text)


def application(**status: Any) -> str:
    source = {"repoURL": "https://x/y.git", "path": "p", "targetRevision": "main"}
    policy = {"automated": {"prune": True, "selfHeal": True}}
    spec = {"project": "platform", "source": source, "syncPolicy": policy}
    metadata = {"name": "root"}
    return json.dumps({"kind": "Application", "metadata": metadata, "spec": spec, "status": status})


def test_an_application_that_was_never_compared_is_read() -> None:
    seen = parse_application(application())
    assert (seen.sync, seen.health, seen.operation, seen.resources) == ("", "", None, ())
    assert (seen.repo, seen.path, seen.target, seen.prune, seen.self_heal) == (
        "https://x/y.git",
        "p",
        "main",
        True,
        True,
    )


def test_a_policy_that_is_turned_off_is_none() -> None:
    document = json.loads(application())
    document["spec"]["syncPolicy"]["automated"]["enabled"] = False
    seen = parse_application(json.dumps(document))
    assert (seen.prune, seen.self_heal) == (False, False)


def test_what_a_sync_applied_is_read_from_its_result_or_from_what_was_asked() -> None:
    row = {"kind": "ConfigMap", "version": "v1", "namespace": "platform", "name": "a"}
    for state in (
        {"syncResult": {"revision": "1", "resources": [row]}},
        {"operation": {"sync": {"resources": [row]}}},
    ):
        seen = parse_application(application(operationState={"phase": "Succeeded", **state}))
        assert seen.operation is not None
        assert [str(each) for each in seen.operation.resources] == ["ConfigMap platform/a"]


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


@given(secret=st.from_regex(r"[A-Za-z0-9]{8,20}", fullmatch=True))
def test_a_credential_in_a_url_is_never_kept(secret: str) -> None:
    seen = without_credential(f"https://user:{secret}@github.com/a/b.git")
    assert secret not in seen
    assert seen != "https://github.com/a/b.git"


def test_an_ssh_url_is_kept_as_it_is() -> None:
    assert without_credential("git@github.com:a/b.git") == "git@github.com:a/b.git"


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


def marks(text: str) -> str:
    wanted = ("---", "apiVersion:", "kind: CustomResourceDefinition")
    lines = text.splitlines()
    return "".join(
        f"{line}\n"
        for line in lines
        if line in wanted
        or line.startswith("apiVersion:")
        or line == "  name: applicationsets.argoproj.io"
    )


def test_the_manifest_splits_as_awk_splits_it() -> None:
    assert parse_split(marks(manifest())) == Split(1, 58)


@pytest.mark.parametrize(
    ("lines", "split"),
    [
        ([], Split(0, 0)),
        (["apiVersion: v1", "kind: CustomResourceDefinition"], Split(0, 1)),
        # A name of the same text in another kind, or before the kind, goes with the rest.
        (["apiVersion: v1", "  name: applicationsets.argoproj.io"], Split(0, 1)),
        (
            [
                "apiVersion: v1",
                "  name: applicationsets.argoproj.io",
                "kind: CustomResourceDefinition",
            ],
            Split(0, 1),
        ),
        (
            [
                "---",
                "apiVersion: v1",
                "kind: CustomResourceDefinition",
                "  name: applicationsets.argoproj.io",
                "---",
                "---",
                "apiVersion: v1",
            ],
            Split(1, 1),
        ),
    ],
)
def test_documents_are_counted_as_the_runbook_counts_them(lines: list[str], split: Split) -> None:
    assert parse_split("".join(f"{line}\n" for line in lines)) == split
