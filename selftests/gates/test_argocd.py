"""What is decided of Argo CD: G.1, G.2, G.5 to G.10."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fixtures.core.inventory import Label
from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Undecided
from fixtures.judge.application import in_order, synced_once, told
from fixtures.judge.argocd import (
    CONTROLLER,
    DEPLOYMENTS,
    connected,
    pinned_versions,
    reviewed_manifest,
    seven_pods,
)
from fixtures.judge.drift import Course, candidate, key_of, nothing_to_drift
from fixtures.observe.answers import Read, Unknown
from fixtures.observe.argocd import Application, Operation, Tracked
from fixtures.observe.argocd_cli import Connection, Repositories, Versions
from fixtures.observe.argocd_manifest import Manifest, Split
from fixtures.observe.argocd_repository import Registration
from fixtures.observe.managed import ConfigMap
from fixtures.observe.pods import Everywhere, Pod
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
URL = CLUSTER.names["infrastructure_repository"]
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
READ = Read(NOW, NOW + timedelta(seconds=1))


def pod(name: str, *, owner: str = "ReplicaSet") -> Pod:
    labels = (Label("app.kubernetes.io/name", name),)
    return Pod(
        "argocd",
        f"{name}-x",
        name,
        "n",
        "Running",
        False,
        (owner,),
        labels,
        (),
        (("c", True),),
        False,
    )


PODS = (pod(CONTROLLER, owner="StatefulSet"), *map(pod, DEPLOYMENTS))


def test_seven_pods_pass() -> None:
    assert seven_pods(Everywhere(PODS), CLUSTER) == ()


@pytest.mark.parametrize("missing", range(7))
def test_each_missing_pod_is_named(missing: int) -> None:
    (found,) = seven_pods(Everywhere(PODS[:missing] + PODS[missing + 1 :]), CLUSTER)
    assert found.startswith(PODS[missing].uid)


def test_no_pod_at_all_is_seven_findings() -> None:
    assert len(seven_pods(Everywhere(()), CLUSTER)) == 7


@pytest.mark.parametrize(
    "change",
    [
        {"ready": ()},
        {"ready": (("c", False),)},
        {"phase": "Pending"},
        {"deleting": True},
        {"owners": ("Job",)},
        {"labels": ()},
    ],
)
def test_a_pod_that_is_not_as_it_should_be_fails(change: dict[str, object]) -> None:
    pods = (replace(PODS[0], **change), *PODS[1:])  # type: ignore[arg-type]
    assert seven_pods(Everywhere(pods), CLUSTER)


def test_versions_are_compared_before_their_build() -> None:
    good = "v3.4.8+1a2b3c4.dirty"
    assert pinned_versions(Versions(good, good), CLUSTER) == ()
    assert pinned_versions(Versions("v3.4.80+1", good), CLUSTER)
    assert pinned_versions(Versions("v3.4.9", Unknown("silent")), CLUSTER)
    with pytest.raises(Undecided, match="silent"):
        pinned_versions(Versions(good, Unknown("silent")), CLUSTER)


REGISTERED = Registration("repo-infra-https", URL, "git", True, True, False)
CONNECTION = Connection(URL, "git", "", "Successful", "", NOW)


def repositories(*rows: Connection) -> Repositories:
    return Repositories(rows, READ)


def test_a_repository_that_was_just_reached_passes() -> None:
    assert connected(repositories(CONNECTION), [REGISTERED], CLUSTER) == ()


@pytest.mark.parametrize(
    ("rows", "registered"),
    [
        ((), [REGISTERED]),
        ((replace(CONNECTION, state="Failed"),), [REGISTERED]),
        (
            (replace(CONNECTION, repo="git@github.com:wetopi-platform/infrastructure.git"),),
            [REGISTERED],
        ),
        ((CONNECTION, CONNECTION), [REGISTERED]),
        ((CONNECTION,), []),
        ((CONNECTION,), [replace(REGISTERED, name="repo-1")]),
        ((CONNECTION,), [REGISTERED, replace(REGISTERED, name="repo-1")]),
        ((CONNECTION,), [replace(REGISTERED, password=False)]),
        ((CONNECTION,), [replace(REGISTERED, url="https://(credential)@github.com/a.git")]),
        ((CONNECTION,), [replace(REGISTERED, inline=True)]),
    ],
)
def test_a_repository_that_is_not_reached_or_not_registered_so_fails(
    rows: tuple[Connection, ...], registered: list[Registration]
) -> None:
    assert connected(repositories(*rows), registered, CLUSTER)


@pytest.mark.parametrize(
    "row",
    [
        replace(CONNECTION, state="Unknown"),
        replace(CONNECTION, state=""),
        replace(CONNECTION, attempted=NOW - timedelta(minutes=50)),
    ],
)
def test_what_the_server_does_not_know_is_undecided(row: Connection) -> None:
    with pytest.raises(Undecided):
        connected(repositories(row), [REGISTERED], CLUSTER)


TRACKED = Tracked("", "v1", "ConfigMap", "platform", "settings")
SYNC = Operation("Succeeded", "", NOW - timedelta(hours=1), NOW, "b610209", False, ())
APPLICATION = Application(
    name="root",
    project="platform",
    sources=1,
    repo=URL,
    path="kubernetes/platform",
    target="main",
    prune=True,
    self_heal=True,
    destination="platform",
    sync="Synced",
    revision="b610209",
    health="Healthy",
    conditions=(),
    operation=SYNC,
    resources=(),
    history=1,
    reconciled=NOW,
    read=READ,
)


def test_an_application_of_nothing_is_in_order_and_said_to_be_trivial() -> None:
    assert in_order(APPLICATION, CLUSTER) == ()
    assert "trivial" in told(APPLICATION)["resources"]


@pytest.mark.parametrize(
    "change",
    [
        {"sync": "Unknown"},
        {"sync": "OutOfSync"},
        {"sync": ""},
        {"health": "Progressing"},
        {"health": ""},
        {"conditions": (("ComparisonError", "no such path"),)},
        {"project": "default"},
        {"repo": "git@github.com:wetopi-platform/infrastructure.git"},
        {"path": "kubernetes"},
        {"target": "HEAD"},
        {"prune": False},
        {"self_heal": False},
        {"sources": 2},
    ],
)
def test_an_application_that_is_not_as_reviewed_fails(change: dict[str, object]) -> None:
    (found, *_) = in_order(replace(APPLICATION, **change), CLUSTER)  # type: ignore[arg-type]
    assert "root" in found


def test_what_was_compared_long_ago_is_undecided() -> None:
    with pytest.raises(Undecided, match="old"):
        in_order(replace(APPLICATION, reconciled=NOW - timedelta(hours=1)), CLUSTER)


def test_an_application_that_is_not_there_fails() -> None:
    assert in_order(None, CLUSTER)
    assert synced_once(None, CLUSTER)


@pytest.mark.parametrize(
    "operation",
    [
        None,
        replace(SYNC, phase="Running", finished=None),
        replace(SYNC, phase="Failed"),
        replace(SYNC, phase="Error"),
        replace(SYNC, finished=None),
        replace(SYNC, revision=""),
    ],
)
def test_a_sync_that_did_not_succeed_or_does_not_say_so_fails(operation: Operation | None) -> None:
    assert synced_once(APPLICATION, CLUSTER) == ()
    assert synced_once(replace(APPLICATION, operation=operation), CLUSTER)


def test_the_recorded_manifest_passes_and_another_fails() -> None:
    recorded = "e223122b" + "0" * 56
    good = Manifest("install.yaml", recorded, Split(1, 58))
    assert reviewed_manifest(good, CLUSTER) == ()
    assert reviewed_manifest(replace(good, sha256="1" * 64), CLUSTER)
    assert reviewed_manifest(replace(good, split=Split(0, 59)), CLUSTER)
    assert reviewed_manifest(None, CLUSTER)
    nameless = replace(CLUSTER, names={})
    with pytest.raises(Undecided, match="argocd_manifest_sha256"):
        reviewed_manifest(good, nameless)


RECORDED = ConfigMap("platform", "settings", "u", "7", (("a", "b"),), (("region", "gra"),))
EDITED = replace(RECORDED, data=(("region", "gra\n"),), version="8")
BEFORE = replace(APPLICATION, resources=(TRACKED,))
HEALED = replace(
    BEFORE,
    operation=Operation("Succeeded", "", NOW, NOW, "b610209", True, (TRACKED,)),
)
OUT = replace(BEFORE, sync="OutOfSync", resources=(replace(TRACKED, sync="OutOfSync"),))


def test_drift_that_is_seen_healed_and_told_passes() -> None:
    course = Course(BEFORE, RECORDED, TRACKED)
    assert course.see(OUT, EDITED)
    assert course.see(HEALED, replace(RECORDED, version="9")) == ()
    course.proved()


@pytest.mark.parametrize(
    ("application", "item"),
    [
        (OUT, EDITED),
        (BEFORE, EDITED),
        (HEALED, None),
        (BEFORE, RECORDED),
        (None, RECORDED),
        (replace(HEALED, operation=replace(HEALED.operation, automated=False)), RECORDED),  # type: ignore[type-var]
        (replace(HEALED, operation=replace(HEALED.operation, resources=())), RECORDED),  # type: ignore[type-var]
        (replace(HEALED, operation=replace(HEALED.operation, phase="Running")), RECORDED),  # type: ignore[type-var]
    ],
)
def test_drift_that_is_not_healed_or_not_told_does_not(
    application: Application | None, item: ConfigMap | None
) -> None:
    assert Course(BEFORE, RECORDED, TRACKED).see(application, item)


def test_drift_that_nobody_saw_is_undecided() -> None:
    course = Course(BEFORE, RECORDED, TRACKED)
    assert course.see(HEALED, RECORDED) == ()
    with pytest.raises(Undecided, match="never seen"):
        course.proved()


def test_the_drill_is_deferred_only_where_nothing_is_managed_and_that_was_compared() -> None:
    assert "0 resources" in nothing_to_drift(APPLICATION)
    assert nothing_to_drift(BEFORE) == ""
    with pytest.raises(Undecided):
        nothing_to_drift(replace(APPLICATION, sync="Unknown"))


@pytest.mark.parametrize(
    "kind", ["Secret", "StatefulSet", "Namespace", "PersistentVolumeClaim", "Deployment"]
)
def test_nothing_but_a_config_map_is_changed(kind: str) -> None:
    other = replace(TRACKED, kind=kind)
    with pytest.raises(Undecided):
        candidate(replace(BEFORE, resources=(other,)))
    assert candidate(replace(BEFORE, resources=(other, TRACKED))) == TRACKED


def test_a_config_map_that_cannot_be_edited_is_undecided() -> None:
    for item in (None, replace(RECORDED, data=()), replace(RECORDED, immutable=True)):
        with pytest.raises(Undecided):
            key_of(item, "settings")
