"""What is decided of Argo CD itself: G.2, G.5, G.10."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.clock import Skew
from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Undecided
from fixtures.judge.argocd import connected, pinned_versions, reviewed_manifest
from fixtures.observe.answers import Read, Unknown
from fixtures.observe.argocd_cli import Connection, Repositories, Versions, without_credential
from fixtures.observe.argocd_manifest import Manifest, Split
from fixtures.observe.argocd_repository import Registration
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
URL = CLUSTER.names["infrastructure_repository"]
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
READ = Read(NOW, NOW + timedelta(seconds=1))
CLOCK = Skew(0.0, 0.01)
GOOD = "v3.4.8+1a2b3c4.dirty"


@pytest.mark.parametrize("version", ["v3.4.8", "v3.4.8+1a2b3c4", GOOD, "v3.4.8+"])
def test_what_stands_before_the_build_is_the_version(version: str) -> None:
    assert pinned_versions(Versions(version, GOOD), CLUSTER) == ()
    assert pinned_versions(Versions(GOOD, version), CLUSTER) == ()


@pytest.mark.parametrize(
    "version",
    ["v3.4.80", "v3.4.80+1", "v3.4.8-rc1+1", "3.4.8", "v3.4", "v3.4.9+v3.4.8", "v13.4.8", "V3.4.8"],
)
def test_any_other_is_not_the_pinned_one_whoever_says_it(version: str) -> None:
    (found,) = pinned_versions(Versions(version, GOOD), CLUSTER)
    assert "the client is" in found
    (found,) = pinned_versions(Versions(GOOD, version), CLUSTER)
    assert "the server is" in found
    assert len(pinned_versions(Versions(version, version), CLUSTER)) == 2


def test_a_server_that_does_not_tell_is_undecided_unless_the_client_is_wrong() -> None:
    with pytest.raises(Undecided, match="silent"):
        pinned_versions(Versions(GOOD, Unknown("silent")), CLUSTER)
    assert pinned_versions(Versions("v3.4.9", Unknown("silent")), CLUSTER)
    with pytest.raises(Undecided, match="names no `argocd`"):
        pinned_versions(Versions(GOOD, GOOD), replace(CLUSTER, versions={}))


REGISTERED = Registration("repo-infra-https", URL, "git", True, True, False)
CONNECTION = Connection(URL, "git", "", "Successful", "", NOW)


INLINE = URL.replace("://", "://daxter:not-a-token@")


def repositories(*rows: Connection) -> Repositories:
    return Repositories(rows, READ)


def test_a_repository_that_was_just_reached_passes() -> None:
    other = replace(REGISTERED, name="repo-1", url=URL.replace("infrastructure", "docs"))
    for beside in ([], [other]):
        assert connected(repositories(CONNECTION), [REGISTERED, *beside], CLOCK, CLUSTER) == ()
    row = replace(CONNECTION, project="platform")
    assert connected(repositories(row), [REGISTERED], CLOCK, CLUSTER) == ()


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
        # As Argo CD compares URLs, all of these are the same one.
        *(
            ((CONNECTION,), [REGISTERED, replace(REGISTERED, name="repo-1", url=same)])
            for same in (URL.removesuffix(".git"), URL.upper(), URL.removesuffix(".git") + "/")
        ),
        (
            (CONNECTION,),
            [REGISTERED, replace(REGISTERED, name="repo-1", url=without_credential(INLINE))],
        ),
        ((replace(CONNECTION, project="default"),), [REGISTERED]),
        ((CONNECTION,), [replace(REGISTERED, password=False)]),
        ((CONNECTION,), [replace(REGISTERED, url="https://(credential)@github.com/a.git")]),
        ((CONNECTION,), [replace(REGISTERED, inline=True)]),
        ((CONNECTION,), [replace(REGISTERED, username=False)]),
        ((CONNECTION,), [replace(REGISTERED, type="helm")]),
        ((replace(CONNECTION, type="oci"),), [REGISTERED]),
        # A failure is one, however old it is.
        ((replace(CONNECTION, state="Failed", attempted=None),), [REGISTERED]),
    ],
)
def test_a_repository_that_is_not_reached_or_not_registered_so_fails(
    rows: tuple[Connection, ...], registered: list[Registration]
) -> None:
    assert connected(repositories(*rows), registered, CLOCK, CLUSTER)
    # Whatever is unknown beside it.
    assert connected(repositories(*rows), registered, Unknown("silent"), CLUSTER)


@pytest.mark.parametrize(
    "row",
    [
        replace(CONNECTION, state="Unknown"),
        replace(CONNECTION, state=""),
        replace(CONNECTION, state="successful"),
        replace(CONNECTION, attempted=NOW - timedelta(minutes=50)),
        replace(CONNECTION, attempted=NOW - timedelta(seconds=2)),
        replace(CONNECTION, attempted=NOW + timedelta(seconds=30)),
        replace(CONNECTION, attempted=None),
    ],
)
def test_what_the_server_does_not_know_just_now_is_undecided(row: Connection) -> None:
    with pytest.raises(Undecided):
        connected(repositories(row), [REGISTERED], CLOCK, CLUSTER)


def test_a_server_whose_clock_nobody_knows_is_undecided() -> None:
    clock = Unknown("rke-platform02 is silent")
    with pytest.raises(Undecided, match="platform02 is silent"):
        connected(repositories(CONNECTION), [REGISTERED], clock, CLUSTER)


@given(ahead=st.floats(-1e6, 1e6), within=st.floats(0.0, 0.5))
def test_the_attempt_is_judged_by_the_clock_that_wrote_it(ahead: float, within: float) -> None:
    clock = Skew(ahead, within)
    just_now = (NOW + timedelta(seconds=ahead + 0.5)).replace(microsecond=0)
    row = replace(CONNECTION, attempted=just_now)
    assert connected(repositories(row), [REGISTERED], clock, CLUSTER) == ()
    long_ago = replace(row, attempted=just_now - timedelta(minutes=2))
    with pytest.raises(Undecided, match="the hard refresh did not try it anew"):
        connected(repositories(long_ago), [REGISTERED], clock, CLUSTER)


def test_an_inventory_without_the_names_is_undecided() -> None:
    with pytest.raises(Undecided, match="argocd_repository_secret"):
        connected(repositories(CONNECTION), [REGISTERED], CLOCK, replace(CLUSTER, names={}))


def test_no_message_of_the_server_leaves_its_line() -> None:
    row = replace(CONNECTION, state="Failed", message="no\nG.5 PASS\x1b[2J")
    (found,) = connected(repositories(row), [REGISTERED], CLOCK, CLUSTER)
    assert "\n" not in found
    assert "\x1b" not in found


def test_the_recorded_manifest_passes_and_another_fails() -> None:
    recorded = "e223122b" + "0" * 56
    good = Manifest("install.yaml", recorded, Split(1, 58))
    assert reviewed_manifest(good, CLUSTER) == ()
    assert reviewed_manifest(replace(good, sha256="1" * 64), CLUSTER)
    assert reviewed_manifest(replace(good, split=Split(0, 59)), CLUSTER)
    assert reviewed_manifest(replace(good, split=Split(1, 57)), CLUSTER)
    assert reviewed_manifest(replace(good, split=Split(2, 58)), CLUSTER)
    assert reviewed_manifest(None, CLUSTER)
    (found,) = reviewed_manifest(replace(good, sha256="e223122c" + "0" * 56), CLUSTER)
    assert "apply nothing from it" in found
    nameless = replace(CLUSTER, names={})
    with pytest.raises(Undecided, match="argocd_manifest_sha256"):
        reviewed_manifest(good, nameless)
    # Which one it is to be is not known, so that none that is missing is found.
    with pytest.raises(Undecided, match="names no `argocd`"):
        reviewed_manifest(None, replace(CLUSTER, versions={}))


@pytest.mark.parametrize("recorded", ["", "e223", "E223122B"])
def test_too_short_a_digest_decides_nothing_and_its_case_does_not_matter(recorded: str) -> None:
    names = {**CLUSTER.names, "argocd_manifest_sha256": recorded}
    good = Manifest("install.yaml", "e223122b" + "0" * 56, Split(1, 58))
    if len(recorded) < 8:
        with pytest.raises(Undecided):
            reviewed_manifest(good, replace(CLUSTER, names=names))
    else:
        assert reviewed_manifest(good, replace(CLUSTER, names=names)) == ()
