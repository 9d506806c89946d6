"""Argo CD's answers: what is read, and that anything else is no answer."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.application import parse_application
from fixtures.observe.argocd import parse_space
from fixtures.observe.argocd_cli import parse_repositories, parse_versions
from fixtures.observe.argocd_manifest import parse_digest, parse_split
from fixtures.observe.argocd_repository import parse_registrations
from fixtures.observe.managed import parse_config_map

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


def changed(path: str, value: Any, **status: Any) -> str:
    """An Application with one more value, at a path of keys."""
    document = json.loads(application(**status))
    *keys, last = path.split(".")
    part = document
    for key in keys:
        part = part.setdefault(key, {})
    part[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("destination", "server", "namespace"),
    [
        (
            {"server": "https://kubernetes.default.svc", "namespace": "a"},
            "https://kubernetes.default.svc",
            "a",
        ),
        ({"name": "in-cluster"}, "in-cluster", ""),
        ({}, "", ""),
    ],
)
def test_where_it_applies_to(destination: dict[str, str], server: str, namespace: str) -> None:
    seen = parse_application(changed("spec.destination", destination))
    assert (seen.server, seen.destination) == (server, namespace)


def test_what_it_was_compared_with_is_read_if_it_is_told() -> None:
    assert parse_application(application(sync={"status": "Synced"})).compared is None
    source = {"repoURL": "https://x/y.git", "path": "p", "targetRevision": "other"}
    told = application(sync={"status": "Synced", "comparedTo": {"source": source}})
    assert parse_application(told).compared == ("https://x/y.git", "p", "other")
    assert parse_application(application(sync={"comparedTo": {}})).compared == ("", "", "")


def test_a_time_that_cannot_be_read_is_none() -> None:
    for told in ("yesterday", "", None, 5):
        seen = parse_application(
            application(
                reconciledAt=told, operationState={"phase": "Succeeded", "finishedAt": told}
            )
        )
        assert seen.operation is not None
        assert (seen.reconciled, seen.operation.finished) == (None, None)


def test_what_is_still_to_come_is_read() -> None:
    seen = parse_application(application(operationState={"phase": "Succeeded"}))
    assert (seen.deleting, seen.requested) == (None, False)
    assert seen.operation is not None
    assert not seen.operation.dry
    going = parse_application(changed("metadata.deletionTimestamp", "2026-11-30T12:00:00Z"))
    assert going.deleting is not None
    assert parse_application(changed("operation", {"sync": {"revision": "main"}})).requested
    state = {"phase": "Succeeded", "operation": {"sync": {"dryRun": True}}}
    tried = parse_application(application(operationState=state)).operation
    assert tried is not None
    assert tried.dry


def test_two_sources_are_two_and_neither_is_the_one() -> None:
    source = {"repoURL": "https://x/y.git", "path": "p", "targetRevision": "main"}
    seen = parse_application(changed("spec.sources", [source, source]))
    assert seen.sources == 2
    document = json.loads(application())
    del document["spec"]["source"]
    assert parse_application(json.dumps(document)).sources == 0


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("kind", "AppProject"),
        ("spec.project", 7),
        ("spec.syncPolicy.automated.prune", "true"),
        ("spec.syncPolicy.automated", "on"),
        ("status.resources", {}),
        ("status.resources", ["x"]),
        ("status.operationState", []),
        ("status.operationState.operation.initiatedBy.automated", "yes"),
        ("status.conditions", [{"type": 1}]),
        ("status.sync.comparedTo", "x"),
        ("metadata.name", None),
    ],
)
def test_what_is_of_another_type_is_no_answer(path: str, value: Any) -> None:
    with pytest.raises(Misread):
        parse_application(changed(path, value))


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12)


@given(WORDS, WORDS, st.sampled_from(["Synced", "OutOfSync", "Unknown"]))
def test_what_an_application_says_is_read_as_it_is(name: str, message: str, sync: str) -> None:
    row = {"kind": "ConfigMap", "version": "v1", "namespace": "a", "name": name, "status": sync}
    condition = {"type": "ComparisonError", "message": message}
    seen = parse_application(
        application(sync={"status": sync}, resources=[row], conditions=[condition], history=[{}])
    )
    (resource,) = seen.resources
    assert (resource.name, resource.sync, seen.sync) == (name, sync, sync)
    assert (seen.conditions, seen.history) == ((("ComparisonError", message),), 1)


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
