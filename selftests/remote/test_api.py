"""GETs to the API through the bastion: an answer, a refusal, or silence."""

from __future__ import annotations

import asyncio

import asyncssh
import pytest

from fixtures.core.requests import ApiGet, Refusal, Response, Silence
from fixtures.remote.http import BODY_CAP
from selftests.remote.sockets import RawServer, hanging_up_after, reset, silent
from selftests.remote.stand import OK, VIP, Stand, saying


def test_an_answer_with_its_status_and_body(stand: Stand) -> None:
    api = stand.serve(saying(OK))
    answer = stand.get()
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (200, b"ok")
    (head,) = api.heads
    assert head.startswith(b"GET /readyz HTTP/1.1\r\nHost: 10.72.0.20:6443\r\n")


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_bad_status_is_an_answer(stand: Stand, status: int) -> None:
    stand.serve(saying(f"HTTP/1.1 {status} Nope\r\nContent-Length: 4\r\n\r\nnope".encode()))
    answer = stand.get()
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (status, b"nope")


@pytest.mark.parametrize(
    "framing",
    [
        b"Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\n\r\n",
        b"Connection: close\r\n\r\nok",
        b"content-length: 2\r\nX-Long: " + b"x" * 8000 + b"\r\n\r\nok",
    ],
    ids=["chunked", "until close", "long header"],
)
def test_every_framing_of_a_body(stand: Stand, framing: bytes) -> None:
    stand.serve(saying(b"HTTP/1.1 200 OK\r\n" + framing))
    answer = stand.get()
    assert isinstance(answer, Response)
    assert answer.body == b"ok"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (b"", "closed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok", "cut short"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nok", "cut short"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "not an HTTP answer"),
        (b"HTTP/1.1 banana\r\n\r\n", "not an HTTP answer"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70000 + b"\r\n\r\n", "not an HTTP answer"),
    ],
    ids=["nothing", "short", "short chunk", "ssh", "bad status", "endless header"],
)
def test_what_is_no_complete_http_answer_is_a_refusal(
    stand: Stand, answer: bytes, word: str
) -> None:
    stand.serve(saying(answer))
    refusal = stand.get()
    assert isinstance(refusal, Refusal)
    assert word in refusal.reason
    assert "10.72.0.20:6443, asked from wetopi-ops01" in refusal.reason


def test_an_endless_body_is_not_judged(stand: Stand) -> None:
    size = BODY_CAP + 1
    stand.serve(saying(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * size))
    answer = stand.get(limit=20)
    assert isinstance(answer, Silence)
    assert f"a body of more than {BODY_CAP} bytes" in answer.reason


@pytest.mark.parametrize(
    "reason", ["Connection refused", "No route to host", "Connection timed out"]
)
def test_a_connection_that_the_bastion_cannot_make_is_a_refusal(stand: Stand, reason: str) -> None:
    stand.site.bastion.forwards[VIP, 6443] = asyncssh.ChannelOpenError(
        asyncssh.OPEN_CONNECT_FAILED, reason
    )
    answer = stand.get()
    assert isinstance(answer, Refusal)
    assert reason in answer.reason


def test_forwarding_that_is_forbidden_is_silence(stand: Stand) -> None:
    stand.site.bastion.forwards[VIP, 6443] = asyncssh.ChannelOpenError(
        asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed"
    )
    answer = stand.get()
    assert isinstance(answer, Silence)
    assert "refuses the connection to 10.72.0.20 port 6443" in answer.reason


def test_concurrent_refusals_keep_their_own_reasons(stand: Stand) -> None:
    addresses = [f"10.72.0.{n}" for n in range(100, 120)]
    for n, address in enumerate(addresses):
        stand.site.bastion.forwards[address, 6443] = asyncssh.ChannelOpenError(
            asyncssh.OPEN_CONNECT_FAILED, f"reason {n}."
        )
    requests = [ApiGet(address, "/readyz", 5) for address in addresses]
    answers = stand.asker(command=5).ask(requests)
    for n, request in enumerate(requests):
        refusal = answers[request]
        assert isinstance(refusal, Refusal)
        assert f"reason {n}." in refusal.reason


@pytest.mark.parametrize(
    "behaviour",
    [hanging_up_after(b"HTTP/1.1 400 Bad Request\r\n\r\n"), hanging_up_after(b""), reset],
    ids=["plain HTTP", "closed", "reset"],
)
def test_what_speaks_no_tls_is_a_refusal(stand: Stand, behaviour: object) -> None:
    raw = RawServer([behaviour]).start()  # type: ignore[list-item]
    stand.site.bastion.forwards[VIP, 6443] = raw.port
    answer = stand.get()
    raw.stop()
    assert isinstance(answer, Refusal)


def test_silence_at_every_stage_ends_within_the_limit(stand: Stand) -> None:
    raw = RawServer([silent]).start()

    async def stall(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(OK[:-1])
        await asyncio.sleep(3600)

    asker = stand.asker(command=5)
    stand.site.bastion.forwards[VIP, 6443] = None
    assert isinstance(stand.get(asker, 0.3), Silence)
    stand.site.bastion.forwards[VIP, 6443] = raw.port
    assert isinstance(stand.get(asker, 0.31), Silence)
    stand.serve(stall)
    answer = stand.get(asker, 0.32)
    assert isinstance(answer, Silence)
    assert "GET /readyz: no answer within 0.32 s" in answer.reason
    assert asker.bastion.connections == 1
    raw.stop()


def test_a_bastion_lost_in_mid_answer_is_silence(stand: Stand) -> None:
    async def cut(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(OK[:-1])
        await writer.drain()
        for connection in stand.site.bastion.connections:
            connection.abort()
        await asyncio.sleep(3600)

    stand.serve(cut)
    answer = stand.get()
    assert isinstance(answer, Silence)
    assert "the connection was lost" in answer.reason
