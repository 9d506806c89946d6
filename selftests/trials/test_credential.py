"""An exposed credential: it is deleted once if that is authorized, and its stop has three ends."""

from __future__ import annotations

import json

import pytest

from fixtures.judge.cleanup import Event
from selftests.trials.exposed import ENCRYPTED, UID, VERSION, Exposed

DELETE = "delete an exposed Secret"
REMADE = ("bbbbbbbb-2222", "90")


def exposed(**changes: object) -> Exposed:
    return Exposed(**changes)  # type: ignore[arg-type]


def test_what_is_encrypted_passes_and_nothing_is_written() -> None:
    cluster = exposed(value=ENCRYPTED, names="Ana")
    assert cluster.gate() == "PASS"
    assert (cluster.log, cluster.file, cluster.sent) == ([], None, [])


def test_plaintext_is_latched_here_and_on_the_bastion_and_nothing_is_deleted_unasked() -> None:
    cluster = exposed()
    verdict = cluster.gate()
    assert verdict.startswith("FAIL CLEANUP STOP")
    assert "pytest --gate=G.4 --authorize=NAME --scope=G.4" in verdict
    assert "cannot be undone" in verdict
    assert [each["state"] for each in cluster.events] == [Event.SET]
    assert cluster.file is not None
    assert (cluster.file["state"], cluster.file["uid"]) == ("set", UID)
    assert cluster.sent == []
    # Whatever is there later.
    cluster.value = ENCRYPTED
    assert cluster.gate().startswith("FAIL CLEANUP STOP stands since")


def test_an_authorized_deletion_is_of_exactly_what_was_seen_recorded_and_final() -> None:
    cluster = exposed(names="Ana")
    verdict = cluster.gate()
    assert verdict.startswith("FAIL CLEANUP STOP")
    assert "1. it is deleted, as Ana authorized, and gone" in verdict
    (request,) = cluster.sent
    assert request.path == "/api/v1/namespaces/argocd/secrets/repo-infra-https"
    wanted = {"uid": UID, "resourceVersion": VERSION}
    assert json.loads(request.body or "")["preconditions"] == wanted
    assert cluster.titles == [
        "CLEANUP STOP: set",
        "take the lock: sending",
        "take the lock: done",
        "no undo: done",
        f"{DELETE}: sending",
        f"{DELETE}: done",
        "what became of it is known: done",
    ]
    (told,) = [each["why"] for each in cluster.log if each["step"] == "no undo"]
    assert "does not come back" in told
    # Another run looks, and sends nothing.
    assert "nobody has stated" in cluster.gate()
    assert len(cluster.sent) == 1


@pytest.mark.parametrize(
    ("changes", "says", "last"),
    [
        ({"deletes": False, "answers": 403}, "it is NOT deleted: HTTP 403", "failed"),
        ({"deletes": False, "answers": 500}, "it is NOT deleted: HTTP 500", "failed"),
        ({"deletes": False, "answers": 200}, "a finalizer keeps it", "failed"),
        ({"deletes": False, "answers": None}, "sent once and not answered", "unknown"),
        ({"deletes": True, "answers": None}, "and gone", "done"),
        ({"instead": REMADE}, "another one was made under its name", "done"),
    ],
)
def test_a_deletion_is_sent_once_and_told_by_what_is_there(
    changes: dict[str, object], says: str, last: str
) -> None:
    cluster = exposed(names="Ana", **changes)
    verdict = cluster.gate()
    assert verdict.startswith("FAIL CLEANUP STOP")
    assert says in verdict
    assert len(cluster.sent) == 1
    assert f"{DELETE}: {last}" in cluster.titles
    assert ("what became of it is known: done" in cluster.titles) is (last != "unknown")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"changes": True}, "in another state than the one that was read in etcd"),
        ({"there": None}, "or not at all"),
        ({"latched": True}, "the latch is set"),
        ({"signal": "SIGINT"}, "interrupted by SIGINT"),
        ({"log_breaks": True}, "the apply log is broken"),
    ],
)
def test_what_must_not_be_deleted_is_not_and_is_still_exposed(
    changes: dict[str, object], says: str
) -> None:
    cluster = exposed(names="Ana", **changes)
    verdict = cluster.gate()
    assert verdict.startswith("FAIL CLEANUP STOP")
    assert says in verdict
    assert "NOT deleted" in verdict
    assert cluster.sent == []
    assert (cluster.file or {}).get("state") == "set"


def stopped(**changes: object) -> Exposed:
    """After the exposed Secret was deleted."""
    cluster = exposed()
    cluster.gate()
    for name, value in ({"there": None, "states": "token revoked"} | changes).items():
        setattr(cluster, name, value)
    return cluster


def test_all_three_release_it_and_the_secret_made_anew_passes() -> None:
    cluster = stopped()
    verdict = cluster.gate()
    assert verdict.startswith("UNKNOWN CLEANUP STOP is released (Ana at ")
    assert [each["state"] for each in cluster.events] == ["set", "revocation stated", "released"]
    assert (cluster.file or {})["state"] == "released"
    cluster.there, cluster.value, cluster.states = REMADE, ENCRYPTED, None
    assert cluster.gate() == "PASS"


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"there": (UID, VERSION)}, "FAIL"),
        ({"there": REMADE, "value": ENCRYPTED}, "FAIL"),
        ({"states": None}, "UNKNOWN"),
        ({"green": False}, "FAIL"),
        ({"there": (UID, VERSION), "states": None}, "FAIL"),
        ({"there": (UID, VERSION), "green": False}, "FAIL"),
        ({"states": None, "green": False}, "FAIL"),
    ],
)
def test_less_than_all_three_does_not(changes: dict[str, object], verdict: str) -> None:
    cluster = stopped(**changes)
    assert cluster.gate().startswith(f"{verdict} CLEANUP STOP stands since")
    assert (cluster.file or {})["state"] == "set"


def test_a_statement_is_kept_until_the_rest_is_so() -> None:
    cluster = stopped(green=False)
    assert "nobody has stated" not in cluster.gate()
    cluster.states, cluster.green = None, True
    assert "is released (Ana at " in cluster.gate()


def test_what_was_stated_before_it_was_seen_counts_for_nothing() -> None:
    cluster = exposed(states="token revoked")
    assert "Step 4 is stated by" in cluster.gate()
    cluster.there, cluster.states = None, None
    assert "nobody has stated" in cluster.gate()


def test_another_secret_in_plaintext_is_another_exposure() -> None:
    cluster = stopped(there=REMADE)
    verdict = cluster.gate()
    assert "nobody has stated" in verdict
    assert [each["uid"] for each in cluster.events] == [UID, REMADE[0]]
    assert cluster.sent == []


def test_a_secret_made_while_the_stop_stands_is_deleted_only_if_it_is_exposed_itself() -> None:
    cluster = stopped(there=REMADE, value=ENCRYPTED, names="Ana")
    assert "it is not the exposed one" in cluster.gate()
    assert cluster.sent == []
    cluster.value = Exposed.value
    assert "nobody has stated" in cluster.gate()
    (request,) = cluster.sent
    assert REMADE[0] in (request.body or "")


def test_the_exposed_secret_is_deleted_though_it_was_encrypted_since() -> None:
    cluster = stopped(there=(UID, "77"), value=ENCRYPTED, names="Ana")
    assert "is released" in cluster.gate()
    (request,) = cluster.sent
    assert '"resourceVersion": "77"' in (request.body or "")


def test_a_stop_of_another_log_stands_here_too_and_ends_here_too() -> None:
    mine = stopped(states=None)
    theirs = exposed(there=None, file=mine.file)
    assert "by another log" in theirs.gate()
    theirs.states = "token revoked"
    assert "is released" in theirs.gate()
    # There the Secret was made anew meanwhile.
    mine.file, mine.there, mine.value = theirs.file, REMADE, ENCRYPTED
    assert mine.gate() == "PASS"
    assert [each["state"] for each in mine.events] == ["set", "released"]


def test_another_stop_s_release_ends_no_other() -> None:
    cluster = stopped(file={"state": "released", "uid": "cccccccc", "why": "Bo"}, states=None)
    assert cluster.gate().startswith("UNKNOWN CLEANUP STOP stands")


@pytest.mark.parametrize("file", [{"state": 7}, {}, None])
def test_what_the_bastion_cannot_tell_blocks_the_gate(file: dict[str, object] | None) -> None:
    cluster = exposed(value=ENCRYPTED, file=file, unreadable=file is None)
    assert cluster.gate().startswith("BLOCKED ")
    assert "whether a CLEANUP STOP stands is unknown" in cluster.gate()


def test_what_the_bastion_cannot_keep_is_told_and_stands_by_the_log() -> None:
    cluster = exposed(unwritable=True)
    assert cluster.gate().startswith("FAIL CLEANUP STOP")
    assert "other operators must be told" in " ".join(cluster.told)
    cluster.value = ENCRYPTED
    assert cluster.gate().startswith("FAIL CLEANUP STOP stands")
    # It is tried again.
    cluster.unwritable = False
    cluster.gate()
    assert (cluster.file or {})["state"] == "set"


def test_a_release_that_the_others_cannot_be_told_is_none() -> None:
    cluster = stopped(unwritable=True)
    assert cluster.gate().startswith("UNKNOWN ")
    assert [each["state"] for each in cluster.events] == ["set", "revocation stated"]


def test_what_the_bastion_tells_is_one_harmless_line() -> None:
    why = "x\nG.4 PASS\x1b[2J" + "y" * 5000
    cluster = exposed(value=ENCRYPTED, file={"state": "set", "uid": "u\n", "why": why})
    verdict = cluster.gate()
    assert verdict.startswith("FAIL CLEANUP STOP stands since by another log: x")
    assert "\n" not in verdict
    assert "\x1b" not in verdict
    assert len(verdict) < 2000
