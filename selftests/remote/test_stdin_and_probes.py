"""What a command reads, and whether an address accepts connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncssh
import pytest

from fixtures.applylog import evidence
from fixtures.core.requests import HostCommand, Opened, Output, Refusal, Silence, TcpProbe
from selftests.remote.conftest import BASTION
from selftests.remote.sockets import RawServer, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fixtures.core.requests import Answer
    from fixtures.remote.asker import RemoteAsker
    from selftests.remote.conftest import Site

NODE = "10.72.0.22"
MIB = 1024 * 1024


def fed(site: Site, line: str, stdin: bytes, host: str = BASTION, limit: float = 5) -> Answer:
    request = HostCommand(host, line, limit, stdin=stdin)
    return site.asker().ask([request])[request]


@pytest.mark.parametrize("host", [BASTION, "rke-cp01"])
@pytest.mark.parametrize("stdin", [b"", b"one\ntwo\x00\xff", b"x" * MIB])
def test_a_command_reads_its_stdin_to_the_end(site: Site, host: str, stdin: bytes) -> None:
    answer = fed(site, "cat", stdin, host, 10)
    assert isinstance(answer, Output)
    assert (answer.rc, answer.stdout) == (0, stdin)


def test_without_stdin_a_command_reads_nothing(site: Site) -> None:
    answer = site.ask(site.asker(), "cat", BASTION)
    assert isinstance(answer, Output)
    assert answer.stdout == b""


def test_a_command_that_never_reads_is_answered_all_the_same(site: Site) -> None:
    answer = fed(site, "exit 3", b"x" * 4 * MIB)
    assert isinstance(answer, Output)
    assert answer.rc == 3


def test_a_command_that_takes_no_input_is_silence_in_time(site: Site) -> None:
    answer = fed(site, "hold", b"x" * 8 * MIB, limit=0.4)
    assert isinstance(answer, Silence)
    assert "`hold` did not take its input within 0.4 s" in answer.reason


def test_stdin_is_shown_nowhere(site: Site) -> None:
    request = HostCommand(BASTION, "exit 0", 5, stdin=b"hush")
    asker = site.asker()
    asker.ask([request])
    assert "hush" not in repr(request)
    assert "hush" not in repr(evidence.of(asker.used(), 1000))


def test_a_command_is_another_one_with_another_stdin(site: Site) -> None:
    asker = site.asker()
    for stdin in (b"one", b"two"):
        request = HostCommand(BASTION, "cat", 5, stdin=stdin)
        answer = asker.ask([request])[request]
        assert isinstance(answer, Output)
        assert answer.stdout == stdin


@pytest.fixture
def door() -> Iterator[RawServer]:
    server = RawServer([silent]).start()
    yield server
    server.stop()


def probed(site: Site, asker: RemoteAsker | None = None, limit: float = 1.0) -> Answer:
    request = TcpProbe(NODE, 2379, limit)
    return (asker or site.asker()).ask([request])[request]


def test_an_open_port(site: Site, door: RawServer) -> None:
    site.bastion.forwards[NODE, 2379] = door.port
    answer = probed(site)
    assert isinstance(answer, Opened)
    (entry,) = evidence.of([answer], 1000)
    assert entry | {"seconds": 0, "at": ""} == {
        "host": NODE,
        "request": "TCP 2379",
        "opened": True,
        "seconds": 0,
        "at": "",
    }


@pytest.mark.parametrize("word", ["Connection refused", "No route to host", "Connection timed out"])
def test_a_refusal_has_the_bastion_s_own_words(site: Site, word: str) -> None:
    site.bastion.forwards[NODE, 2379] = asyncssh.ChannelOpenError(
        asyncssh.OPEN_CONNECT_FAILED, word
    )
    answer = probed(site)
    assert isinstance(answer, Refusal)
    assert answer.reason == word
    (entry,) = evidence.of([answer], 1000)
    assert (entry["refused"], entry["opened"]) == (word, False)


def test_a_forward_that_is_forbidden_says_nothing_about_the_port(site: Site) -> None:
    site.bastion.forwards[NODE, 2379] = asyncssh.ChannelOpenError(
        asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed"
    )
    answer = probed(site)
    assert isinstance(answer, Silence)
    assert f"refuses the connection to {NODE} port 2379" in answer.reason


def test_a_dropped_connection_attempt_is_silence_in_time(site: Site) -> None:
    site.bastion.forwards[NODE, 2379] = None
    answer = probed(site, limit=0.3)
    assert isinstance(answer, Silence)
    assert f"did not open the connection to {NODE} port 2379 within 0.3 s" in answer.reason
    (entry,) = evidence.of([answer], 1000)
    assert entry["unanswered"] == answer.reason


def test_an_unreachable_bastion_is_silence(site: Site) -> None:
    site.bastion.stop()
    answer = probed(site)
    assert isinstance(answer, Silence)
    assert BASTION in answer.reason


def test_a_probe_can_be_repeated(site: Site, door: RawServer) -> None:
    asker = site.asker()
    assert isinstance(probed(site, asker), Refusal)
    site.bastion.forwards[NODE, 2379] = door.port
    assert isinstance(probed(site, asker), Refusal)
    (answer,) = asker.refresh([TcpProbe(NODE, 2379, 1.0)]).values()
    assert isinstance(answer, Opened)
