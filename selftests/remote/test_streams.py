"""Streams through the bastion that live longer than one request, and signs of life beside them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from fixtures.remote import http
from fixtures.remote.deadline import Deadline
from fixtures.remote.errors import LinkError, SilentError
from selftests.remote.conftest import BASTION
from selftests.remote.sockets import RawServer, Relay

if TYPE_CHECKING:
    import asyncio

    from selftests.remote.conftest import Site

VIP = ("10.72.0.20", 6443)


def test_a_round_trip_leaves_no_trace(site: Site) -> None:
    link = site.link(connect=10)
    for _ in range(3):
        link.round_trip(10)
    assert link.connections == 1
    assert link.commands == 0
    assert site.bastion.commands == []


def test_many_round_trips_at_once_all_come_back(site: Site) -> None:
    link = site.link(connect=10)
    link.round_trip(10)
    threads = [threading.Thread(target=link.round_trip, args=(10,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    connection = link.host(BASTION).link.live
    assert connection is not None
    assert not connection._signs


def test_a_short_silence_is_told_and_ends_nothing(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    link = site.link(connect=10)
    link.round_trip(10)
    relay.freeze()
    with pytest.raises(SilentError, match=r"no sign of life within 0\.2 s"):
        link.round_trip(0.2)
    with pytest.raises(SilentError, match=r"did not open the connection .* within 0\.2 s"):
        link.channel(*VIP, 0.2)
    connection = link.host(BASTION).link.live
    assert connection is not None
    assert connection.is_active()
    assert link.connections == 1


def test_a_long_silence_ends_the_connection(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    link = site.link(connect=2)
    link.round_trip(10)
    connection = link.host(BASTION).link.live
    assert connection is not None
    relay.freeze()
    with pytest.raises(LinkError):
        link.round_trip(5)
    connection.join(10)
    assert not connection.is_active()


def test_a_round_trip_after_a_cut_uses_a_new_connection(site: Site) -> None:
    relay = site.behind_relay(Relay(site.bastion.port))
    link = site.link(connect=10)
    link.round_trip(10)
    relay.cut()
    link.round_trip(10)
    assert link.connections == 2


def test_a_stream_that_opens_too_late_is_closed(site: Site) -> None:
    opened, ended = threading.Event(), threading.Event()

    async def note(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        opened.set()
        await reader.read()
        ended.set()

    raw = RawServer([note]).start()
    site.bastion.forwards[VIP] = raw.port
    relay = site.behind_relay(Relay(site.bastion.port))
    link = site.link(connect=10)
    link.round_trip(10)
    relay.delay = 0.2
    with pytest.raises(SilentError):
        link.channel(*VIP, 0.1)
    assert opened.wait(10)
    assert ended.wait(10)
    raw.stop()


class Scripted:
    """A TLS stream that says what it is told and notes what it is sent."""

    def __init__(self, *said: bytes) -> None:
        self.said = list(said)
        self.sent = b""

    def send(self, data: bytes, _deadline: Deadline) -> None:
        self.sent += data

    def receive(self, size: int, _deadline: Deadline) -> bytes:
        data = self.said.pop(0) if self.said else b""
        assert len(data) <= size
        return data


def ask(stream: Scripted, *, keep: bool) -> http.Reply:
    return http.get(stream, "10.72.0.20:6443", "/readyz", Deadline(5), keep=keep)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "keep", "kept"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", True, True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", False, False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", True, True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", True, False),
        (b"HTTP/1.1 200 OK\r\n\r\nok", True, False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", True, False),
    ],
)
def test_which_answers_leave_the_stream_usable(answer: bytes, keep: bool, kept: bool) -> None:
    for said in ([answer], [answer[n : n + 1] for n in range(len(answer))]):
        stream = Scripted(*said)
        assert ask(stream, keep=keep) == http.Reply(200, b"ok", kept)
        assert (b"Connection: keep-alive" in stream.sent) is keep


def test_two_requests_over_one_stream() -> None:
    stream = Scripted(
        b"HTTP/1.1 500 X\r\nContent-Length: 3\r\n\r\nbad",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    )
    assert ask(stream, keep=True) == http.Reply(500, b"bad", kept=True)
    assert ask(stream, keep=True) == http.Reply(200, b"ok", kept=True)
    with pytest.raises(http.CutShortError):
        ask(stream, keep=True)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok",
        b"",
    ],
)
def test_an_answer_cut_short_is_told_apart(answer: bytes) -> None:
    with pytest.raises(http.CutShortError):
        ask(Scripted(answer), keep=True)
