"""A reset's ending: told by rc and sentence together, and by nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.judge.reset import ASIDE, FLAGGED, OPEN, UNTOUCHED, Ending, ending_of, succeeded
from fixtures.observe.log_lines import parse_line
from fixtures.observe.reset import Resets
from selftests.gates.drilling import drilled, node
from selftests.gates.world import Reply
from selftests.observe import k3s
from selftests.observe.test_drill_units import shown

if TYPE_CHECKING:
    from fixtures.judge.reset import ResetVerdict
    from fixtures.observe.reset import ResetRun

RUN = "20261130T120000Z-ab12"
UNIT = f"rke2-reset-{RUN}.service"
SHOW = f"systemctl show -p Id,LoadState,ActiveState,SubState,Result,ExecMainStatus {UNIT}"
TAIL = f"sudo -n tail -c 2000000 /var/lib/rancher/rke2-acceptance/reset-{RUN}.err"
HOST = "rke-cp01"
SENTENCE = (
    "Managed etcd cluster membership has been reset, restart without --cluster-reset flag now. "
    "Backup and delete ${datadir}/server/db on each peer etcd server and rejoin the nodes"
)
OLDER = SENTENCE.replace("Managed etcd cluster membership has been reset", "Etcd is running")
NOISE = "\n".join(
    f'time="2026-11-30T13:22:40Z" level=error msg="Failed to test etcd connection {n}"'
    for n in range(10)
)


def line(message: str, level: str = "error") -> str:
    return f'time="2026-11-30T13:22:42Z" level={level} msg={json.dumps(message)}\n'


GOOD = line(f'Shutdown request received: "{SENTENCE}"')
ENDED = {
    0: ("loaded", "active", "exited", "success"),
    "running": ("loaded", "activating", "start", "success"),
    "waiting": ("loaded", "inactive", "dead", "success"),
    "absent": ("not-found", "inactive", "dead", "success"),
}


def seen(rc: int | str, output: Reply, result: str = "exit-code") -> ResetRun:
    load, active, sub, said = ENDED.get(rc, ("loaded", "failed", "failed", result))
    status = str(rc) if isinstance(rc, int) else "0"
    world = drilled()
    text = shown(UNIT, load, active, sub, Result=said, ExecMainStatus=status)
    world.say(HOST, SHOW, Reply(text))
    world.say(HOST, TAIL, output)
    return Resets(world.cluster, world).of(node(HOST), RUN)


def ending(rc: int | str, text: str, result: str = "exit-code") -> ResetVerdict:
    return ending_of(seen(rc, Reply(text), result))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        line(f'Shutdown request received: "{SENTENCE}"', "info"),
        line(SENTENCE, "info"),
        line(SENTENCE, "fatal"),
        line(f"{SENTENCE}.", "info"),
        line(OLDER, "info"),
        f'\x1b[31mERRO\x1b[0m[0042] Shutdown request received: "{SENTENCE}"  \r\n',
        f"\x1b[36mINFO\x1b[0m[0042] {SENTENCE}  \r\n",
        f"{NOISE}\n{GOOD}",
        f"{GOOD}{line('Stopping etcd server...', 'info')}",
        f"half of a line that was cut off\n{GOOD}",
    ],
)
def test_rc_0_and_the_sentence_is_success(text: str) -> None:
    assert ending(0, text).ending is Ending.SUCCEEDED


@pytest.mark.parametrize(
    "text",
    [
        "",
        NOISE,
        line("Running kube-apiserver --advertise-address=10.72.0.21", "info"),
        line(f"it would print: {SENTENCE}", "info"),
        line(f'it would print: level=error msg="{SENTENCE}"', "info"),
        line(SENTENCE.replace("has been reset", "was previously reset")),
        line(SENTENCE[:60]),
        SENTENCE,
        line('Shutdown request received: "context canceled"'),
        line("k3s is up and running", "info"),
    ],
)
def test_rc_0_without_the_sentence_is_a_failure(text: str) -> None:
    verdict = ending(0, text)
    assert verdict.ending is Ending.FAILED
    assert "ended with status 0 without its final sentence" in verdict.why
    assert "start nothing" in verdict.why


def test_a_server_that_just_started_is_told() -> None:
    verdict = ending(0, line("Running kube-apiserver --x", "info"))
    assert "it started as an ordinary server" in verdict.why


@pytest.mark.parametrize("rc", [1, 2, 137])
def test_the_sentence_with_another_rc_is_a_failure(rc: int) -> None:
    verdict = ending(rc, GOOD)
    assert verdict.ending is Ending.FAILED
    assert f"status {rc} although it printed its final sentence" in verdict.why


def test_errors_and_then_success_is_success() -> None:
    assert ending(0, f"{NOISE}\n{GOOD}").ending is Ending.SUCCEEDED


@pytest.mark.parametrize("rc", ["running", "waiting"])
@pytest.mark.parametrize("text", ["", NOISE, GOOD])
def test_what_runs_has_not_ended_whatever_it_printed(rc: str, text: str) -> None:
    assert ending(rc, text).ending is Ending.RUNNING


def test_a_running_reset_shows_its_last_line() -> None:
    assert "Failed to test etcd connection 9" in ending("running", NOISE).why


def test_a_reset_that_is_not_there_is_undecided() -> None:
    with pytest.raises(Undecided, match="never began, or the node was rebooted"):
        ending("absent", GOOD)


ASIDE_LINE = line("Pre-restore etcd database moved to /var/lib/rancher/rke2/x/etcd-old-1", "info")
PREFIX = "Error: starting kubernetes: failed to start cluster: start managed database: "


@pytest.mark.parametrize(
    ("text", "name", "database"),
    [
        (f"{PREFIX}etcd: snapshot path does not exist: /x", "not at that path", UNTOUCHED),
        (f"{PREFIX}etcd: snapshot path must be a file, not a directory: /x", "folder", UNTOUCHED),
        (f"{PREFIX}open /a/a/x.zip: no such file or directory", "compressed", UNTOUCHED),
        (f"{PREFIX}expected sha256 [211 88], got [27 112]", "is damaged", ASIDE),
        (f"{PREFIX}snapshot missing hash but --skip-hash-check=false", "was cut", ASIDE),
        (f"{PREFIX}seek /x/zero: invalid argument", "is empty or no snapshot", ASIDE),
        (f'{PREFIX}data-dir "/x/db/etcd" not empty', "target is not empty", OPEN),
        (f"{PREFIX}rename /x/db/etcd /x/old: no such file or directory", "no database", OPEN),
        (
            (
                f"{PREFIX}Managed etcd cluster membership was previously reset, please remove the "
                "cluster-reset flag and start rke2 normally. If you need to perform another "
                "cluster reset, you must first manually delete the file at /x/db/reset-flag"
            ),
            "bare reset",
            UNTOUCHED,
        ),
        (
            (
                "Error: cannot perform cluster-reset while server URL is set - remove server from "
                "configuration before resetting"
            ),
            "joins another one",
            UNTOUCHED,
        ),
        (
            "Error: invalid flag use; --cluster-reset required with --cluster-reset-restore-path",
            "without --cluster-reset",
            UNTOUCHED,
        ),
        ("Error: listen tcp 127.0.0.1:6444: bind: address already in use", "still runs", OPEN),
        ("Error: static pod cleanup timed out", "static pods did not go away", OPEN),
        (
            "Error: /x/token does not exist, please pass --token to complete the restoration",
            "no token",
            UNTOUCHED,
        ),
        ("Error: can not mkdir /x/server: mkdir /x: permission denied", "folder", UNTOUCHED),
        ("Error: something nobody has seen", "Error: something nobody has seen", OPEN),
    ],
)
def test_a_known_failure_is_named(text: str, name: str, database: str) -> None:
    verdict = ending(1, f"{NOISE}\n{line(text, 'fatal')}")
    assert verdict.ending is Ending.FAILED
    assert name in verdict.why
    assert database in verdict.why


def test_a_database_that_was_moved_is_told_whatever_failed() -> None:
    verdict = ending(1, ASIDE_LINE + line("Error: static pod cleanup timed out", "fatal"))
    assert ASIDE in verdict.why


def test_a_wrong_token_is_told_by_the_shutdown_not_by_the_last_line() -> None:
    text = line(
        'Shutdown request received: "failed to save bootstrap data: bootstrap data already found '
        'and encrypted with different token"'
    )
    verdict = ending(1, ASIDE_LINE + text + line("context canceled", "fatal"))
    assert "the token is not the snapshot's" in verdict.why
    assert FLAGGED in verdict.why


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("panic: tocommit(640) is out of range\ngoroutine 1 [running]:\n", "panic: tocommit"),
        ("touch: cannot touch '/x/latch': No space left on device\n", "latch could not be"),
        ("/bin/sh: 1: exec: /usr/local/bin/rke2: not found\n", "there is no rke2"),
        ("", "it said nothing of a failure"),
    ],
)
def test_other_ends(text: str, says: str) -> None:
    assert says in ending(127, text).why


def test_a_reset_that_was_ended_by_a_signal() -> None:
    assert "was ended by oom-kill (status 9)" in ending(9, NOISE, "oom-kill").why


CAPTURED = [run for _, run in k3s.runs("reset", r"^server .*cluster-reset") if run.stdout == ""]


@pytest.mark.parametrize("run", CAPTURED, ids=range(len(CAPTURED)))
def test_the_captured_resets(run: k3s.Captured) -> None:
    verdict = ending(run.rc, run.stderr)
    assert verdict.ending is (Ending.SUCCEEDED if run.rc == 0 else Ending.FAILED)
    if run.rc:
        assert not re.search(rf": {re.escape(OPEN)};", verdict.why), verdict.why


def test_both_endings_were_captured() -> None:
    assert {run.rc for run in CAPTURED} == {0, 1}
    assert len(CAPTURED) >= 15


def test_no_output_yet_is_no_trouble() -> None:
    path = TAIL.rpartition(" ")[2]
    absent = f"tail: cannot open '{path}' for reading: No such file or directory\n"
    run = seen("running", Reply(stderr=absent, rc=1))
    assert run.lines == ()
    assert ending_of(run).ending is Ending.RUNNING


@pytest.mark.parametrize(
    "output",
    [
        Reply(silent="rke-cp01: no answer"),
        Reply(stderr="tail: x: Permission denied\n", rc=1),
        Reply(GOOD, cut=5),
    ],
)
def test_an_output_that_cannot_be_read_is_undecided(output: Reply) -> None:
    with pytest.raises(Undecided, match="rke-cp01"):
        seen(0, output)


def test_bytes_that_are_no_text_do_not_hide_the_sentence() -> None:
    run = seen(0, Reply(raw=b"\xff\xfe\n" + GOOD.encode()))
    assert ending_of(run).ending is Ending.SUCCEEDED


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_output_has_an_ending(lines: list[str]) -> None:
    verdict = ending(1, "\n".join(lines))
    assert verdict.ending is Ending.FAILED
    assert verdict.why.isprintable()


@given(st.text(max_size=100))
def test_nothing_else_is_the_sentence(text: str) -> None:
    assert not succeeded(parse_line(text))
