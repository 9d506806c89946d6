"""Connecting, losing and renewing: never a storm, never an exit code, always within the limit."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import asyncssh
import pytest

from fixtures.core.requests import HostCommand, Output, Silence
from selftests.remote.conftest import BASTION
from selftests.remote.sockets import (
    Behaviour,
    RawServer,
    Relay,
    hanging_up_after,
    reset,
    saying,
    silent,
)

if TYPE_CHECKING:
    import asyncio

    from fixtures.remote.asker import RemoteAsker
    from selftests.remote.conftest import Site

ALL = (BASTION, "rke-cp01", "rke-cp02")
AT_THE_DOOR = {
    "reset": reset,
    "closed": hanging_up_after(b""),
    "closed with a word": hanging_up_after(b"Exceeded MaxStartups\r\n"),
    "silent": silent,
    "banner, then silent": saying(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "banner, then closed": hanging_up_after(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "not SSH": hanging_up_after(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
}


def connect(asker: RemoteAsker, host: str) -> None:
    """Log in there without a hurry, before what is asked with a short limit."""
    request = HostCommand(host, "exit 0", 20)
    assert isinstance(asker.ask([request])[request], Output)


@pytest.fixture(params=AT_THE_DOOR.values(), ids=AT_THE_DOOR.keys())
def rude(request: pytest.FixtureRequest) -> Behaviour:
    behaviour: Behaviour = request.param
    return behaviour


def test_one_rebuff_at_the_bastion_s_door_is_answered_by_waiting_and_one_more_try(
    site: Site, rude: Behaviour
) -> None:
    relay = site.behind_relay(Relay(site.bastion.port, greetings=[rude]))
    # The command's limit has room for both connections, each with the whole of its own.
    asker = site.asker(connect=4, command=30)
    answers = asker.ask([HostCommand(host, "exit 0", 30) for host in ALL])
    assert {type(answer) for answer in answers.values()} == {Output}
    assert relay.accepted == 2
    assert any(
        "waiting 0.1 s before connecting to wetopi-ops01 again" in text for text in site.said
    )


def test_two_rebuffs_are_silence_for_the_rest_of_the_batch(site: Site, rude: Behaviour) -> None:
    raw = site.replaced_by(RawServer([rude]))
    asker = site.asker(connect=0.3, command=5)
    first = asker.ask([HostCommand(host, f"exit {n}", 5) for host in ALL for n in range(5)])
    later = asker.ask([HostCommand(host, "exit 9", 5) for host in ALL])
    for answer in [*first.values(), *later.values()]:
        assert isinstance(answer, Silence)
        assert f"{BASTION} (127.0.0.1 port {site.door})" in answer.reason
    assert raw.accepted == 2
    assert max(answer.seconds for answer in later.values()) < 0.3


def test_the_next_batch_may_try_again_but_not_sooner_than_the_back_off(site: Site) -> None:
    times: list[float] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        times.append(time.monotonic())
        await reset(reader, writer)

    site.replaced_by(RawServer([note]))
    asker = site.asker(command=5, reconnect_backoff=0.2)
    site.ask(asker, "exit 0")
    asker.forget()
    site.ask(asker, "exit 0")
    asker.refresh([HostCommand("rke-cp01", "exit 0", 5)])
    assert len(times) == 4
    assert min(after - before for before, after in pairwise(times)) >= 0.2


def test_a_port_that_nobody_listens_on_is_one_sentence(site: Site) -> None:
    site.bastion.stop()
    answer = site.ask(site.asker(), "exit 0")
    assert isinstance(answer, Silence)
    assert "cannot be reached (Connection refused)" in answer.reason


@pytest.mark.parametrize("greeting", [silent, saying(b"SSH-2.0-OpenSSH_9.2\r\n")])
def test_a_silent_bastion_is_silence_within_the_command_s_limit(
    site: Site, greeting: Behaviour
) -> None:
    site.replaced_by(RawServer([greeting]))
    answer = site.ask(site.asker(connect=30, command=0.4), "exit 0")
    assert isinstance(answer, Silence)
    assert "was not connected within 0.4 s" in answer.reason
    assert answer.seconds < 5


@pytest.mark.parametrize(
    ("forward", "word"),
    [
        (
            asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "No route to host"),
            "No route to host",
        ),
        (
            asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed"),
            "refuses the connection to 10.72.0.21 port 22 (open failed)",
        ),
        (None, "did not open the connection to 10.72.0.21 port 22 within 1.5 s"),
    ],
)
def test_a_node_that_cannot_be_reached_is_silence_and_the_others_answer(
    site: Site, forward: asyncssh.ChannelOpenError | None, word: str
) -> None:
    site.bastion.forwards["10.72.0.21", 22] = forward
    asker = site.asker(connect=1.5, command=20)
    answers = asker.ask([HostCommand(host, "exit 0", 20) for host in ALL])
    assert [type(answer) for answer in answers.values()] == [Output, Silence, Output]
    silence = answers[HostCommand("rke-cp01", "exit 0", 20)]
    assert isinstance(silence, Silence)
    assert word in silence.reason
    assert asker.bastion.connections == 1


@pytest.mark.parametrize("greeting", [silent, saying(b"SSH-2.0-OpenSSH_9.2\r\n"), reset])
def test_a_node_that_says_nothing_does_not_hold_up_the_others(
    site: Site, greeting: Behaviour
) -> None:
    raw = RawServer([greeting]).start()
    site.bastion.forwards["10.72.0.21", 22] = raw.port
    asker = site.asker(connect=1.5, command=20)
    requests = [HostCommand("rke-cp01", f"exit {n}", 20) for n in range(10)]
    requests += [HostCommand("rke-cp02", f"exit {n}", 20) for n in range(10)]
    answers = list(asker.ask(requests).values())
    assert {type(answer) for answer in answers[:10]} == {Silence}
    assert {type(answer) for answer in answers[10:]} == {Output}
    assert raw.accepted == 1
    raw.stop()


def test_a_bastion_that_freezes_when_a_session_is_opened(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    asker = site.asker(connect=5, command=0.4)
    connect(asker, "rke-cp01")
    relay.freeze()
    answer = site.ask(asker, "exit 1", BASTION)
    assert isinstance(answer, Silence)
    assert f"{BASTION} " in answer.reason
    assert "did not open a session within 0.4 s" in answer.reason


def test_a_bastion_that_freezes_in_mid_command(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    asker = site.asker(command=0.4)
    connect(asker, BASTION)
    request = HostCommand(BASTION, "freeze", 0.4)
    site.bastion.behaviours["freeze"] = relay.frozen.set
    answer = asker.ask([request])[request]
    assert isinstance(answer, Silence)
    assert "`freeze` did not end within 0.4 s" in answer.reason


def test_a_peer_that_dies_while_nothing_is_asked_is_noticed(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    asker = site.asker(connect=1.5)
    site.ask(asker, "exit 0", BASTION)
    connection = asker.bastion.host(BASTION).link.live
    assert connection is not None
    relay.freeze()
    connection.join(10)
    assert not connection.is_active()
    assert "no sign of life for 1.5 s" in connection.obituary
    relay.thaw()
    assert isinstance(site.ask(asker, "exit 1", BASTION), Output)
    assert asker.bastion.connections == 2


def test_a_quiet_but_living_connection_is_kept(site: Site) -> None:
    asker = site.asker(connect=1.5, command=20)
    answer = site.ask(asker, "sleep 3.5", "rke-cp01")
    assert isinstance(answer, Output)
    assert asker.bastion.connections == 1


def test_a_lost_bastion_is_silence_for_what_ran_and_is_renewed_for_what_comes(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    asker = site.asker(command=5)
    site.ask(asker, "exit 0")
    site.cp01.behaviours["break"] = relay.cut_soon
    answer = site.ask(asker, "break")
    assert isinstance(answer, Silence)
    assert "the connection was lost after" in answer.reason
    assert "not sent again" in answer.reason
    assert isinstance(site.ask(asker, "exit 1"), Output)
    assert site.cp01.commands == ["exit 0", "break", "exit 1"]
    assert asker.bastion.connections == 2


def test_a_connection_that_is_lost_again_and_again_is_renewed_once_per_batch(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    asker = site.asker(command=5)
    reasons = []
    for n in range(5):
        site.bastion.behaviours[f"break {n}"] = relay.cut_soon
        answer = site.ask(asker, f"break {n}", BASTION)
        assert isinstance(answer, Silence)
        reasons.append(answer.reason)
    assert asker.bastion.connections == 2
    assert all("it was already renewed once" in reason for reason in reasons[2:])
    asker.forget()
    assert isinstance(site.ask(asker, "exit 0", BASTION), Output)


def test_a_connection_lost_between_two_questions_is_renewed_without_a_word(site: Site) -> None:
    asker = site.asker(command=5)
    site.ask(asker, "exit 0")
    site.cp01.drop_connections()
    assert isinstance(site.ask(asker, "exit 1"), Output)
    assert site.cp01.commands == ["exit 0", "exit 1"]
    assert asker.bastion.connections == 1


def test_closing_ends_everything_and_says_so(site: Site) -> None:
    asker = site.asker()
    site.ask(asker, "exit 0")
    asker.close()
    answer = site.ask(asker, "exit 1")
    assert isinstance(answer, Silence)
    assert "closed by this run" in answer.reason
