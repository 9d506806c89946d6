"""F6-3.journal: what is damage, what has ceased, and what nobody can know yet."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.limits import Limits
from fixtures.core.verdicts import Undecided
from fixtures.judge.journal import clean
from fixtures.observe.journal import Journals
from selftests.gates.drilling import drilled, node
from selftests.gates.texts import unit
from selftests.gates.world import Reply
from selftests.observe import k3s
from selftests.observe.test_drill_units import SHOW_SERVICES

if TYPE_CHECKING:
    from fixtures.judge.findings import Findings
    from fixtures.observe.journal import Journal

HOST = "rke-cp02"
START = 1796044800
NOW = START + 600.5
JOURNAL = f"sudo -n journalctl -u rke2-server.service --since=@{START} -o json --all --no-pager"
POD = "sudo -n sh -c 'cat /var/log/pods/kube-system_etcd-*/etcd/*.log | tail -c 8000000'"
CLOCK = "date -u +%s.%N"
LIMITS = Limits()


def entry(message: Any, at: float = 10, **changes: Any) -> str:
    row = {
        "MESSAGE": message,
        "__REALTIME_TIMESTAMP": str(int((START + at) * 1e6)),
        "_SYSTEMD_UNIT": "rke2-server.service",
        "_SYSTEMD_INVOCATION_ID": "one",
        "PRIORITY": "6",
    }
    return json.dumps({key: value for key, value in (row | changes).items() if value is not None})


def logged(level: str, message: str) -> str:
    return f'time="2026-11-30T13:22:42Z" level={level} msg={json.dumps(message)}'


STARTED = entry(logged("info", "Starting rke2 v1.36.3+rke2r1"))
ETCD = '2026-11-30T13:24:00.123456789Z stderr F {"level":"info","msg":"ready"}\n'


def read(
    *entries: str, etcd: Reply | None = None, restarts: int = 0, journal: Reply | None = None
) -> Journal:
    world = drilled()
    server = unit("rke2-server.service", NRestarts=str(restarts))
    world.say(HOST, SHOW_SERVICES, Reply(unit("keepalived.service") + "\n" + server))
    world.say(HOST, JOURNAL, journal or Reply("".join(f"{each}\n" for each in entries)))
    world.say(HOST, POD, etcd or Reply(ETCD))
    world.say(HOST, CLOCK, Reply(f"{NOW:.9f}\n"))
    return Journals(world.cluster, world).of(node(), START)


def judged(*entries: str, etcd: str = "", restarts: int = 0) -> Findings:
    journal = read(STARTED, *entries, etcd=Reply(ETCD + etcd), restarts=restarts)
    return clean(journal, LIMITS, 0)


@pytest.mark.parametrize(
    "line",
    [
        logged("info", "Polling for API server readiness: GET /readyz failed: an error"),
        logged("info", 'it said level=error msg="database corruption"'),
        logged("warning", "panic is only a word here"),
        '{"level":"warn","caller":"etcdserver/corrupt.go:494","msg":"failed hash kv request"}',
        "I1130 13:17:02.788254   1 x.go:1] checksum mismatch",
        "rke2-server.service: Main process exited, code=exited, status=0/SUCCESS",
        "goroutine 1 [running]:",
    ],
)
def test_what_is_no_error(line: str) -> None:
    assert judged(entry(line, at=599)) == ()


CEASED = [
    logged("error", "Failed to check local etcd status for learner management: context deadline"),
    logged("error", "Sending HTTP/2.0 503 response to 127.0.0.1:47170: starting"),
    'E1130 13:27:17.039634 5233 options.go:205] "manifest file is empty"',
    '{"level":"error","caller":"a.go:1","msg":"request sent was ignored"}',
    'E1130 13:16:57.787848 1 finisher.go:175] "Unhandled Error" err="panicked: false, err: x"',
    '{"level":"error","caller":"corrupt.go:1","msg":"m","stacktrace":"panic"}',
]


@pytest.mark.parametrize("line", CEASED)
def test_an_error_that_ceased_is_clean(line: str) -> None:
    assert judged(*(entry(line, at) for at in (20, 30, 40))) == ()
    assert judged(etcd=ETCD.replace('{"level":"info","msg":"ready"}', line)) == ()


@pytest.mark.parametrize("line", CEASED)
@pytest.mark.parametrize("times", [1, 3])
def test_an_error_that_may_recur_is_undecided_and_counted(line: str, times: int) -> None:
    with pytest.raises(Undecided) as raised:
        judged(*(entry(line, 590 + n) for n in range(times)))
    text = str(raised.value)
    assert text.startswith("rke-cp02: rke2-server still logs an error, ")
    assert ("once" if times == 1 else "3 times") in text
    assert "s before the journal was read" in text


def test_errors_that_differ_only_in_numbers_are_one_kind() -> None:
    lines = [entry(logged("error", f"error ID {n}: 10.72.0.{n}:{n}"), 599) for n in range(100, 105)]
    with pytest.raises(Undecided, match="5 times"):
        judged(*lines)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (logged("error", "database corruption found"), "`corruption`"),
        (logged("error", "file is corrupt"), "`corrupt`"),
        (logged("error", "Checksum differs"), "`checksum`"),
        (logged("fatal", "wal: crc mismatch"), "`crc mismatch`"),
        (logged("error", "recovered from panic"), "`panic`"),
        (logged("error", "the data-dir is damaged"), "data-dir is damaged"),
        (logged("error", "data-dir used by this member must be removed"), "must be removed"),
        (logged("fatal", "/x/cred.json newer than datastore and could cause"), "newer than"),
        (logged("error", "etcd cluster join failed: duplicate node name found"), "duplicate node"),
        (logged("fatal", "starting kubernetes: preparing server"), "a fatal error"),
        ("\x1b[31mFATA\x1b[0m[0003] Error: x", "a fatal error"),
        ('{"level":"fatal","msg":"failed to purge wal file","error":"open x"}', "purge wal file"),
        ('{"level":"error","msg":"snap: crc mismatch"}', "crc mismatch"),
        ('{"level":"panic","msg":"tocommit(640) is out of range"}', "a crash"),
        ("panic: tocommit(640) is out of range [lastIndex(7)]", "a crash"),
        ("fatal error: fault", "a crash"),
        ("F1130 13:17:02.788254   1 x.go:1] gone", "a fatal error"),
        ('E1130 13:17:02.788254   1 x.go:1] "checksum mismatch"', "`checksum`"),
    ],
)
@pytest.mark.parametrize("at", [15, 599])
def test_damage_is_a_failure_whenever_it_was(line: str, says: str, at: float) -> None:
    (finding,) = judged(entry(line, at))
    assert finding.startswith("rke-cp02: rke2-server: ")
    assert says in finding
    assert "STOP" in finding


@pytest.mark.parametrize(
    "line",
    [
        '{"level":"panic","msg":"x"}',
        "panic: x",
        '{"level":"error","msg":"checksum mismatch"}',
        '{"level":"fatal","msg":"x"}',
    ],
)
def test_damage_in_etcd_s_own_log_is_a_failure(line: str) -> None:
    (finding,) = judged(etcd=f"2026-11-30T13:25:00Z stdout F {line}\n")
    assert finding.startswith("rke-cp02: etcd: ")


def test_damage_as_bytes_that_are_no_text() -> None:
    message = list(b"panic: \xff\xfe")
    assert judged(entry(message))


def test_what_happened_before_the_window_is_not_judged() -> None:
    assert judged(etcd="2026-11-30T13:00:00Z stderr F panic: old\n") == ()


@pytest.mark.parametrize(("at", "fails"), [(100, False), (129, False), (131, True)])
def test_persisting_may_fail_for_two_minutes_after_the_start(at: float, fails: bool) -> None:
    assert bool(judged(entry(logged("warning", "failed to start persisting x"), at))) is fails


def test_the_two_minutes_begin_anew_with_each_start() -> None:
    second = {"_SYSTEMD_INVOCATION_ID": "two"}
    persisting = logged("info", "failed to start persisting x")
    assert judged(entry("start", 400, **second), entry(persisting, 450, **second)) == ()
    (finding,) = judged(entry("start", 400, **second), entry(persisting, 530, **second))
    assert "130 s after its start" in finding


def test_a_restart_by_systemd_is_a_failure() -> None:
    (finding,) = judged(restarts=2)
    assert "NRestarts is 2, it was 0" in finding


@pytest.mark.parametrize(
    ("journal", "says"),
    [
        (Reply(""), "wrote not one line"),
        (Reply("-- No entries --\n"), "wrote not one line"),
        (
            Reply(entry("Started x.", _SYSTEMD_UNIT="init.scope", UNIT="rke2-server.service")),
            "wrote not one line",
        ),
        (Reply(f"{STARTED}\n{entry(7).replace(': 7', ': null')}\n"), "too long"),
    ],
)
def test_a_journal_that_proves_nothing(journal: Reply, says: str) -> None:
    with pytest.raises(Undecided, match=says):
        clean(read(journal=journal), LIMITS, 0)


@pytest.mark.parametrize(
    "etcd",
    [
        Reply("", "cat: '/var/log/pods/kube-system_etcd-*/etcd/*.log': No such file\n"),
        Reply(""),
        Reply("no container wrote this\n"),
        Reply("2026-11-30T13:00:00Z stderr F long ago\n"),
        Reply(silent="rke-cp02: no answer"),
    ],
)
def test_etcd_s_log_is_needed_too(etcd: Reply) -> None:
    with pytest.raises(Undecided, match="etcd"):
        clean(read(STARTED, etcd=etcd), LIMITS, 0)


def test_damage_is_found_although_etcd_s_log_cannot_be_read() -> None:
    assert clean(read(STARTED, entry("panic: x"), etcd=Reply("")), LIMITS, 0)


def test_a_log_of_etcd_that_does_not_reach_back_is_undecided() -> None:
    reply = Reply(ETCD * (8_000_000 // len(ETCD) + 1))
    journal = read(STARTED, etcd=reply)
    with pytest.raises(Undecided, match="more than 8,000,000 bytes"):
        clean(journal, LIMITS, 0)


def test_a_clean_restore_as_it_was_captured() -> None:
    """The error lines of a clean restore run, ten minutes later; one artefact of that build."""
    table = k3s.text("logs").partition("level tables: clean restore run no. 2")[2]
    lines = [
        line.split(" ", 2)[2] for line in map(str.strip, table.splitlines()) if ".." in line[:30]
    ]
    assert len(lines) > 25
    assert judged(*(entry(line, 60) for line in lines)) == ()


@pytest.mark.parametrize(
    "piece",
    [
        "newer than datastore and could cause a cluster outage",
        "duplicate node name found",
        "failed to purge wal file",
        "panic: tocommit(640) is out of range",
    ],
)
def test_captured_damage(piece: str) -> None:
    found = [
        line for name in ("reset", "logs") for line in k3s.text(name).splitlines() if piece in line
    ]
    assert found
    for line in found:
        assert judged(entry(line)), line


def test_the_quiet_time_is_a_limit() -> None:
    journal = read(STARTED, entry(logged("error", "x"), 590))
    assert clean(journal, replace(LIMITS, journal_quiet=5.0), 0) == ()
    with pytest.raises(Undecided):
        clean(journal, replace(LIMITS, journal_quiet=20.0), 0)


@given(st.text(max_size=60))
def test_hostile_lines_stay_harmless(text: str) -> None:
    findings = judged(entry(logged("error", f"the db {text} is damaged \x1b[2J")))
    assert all(finding.isprintable() for finding in findings)
