"""What sets a CLEANUP STOP, what ends it, and what is said of it (F2.enc-ii, G.4)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fixtures.applylog.redact import MARK, REDACTOR
from fixtures.core.inventory import Label
from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Undecided
from fixtures.judge import cleanup
from fixtures.judge.at_rest import encrypted, facts
from fixtures.judge.cleanup import Credential, Event, Stop
from fixtures.observe.answers import Unknown
from fixtures.observe.at_rest import Raw, Secret, Stored, Version
from fixtures.observe.encryption import ANNOTATION, Encrypted, EncryptionStatus, Key, StatusOf
from fixtures.observe.nodes import Registered, RegisteredNode
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
CREDENTIALS = [cleanup.repository(CLUSTER), cleanup.ceph(CLUSTER)]
VERSION = Version("0c5d7f5e-1111", "12", datetime(2026, 11, 30, tzinfo=UTC))
STOP = Stop("yesterday", VERSION.uid, "Ana at noon: revoked")
SET = {"state": Event.SET, "why": "plaintext", "uid": "u"}
REVOKED = {"state": Event.REVOKED, "why": "Ana"}
RELEASED = {"state": Event.RELEASED}

each_credential = pytest.mark.parametrize("credential", CREDENTIALS, ids=lambda each: each.gate)


def stored(value: bytes, secret: Secret = CREDENTIALS[0].secret) -> Stored:
    return Stored(secret, VERSION, Raw(value, 99), VERSION)


def status(**changes: bool) -> Encrypted:
    """Check (i), green but for these changes on every control plane."""
    held = {"enabled": True, "hashes_match": True} | changes
    one = EncryptionStatus(stage="start", hash_error="", active=Key("AES-CBC", "k"), **held)
    names = [node.name for node in CLUSTER.control_planes]
    nodes = tuple(
        RegisteredNode(name, (), (), False, (), (), (), annotations=(Label(ANNOTATION, "start-1"),))
        for name in names
    )
    return Encrypted(tuple(StatusOf(name, one) for name in names), Registered(nodes))


@pytest.mark.parametrize(
    ("events", "stands"),
    [
        ([], None),
        ([SET], Stop("plaintext", "u")),
        ([SET, REVOKED], Stop("plaintext", "u", "Ana")),
        # What was stated before another exposure says nothing of that one.
        ([SET, REVOKED, SET], Stop("plaintext", "u")),
        ([REVOKED, SET], Stop("plaintext", "u")),
        ([SET, RELEASED], None),
        ([SET, REVOKED, RELEASED, REVOKED], None),
        ([SET, RELEASED, SET], Stop("plaintext", "u")),
        ([SET, {"state": "what a later suite writes"}, {}], Stop("plaintext", "u")),
        ([{"state": Event.SET, "uid": None}], Stop("", "")),
    ],
)
def test_a_stop_stands_until_it_is_released(
    events: list[dict[str, str]], stands: Stop | None
) -> None:
    assert cleanup.standing(events) == stands


@each_credential
def test_all_three_together_end_it(credential: Credential) -> None:
    assert cleanup.ending(credential, STOP, "", status(), CLUSTER) == ()


@each_credential
@pytest.mark.parametrize("gone", [True, False])
@pytest.mark.parametrize("revoked", [True, False])
@pytest.mark.parametrize("green", [True, False, None])
def test_none_of_the_three_is_enough_and_each_that_is_missing_is_named(
    credential: Credential, gone: bool, revoked: bool, green: bool | None
) -> None:
    if gone and revoked and green:
        return
    stop = STOP if revoked else Stop(STOP.why, STOP.uid)
    remains = cleanup.still_there(credential, None if gone else VERSION, "")
    seen = status(enabled=green is not False)
    if green is None:
        seen = Encrypted(
            (StatusOf("rke-cp01", Unknown("cp01 is silent")), *seen.statuses[1:]), seen.registered
        )
    try:
        (why,) = cleanup.ending(credential, stop, remains, seen, CLUSTER)
        assert not gone or green is False
    except Undecided as undecided:
        why = str(undecided)
        assert gone
        assert green is not False
    assert ("is there (UID" in why) is not gone
    assert (credential.by_hand in why) is not gone
    assert ("nobody has stated" in why) is not revoked
    assert (credential.stating in why) is not revoked
    assert ("is not enabled" in why) is (green is False)
    assert ("cp01 is silent" in why) is (green is None)


@each_credential
def test_what_is_said_has_every_step_and_how_to_do_it(credential: Credential) -> None:
    said = cleanup.cleanup(credential, stored(b"k8s\0", credential.secret), "")
    for part in (
        "PLAINTEXT",
        credential.by_hand,
        f"--gate={credential.gate} --authorize=NAME --scope={credential.gate}",
        "cannot be undone",
        credential.forget,
        credential.until,
        credential.revoke,
        f'--attest="{credential.gate}=',
        "Make no new Secret",
    ):
        assert part in said
    done = cleanup.cleanup(credential, stored(b"k8s\0"), "it is deleted")
    assert "1. it is deleted; 2. " in done
    assert credential.by_hand not in done


def said_of(secret: Secret) -> list[str]:
    """Every sentence that names it."""
    said = []
    for credential in CREDENTIALS:
        said += [
            cleanup.cleanup(credential, stored(b"k8s\0", secret), ""),
            cleanup.still_there(credential, VERSION, ""),
            credential.no_undo,
        ]
    said += encrypted(stored(b"{", secret))
    said += cleanup.password_kept(stored(b"{", secret))
    for value in (b"", b"k8s:enc:", b"x"):
        with pytest.raises(Undecided) as undecided:
            encrypted(stored(value, secret))
        said.append(str(undecided.value))
    return said


@pytest.mark.parametrize("name", ["argocd-initial-admin-secret", "token", "my-password", "x"])
def test_nothing_of_what_is_said_looks_like_a_secret_to_the_log(name: str) -> None:
    secret = Secret("argocd", name)
    for sentence in said_of(secret):
        assert REDACTOR.text(sentence) == sentence
    assert MARK not in str(REDACTOR.value(facts(stored(b"k8s:enc:aescbc:v1:", secret))))


@pytest.mark.parametrize("value", [b"k8s\0", b"{"])
def test_plaintext_exposes_whatever_the_api_says(value: bytes) -> None:
    seen = stored(value)
    assert cleanup.exposed(seen)
    assert cleanup.exposed(Stored(seen.secret, None, seen.raw, None))


@pytest.mark.parametrize("value", [b"", b"k8s:enc:aescbc:v1:", b"k8s:enc:", b"k8s", b"x"])
def test_nothing_else_does(value: bytes) -> None:
    assert not cleanup.exposed(stored(value))


def test_a_uid_is_sure_only_if_it_was_the_same_before_and_after() -> None:
    seen = stored(b"k8s\0")
    other = Version(VERSION.uid, "13", VERSION.created)
    assert cleanup.uid_of(seen) == VERSION.uid
    assert cleanup.uid_of(Stored(seen.secret, VERSION, seen.raw, other)) == ""
    assert cleanup.uid_of(Stored(seen.secret, VERSION, seen.raw, None)) == ""
    assert cleanup.uid_of(Stored(seen.secret, None, seen.raw, VERSION)) == ""


def test_a_first_password_that_goes_while_it_is_read_is_gone() -> None:
    secret = cleanup.initial_admin(CLUSTER)
    for before in (None, VERSION):
        for value in (b"", b"k8s:enc:aescbc:v1:"):
            assert cleanup.password_kept(Stored(secret, before, Raw(value, 9), None)) == ()
        assert cleanup.password_kept(Stored(secret, before, Raw(b"{", 9), None))
