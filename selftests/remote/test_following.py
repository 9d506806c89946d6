"""A command that is followed: its lines as they come, and no command left behind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.requests import HostCommand, Output, Silence
from fixtures.remote.following import Lines
from selftests.remote.conftest import BASTION
from selftests.remote.shells import ShellHost

if TYPE_CHECKING:
    from pathlib import Path

    from selftests.remote.conftest import Site

SLOW = "for i in 1 2 3; do echo line $i; sleep 0.3; done; printf end; echo bad >&2; exit 3"


def shell(site: Site, folder: Path) -> ShellHost:
    site.bastion.stop()
    accepted = [site.user_key.convert_to_public()]
    host = ShellHost(site.bastion.host_keys, accepted, home=folder / "home")
    host.start()
    site.bastion = host
    site.write_known_hosts()
    return host


def command(line: str, limit: float = 5.0) -> HostCommand:
    return HostCommand(BASTION, line, limit)


def test_lines_come_while_the_command_runs(site: Site, tmp_path: Path) -> None:
    shell(site, tmp_path)
    asker, told = site.asker(), list[tuple[float, str | None]]()
    began = time.monotonic()
    answer = asker.follow(command(SLOW), lambda line: told.append((time.monotonic(), line)))
    lines = [line for _, line in told if line is not None]
    assert lines == ["line 1", "line 2", "line 3", "end"]
    assert told[0][0] - began < told[-1][0] - began - 0.5
    assert None in [line for _, line in told]
    assert isinstance(answer, Output)
    assert (answer.rc, answer.stdout, answer.stderr) == (
        3,
        b"line 1\nline 2\nline 3\nend",
        b"bad\n",
    )
    assert asker.used() == [answer]


def test_the_same_is_sent_each_time(site: Site) -> None:
    asker = site.asker()
    for _ in range(2):
        asker.follow(command("exit 0"), lambda _line: None)
    assert site.bastion.commands == ["exit 0", "exit 0"]


def test_what_is_beyond_the_cap_is_told_all_the_same(site: Site, tmp_path: Path) -> None:
    shell(site, tmp_path)
    told: list[str | None] = []
    answer = site.asker(read_cap_bytes=10).follow(command("seq 1 1000"), told.append)
    assert isinstance(answer, Output)
    assert (answer.stdout, answer.cut) == (b"1\n2\n3\n4\n5\n", 3883)
    assert [line for line in told if line is not None] == [str(n) for n in range(1, 1001)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interruption_ends_the_command(site: Site, error: type[BaseException]) -> None:
    def interrupted(_line: str | None) -> None:
        if site.bastion.started.is_set():
            raise error

    asker = site.asker()
    with pytest.raises(error):
        asker.follow(command("wait-for-signal"), interrupted)
    again = asker.ask([command("exit 0")])[command("exit 0")]
    assert isinstance(again, Output)
    until = time.monotonic() + 5
    while not site.bastion.signals and time.monotonic() < until:
        time.sleep(0.02)
    assert list(site.bastion.signals) == ["TERM"]
    assert asker.bastion.connections == 1


def test_an_interruption_before_it_is_sent_keeps_it_from_being_sent(site: Site) -> None:
    asker = site.asker(command=1, parallel_commands=1)
    link = asker.bastion
    with link._slots, pytest.raises(KeyboardInterrupt):
        asker.follow(command("exit 0"), lambda _line: (_ for _ in ()).throw(KeyboardInterrupt))
    time.sleep(0.3)
    assert site.bastion.commands == []


def test_silence_has_a_reason(site: Site) -> None:
    answer = site.asker().follow(command("hang", limit=0.5), lambda _line: None)
    assert isinstance(answer, Silence)
    assert "did not end within 0.5 s (4 bytes of output so far)" in answer.reason
    answer = site.asker().follow(command("cut"), lambda _line: None)
    assert isinstance(answer, Silence)
    assert "the connection was lost" in answer.reason


@given(st.lists(st.binary(max_size=30)))
def test_lines_do_not_depend_on_how_the_bytes_come(pieces: list[bytes]) -> None:
    lines, whole = Lines(), Lines()
    told = [line for piece in pieces for line in lines.taken(piece)] + lines.rest()
    assert told == whole.taken(b"".join(pieces)) + whole.rest()


def test_a_line_without_end_is_told_in_pieces() -> None:
    lines = Lines()
    told = [line for _ in range(5) for line in lines.taken(b"." * 40_000)]
    assert [len(line) for line in told] == [80_000, 80_000]
    assert lines.rest() == ["." * 40_000]
