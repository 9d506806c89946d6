"""What comes back of a command: both streams, the exit code, or the reason for silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import HostCommand, Output, Silence
from selftests.remote.conftest import BASTION

if TYPE_CHECKING:
    from selftests.remote.conftest import Site

MIB = 1024 * 1024


@pytest.mark.parametrize("host", [BASTION, "rke-cp01"])
@pytest.mark.parametrize("code", [0, 1, 255])
def test_streams_and_exit_code_are_kept_apart(site: Site, host: str, code: int) -> None:
    answer = site.ask(site.asker(), f"exit {code}", host)
    assert isinstance(answer, Output)
    assert (answer.rc, answer.stdout, answer.stderr, answer.cut) == (code, b"out\n", b"err\n", 0)


def test_exit_code_255_of_a_command_is_its_answer_not_a_broken_connection(site: Site) -> None:
    asker = site.asker()
    assert isinstance(site.ask(asker, "exit 255"), Output)
    assert isinstance(site.ask(asker, "exit 0"), Output)
    assert asker.bastion.connections == 1


@pytest.mark.parametrize("refusals", [0, 3])
def test_a_session_that_is_still_being_cleared_away_is_waited_for(
    site: Site, refusals: int
) -> None:
    site.bastion.crowded = refusals
    assert isinstance(site.ask(site.asker(), "exit 0", BASTION), Output)


def test_a_host_that_opens_no_session_at_all_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fixtures.remote.connection._CROWDED", 0.1)
    site.bastion.crowded = 1000
    answer = site.ask(site.asker(), "exit 0", BASTION)
    assert isinstance(answer, Silence)
    assert "opens no session (open failed): see its sshd log and MaxSessions" in answer.reason
    assert site.bastion.commands == []


def test_four_mebibytes_of_stderr_do_not_block(site: Site) -> None:
    answer = site.ask(site.asker(command=10), f"err {4 * MIB}")
    assert isinstance(answer, Output)
    assert (answer.rc, len(answer.stderr), answer.cut) == (0, 4 * MIB, 0)


def test_both_streams_are_drained_together(site: Site) -> None:
    answer = site.ask(site.asker(command=10), f"both {3 * MIB} {3 * MIB}")
    assert isinstance(answer, Output)
    assert (len(answer.stdout), len(answer.stderr)) == (3 * MIB, 3 * MIB)


def test_beyond_the_cap_bytes_are_counted_and_dropped(site: Site) -> None:
    answer = site.ask(site.asker(command=30, read_cap_bytes=MIB), f"out {50 * MIB}", BASTION)
    assert isinstance(answer, Output)
    assert (answer.rc, len(answer.stdout), answer.cut) == (0, MIB, 49 * MIB)


def test_the_cap_counts_both_streams_together(site: Site) -> None:
    answer = site.ask(site.asker(command=10, read_cap_bytes=1000), "both 800 800")
    assert isinstance(answer, Output)
    assert (len(answer.stdout) + len(answer.stderr), answer.cut) == (1000, 600)


def test_bytes_that_are_not_utf_8_are_kept_as_they_came(site: Site) -> None:
    answer = site.ask(site.asker(), "out 3")
    assert isinstance(answer, Output)
    assert answer.stdout == b"\xff\xff\xff"


def test_nothing_is_on_standard_input(site: Site) -> None:
    answer = site.ask(site.asker(), "cat")
    assert isinstance(answer, Output)
    assert (answer.rc, answer.stdout) == (0, b"")


@pytest.mark.parametrize("command", ["hang", "spin"])
def test_a_process_that_never_ends_is_silence_within_its_limit(site: Site, command: str) -> None:
    asker = site.asker(command=2)
    answer = site.ask(asker, command)
    assert isinstance(answer, Silence)
    assert "rke-cp01" in answer.reason
    assert f"`{command}` did not end within 2 s" in answer.reason
    assert answer.seconds < 5
    assert isinstance(site.ask(asker, "exit 0"), Output)
    assert asker.bastion.connections == 1


def test_a_process_that_never_ends_is_asked_to_end(site: Site) -> None:
    assert isinstance(site.ask(site.asker(command=2), "wait-for-signal"), Silence)
    deadline_free = site.asker(command=20)
    site.ask(deadline_free, "exit 0")
    assert list(site.cp01.signals) == ["TERM"]


@pytest.mark.parametrize(("name", "code"), [("KILL", 137), ("SEGV", 139)])
def test_the_end_by_a_signal_is_reported_as_a_shell_does(site: Site, name: str, code: int) -> None:
    answer = site.ask(site.asker(), f"kill {name}")
    assert isinstance(answer, Output)
    assert answer.rc == code


def test_a_session_closed_without_an_exit_code_is_silence(site: Site) -> None:
    asker = site.asker()
    answer = site.ask(asker, "vanish")
    assert isinstance(answer, Silence)
    assert "`vanish` ended without an exit code" in answer.reason
    assert isinstance(site.ask(asker, "exit 0"), Output)
    assert asker.bastion.connections == 1


def test_a_link_cut_in_mid_command_is_silence_and_the_command_is_not_sent_again(
    site: Site,
) -> None:
    asker = site.asker(command=5)
    answer = site.ask(asker, "cut")
    assert isinstance(answer, Silence)
    assert "rke-cp01" in answer.reason
    assert "the connection was lost after" in answer.reason
    assert "not sent again" in answer.reason
    assert site.cp01.commands == ["cut"]
    assert isinstance(site.ask(asker, "exit 0"), Output)
    assert site.cp01.commands == ["cut", "exit 0"]


def test_an_account_without_commands_is_silence(site: Site) -> None:
    site.cp01.runs_commands = False
    answer = site.ask(site.asker(), "exit 0")
    assert isinstance(answer, Silence)
    assert "may not run commands" in answer.reason


def test_at_most_eight_commands_at_once_over_all_hosts(site: Site) -> None:
    asker = site.asker(command=10)
    requests = [
        HostCommand(host, f"out {n}", 10)
        for n in range(1, 25)
        for host in (BASTION, "rke-cp01", "rke-cp02")
    ]
    answers = asker.ask(requests)
    assert [a.reason for a in answers.values() if isinstance(a, Silence)] == []
    assert site.bastion.gauge.most <= 8
    assert asker.bastion.connections == 1
    assert asker.bastion.commands == len(requests)


def test_waiting_for_a_turn_is_not_counted_against_a_command(site: Site) -> None:
    asker = site.asker(parallel_commands=1)
    site.cp01.answers = {f"n{n}": (0, b"", b"") for n in range(5)}
    requests = [HostCommand("rke-cp01", "hang", 0.4)]
    requests += [HostCommand("rke-cp01", f"n{n}", 0.4) for n in range(5)]
    answers = asker.ask(requests)
    assert [type(answer) for answer in answers.values()] == [Silence, *[Output] * 5]
