"""Runners that delete an exposed credential, ended at any step.

The stop stands, nothing is sent twice, and only the exposed Secret ever goes.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from lab import gitops
from lab.phase import Phase
from lab.storage import missed
from selftests.drills.killed import lab_and_runners
from selftests.drills.outliving import STOP
from selftests.drills.runners import Kill

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from selftests.drills.outliving import Outliving
    from selftests.drills.runners import Runners

pytestmark = pytest.mark.thorough

GATE = "G.4"
LOOK = "--gate=G.4"
NAMED = (LOOK, "--authorize=ada", "--scope=G.4")
REVOKED = "--attest=G.4=token revoked on GitHub by ada"
STOP_FILE = "/home/ubuntu/.rke2-acceptance/lab/cleanup-stop-G.4"
SENT = "delete an exposed Secret: sending"


def exposing(folder: Path) -> AbstractContextManager[tuple[Outliving, Runners]]:
    return lab_and_runners(folder, phase=Phase.G, nodes=6)


def expose(lab: Outliving, runners: Runners) -> None:
    """The operator has made the credential anew, and etcd keeps it in plaintext; nobody knows."""
    runners.begin_log()

    def put() -> None:
        world = lab.world
        world.storage.raw[gitops.NAMESPACE, gitops.SECRET] = "plaintext"
        for path in (STOP_FILE, STOP):
            if world.bastion.files.has(path):
                world.bastion.files.remove(path)
        gitops.prepare(world)
        missed(world, world.objects, gitops.NAMESPACE, gitops.SECRET)

    lab.inside(put)
    if lab.inside(lab.locked):
        lab.release()


def there(lab: Outliving) -> bool:
    return lab.inside(
        lambda: lab.world.objects.peek("Secret", gitops.NAMESPACE, gitops.SECRET) is not None
    )


def others(lab: Outliving) -> set[str]:
    """Every other Secret."""

    def look() -> set[str]:
        names = {each["metadata"]["name"] for each in lab.world.objects.each("Secret")}
        return names - {gitops.SECRET}

    return lab.inside(look)


def states(runners: Runners) -> list[str]:
    return [each["state"] for each in runners.lines if each.get("step") == "CLEANUP STOP"]


def sent(runners: Runners) -> int:
    titles = [f"{each.get('step')}: {each.get('state')}" for each in runners.lines]
    return titles.count(SENT)


def kinds(lab: Outliving, runners: Runners) -> dict[str, int]:
    """The lines of an undisturbed run, each with its number."""
    expose(lab, runners)
    ended = runners.run(*NAMED)
    assert ended.status == 1
    assert "it is deleted, as ada authorized" in ended.text
    # The line that sets the stop comes before all steps.
    titles = ["CLEANUP STOP: set", *runners.titles(GATE)]
    return {title: number for number, title in enumerate(titles, start=1)}


def test_after_sigkill_the_stop_stands_and_a_run_that_looks_sends_nothing(tmp_path: Path) -> None:
    with exposing(tmp_path) as (lab, runners):
        for at in count(1):
            expose(lab, runners)
            kept = others(lab)
            ended = runners.run(*NAMED, kill=Kill(GATE, at))
            if runners.struck is None:
                break
            assert ended.status == -9, ended.text
            before, was_sent = there(lab), sent(runners)
            assert states(runners) == ["set"], runners.struck
            if at == 1:
                # What the killed gate said before does not count for others.
                assert "needs G.4 (no verdict)" in runners.run("--gate=G.5").text
            looked = runners.run(LOOK)
            assert looked.status == 1
            assert "CLEANUP STOP stands since" in looked.text
            assert ("is there (UID" in looked.text) is before
            assert "nobody has stated" in looked.text
            assert (there(lab), sent(runners)) == (before, was_sent)
            assert others(lab) == kept
            if before and was_sent:
                assert "`pytest --gate=G.4` says what there is now" in looked.text, looked.text
            assert "unmasked" not in looked.text
            runners.verify()
        assert "it is deleted, as ada authorized" in ended.text
        assert at > 6


def test_a_killed_deletion_is_ended_by_the_next_authorized_one(tmp_path: Path) -> None:
    with exposing(tmp_path) as (lab, runners):
        at = kinds(lab, runners)[SENT]
        expose(lab, runners)
        runners.run(*NAMED, kill=Kill(GATE, at))
        # It was announced, and never left.
        assert there(lab)
        lab.release()
        ended = runners.run(*NAMED, REVOKED)
        assert "CLEANUP STOP is released (ada@desk at " in ended.text
        assert not there(lab)
        assert states(runners) == ["set", "revocation stated", "released"]
        assert ended.status == 1


def test_after_a_signal_nothing_more_is_begun_and_what_was_sent_is_told(tmp_path: Path) -> None:
    with exposing(tmp_path) as (lab, runners):
        for number, (kind, at) in enumerate(kinds(lab, runners).items()):
            means = ("SIGTERM", "SIGINT", "SIGHUP")[number % 3]
            expose(lab, runners)
            ended = runners.run(*NAMED, kill=Kill(GATE, at, means))
            assert ended.status == 2, (kind, ended.text)
            assert "Traceback" not in ended.text
            assert states(runners) == ["set"], kind
            assert not lab.inside(lab.locked), kind
            gone = kind in {SENT, "delete an exposed Secret: done"} or "known" in kind
            assert there(lab) is not gone, kind
            verdict = next(runners.last_lines("gate", gate=GATE))
            if kind == "CLEANUP STOP: set":
                assert verdict["verdict"] in {"UNKNOWN", "FAIL"}
            else:
                assert verdict["verdict"] == "FAIL", (kind, verdict["summary"])
            runners.verify()


def test_a_link_that_is_cut_as_it_is_sent_sends_nothing_again(tmp_path: Path) -> None:
    with exposing(tmp_path) as (lab, runners):
        at = kinds(lab, runners)[SENT]
        for means in ("cut 0.3", "cut"):
            expose(lab, runners)
            ended = runners.run(*NAMED, kill=Kill(GATE, at, means))
            assert ended.status == 1, ended.text
            assert "CLEANUP STOP" in ended.text
            assert states(runners) == ["set"]
            assert sent(runners) == 1
            # The announced request never left.
            assert there(lab)
            lab.inside(lab.relay.mend)


def test_a_colleague_s_stop_and_a_full_disk_keep_the_secret(tmp_path: Path) -> None:
    with exposing(tmp_path) as (lab, runners):
        at = kinds(lab, runners)["take the lock: done"]
        for means, says in (("stop", "a colleague stopped"), ("full", "the apply log is broken")):
            expose(lab, runners)
            ended = runners.run(*NAMED, kill=Kill(GATE, at, means))
            assert says in ended.text, ended.text
            assert there(lab)
            assert sent(runners) == 0
            lab.repair()


def test_to_clear_the_latch_ends_no_cleanup_stop_and_says_so(tmp_path: Path) -> None:
    with exposing(tmp_path) as (lab, runners):
        expose(lab, runners)
        assert runners.run(LOOK).status == 1
        cleared = runners.run("--clear-latch=grace: nothing is frozen")
        assert cleared.status == 0
        assert "the CLEANUP STOP of G.4 stands: only `pytest --gate=G.4` ends it" in cleared.text
        assert "CLEANUP STOP stands since" in runners.run(LOOK).text
