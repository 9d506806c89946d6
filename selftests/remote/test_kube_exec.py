"""Programs in containers: both streams, the exit code, and what is none."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.requests import Executed, KubeExec, KubeGet, Refusal, Response, Silence
from fixtures.remote.errors import LinkError
from fixtures.remote.kube.program import Run
from selftests.remote.kube_stand import (
    ETCD,
    SUCCESS,
    Asked,
    KubeStand,
    answering,
    exit_code,
    saying,
    silent,
)

if TYPE_CHECKING:
    from selftests.remote.kube_stand import Handler


def running(*frames: bytes, status: Any = SUCCESS, protocol: str = "v5.channel.k8s.io") -> Handler:
    """A program that says this and ends so."""

    async def handler(asked: Asked) -> None:
        await asked.upgrade(protocol)
        for frame in frames:
            await asked.frame(frame)
        if status is not None:
            await asked.status(status)
        await asked.goodbye()
        asked.writer.close()

    return handler


def test_a_program_and_how_it_was_asked_for(kube: KubeStand) -> None:
    api = kube.serve(running(b"\x01out", b"\x02err", b"\x01\xff\xfe", b"\xff\x01", b"\x00", b""))
    answer = kube.execute("sh", "-c", "echo 'a b' & 100%")
    assert isinstance(answer, Executed)
    assert (answer.rc, answer.stdout, answer.stderr, answer.cut) == (0, b"out\xff\xfe", b"err", 0)
    (asked,) = api.asked
    url = urlsplit(asked.line.removeprefix("GET "))
    assert url.path == "/api/v1/namespaces/kube-system/pods/etcd-rke-cp01/exec"
    assert parse_qsl(url.query) == [
        ("command", "sh"),
        ("command", "-c"),
        ("command", "echo 'a b' & 100%"),
        ("container", "etcd"),
        ("stdout", "true"),
        ("stderr", "true"),
    ]
    assert b"Sec-WebSocket-Protocol: v5.channel.k8s.io,v4.channel.k8s.io" in asked.head
    assert b"Origin:" not in asked.head


@pytest.mark.parametrize("code", [1, 3, 126, 127, 137, 255])
def test_an_exit_code_is_an_answer(kube: KubeStand, code: int) -> None:
    kube.serve(running(b"\x02no", status=exit_code(str(code)), protocol="v4.channel.k8s.io"))
    answer = kube.execute()
    assert isinstance(answer, Executed)
    assert (answer.rc, answer.stderr) == (code, b"no")


def test_four_megabytes_of_stderr_beside_an_answer(kube: KubeStand) -> None:
    kube.serve(running(*[b"\x02" + b"e" * 65536] * 64, b"\x01fine"))
    answer = kube.execute(limit=20)
    assert isinstance(answer, Executed)
    assert (answer.stdout, len(answer.stderr)) == (b"fine", 64 * 65536)


def test_what_is_beyond_the_cap_is_counted(kube: KubeStand) -> None:
    kube.serve(running(*[b"\x01" + b"o" * 1000] * 20, b"\x02" + b"e" * 1000))
    answer = kube.execute(asker=kube.asker(read_cap_bytes=5500))
    assert isinstance(answer, Executed)
    assert (len(answer.stdout), answer.stderr, answer.cut) == (5500, b"", 15500)


@pytest.mark.parametrize(
    "status",
    [
        {"status": "Failure", "reason": "InternalError", "message": "not found", "code": 500},
        {"status": "Failure", "message": "error dialing backend"},
    ],
)
def test_a_program_that_did_not_start_is_the_apis_refusal(kube: KubeStand, status: Any) -> None:
    kube.serve(running(status=status))
    answer = kube.execute()
    assert isinstance(answer, Response)
    assert answer.status == 500
    assert json.loads(answer.body) == status


@pytest.mark.parametrize(
    ("answered", "seen"),
    [(302, 302), (307, 307), (400, 400), (401, 401), (403, 403), (404, 404), (500, 500)],
)
def test_a_refusal_before_it_begins_is_an_answer(kube: KubeStand, answered: int, seen: int) -> None:
    extra = "Location: https://10.72.0.20:6443/elsewhere\r\n"
    api = kube.serve(answering(b'{"message": "no"}', answered, extra))
    answer = kube.execute()
    assert isinstance(answer, Response)
    assert answer.status == seen
    assert answer.body in (b"", b'{"message": "no"}')
    assert len(api.asked) == 1


async def _vanishing(asked: Asked) -> None:
    await asked.upgrade()
    await asked.frame(b"\x01half")
    asked.writer.close()


async def _half_a_frame(asked: Asked) -> None:
    await asked.upgrade()
    await asked.say(b"\x82\x7e\xff\xff\x01half")
    asked.writer.close()


async def _garbage(asked: Asked) -> None:
    await asked.upgrade()
    await asked.say(b"\xff" * 100)
    asked.writer.close()


@pytest.mark.parametrize(
    "handler",
    [running(b"\x01all", status=None), _vanishing, _half_a_frame, _garbage],
    ids=["closed", "vanished", "cut", "garbage"],
)
def test_a_lost_status_is_no_exit_code(kube: KubeStand, handler: Handler) -> None:
    api = kube.serve(handler)
    answer = kube.execute()
    assert isinstance(answer, Silence)
    assert "how the program ended was not reported" in answer.reason
    assert "exec kube-system/etcd-rke-cp01 -c etcd -- etcdctl, 10.72.0.20:6443" in answer.reason
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    "status",
    [
        None,
        [],
        {},
        "x",
        *map(exit_code, ("x", "0", "-1", None)),
        {"status": "Failure", "reason": "NonZeroExitCode"},
    ],
)
def test_a_status_in_other_words_is_no_exit_code(kube: KubeStand, status: Any) -> None:
    async def handler(asked: Asked) -> None:
        await asked.upgrade()
        await asked.status(status)
        await asked.goodbye()

    kube.serve(handler)
    answer = kube.execute()
    assert isinstance(answer, Silence)
    assert "reported in words that are not known" in answer.reason


@given(st.binary(max_size=200))
def test_no_status_is_ever_more_than_it_says(status: bytes) -> None:
    found = Run(1000)
    found.take(b"\x03" + status)
    try:
        rc = found.rc
    except LinkError:
        return
    assert rc is None or b'"Success"' in status or b"NonZeroExitCode" in status


@pytest.mark.parametrize(
    "handler",
    [
        saying(b""),
        saying(b"SSH-2.0\r\n\r\n"),
        saying(b"HTTP/1.1 101 X\r\n\r\n"),
        answering(b"{}", 200),
        running(protocol="v9.channel.k8s.io"),
    ],
    ids=["closed", "ssh", "no websocket", "ok", "other protocol"],
)
def test_what_speaks_no_exec_is_never_a_program(kube: KubeStand, handler: Handler) -> None:
    kube.serve(handler)
    assert isinstance(kube.execute(limit=2), Refusal | Response | Silence)


def test_a_status_in_pieces_and_pings_between(kube: KubeStand) -> None:
    async def handler(asked: Asked) -> None:
        await asked.upgrade()
        await asked.frame(b"?", opcode=9)
        await asked.frame(b"\x03" + b'{"status":', final=False)
        await asked.frame(b"?", opcode=9)
        await asked.frame(b'"Success"}', opcode=0)
        await asked.goodbye()

    kube.serve(handler)
    answer = kube.execute()
    assert isinstance(answer, Executed)


def test_a_server_that_never_closes_after_the_status(
    kube: KubeStand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def handler(asked: Asked) -> None:
        await asked.upgrade()
        await asked.status(SUCCESS)
        await silent(asked)

    monkeypatch.setattr("fixtures.remote.kube.program._FAREWELL", 0.2)
    kube.serve(handler)
    answer = kube.execute(limit=30)
    assert isinstance(answer, Executed)
    assert answer.seconds < 5


def test_silence_and_floods_end_within_the_limit(kube: KubeStand) -> None:
    async def hang(asked: Asked) -> None:
        await asked.upgrade()
        await asked.frame(b"\x01half")
        await silent(asked)

    async def flood(asked: Asked) -> None:
        await asked.upgrade()
        while True:
            await asked.frame(b"\x01" + b"x" * 60000)

    async def endless_frame(asked: Asked) -> None:
        await asked.upgrade()
        await asked.say(b"\x82\x7f" + (1 << 40).to_bytes(8, "big"))
        while True:
            await asked.say(b"x" * 60000)

    asker = kube.asker(read_cap_bytes=200_000)
    for limit, handler, word in (
        (0.3, silent, "within 0.3 s"),
        (0.31, hang, "did not end within 0.31 s (4 bytes on stdout, 0 on stderr so far)"),
        (0.32, flood, "did not end within 0.32 s (200000 bytes on stdout"),
        (5, endless_frame, "longer than what is kept of one"),
    ):
        kube.serve(handler)
        started = time.monotonic()
        answer = kube.execute(limit=limit, asker=asker)
        assert isinstance(answer, Silence)
        assert word in answer.reason
        assert time.monotonic() - started < 2


def test_it_takes_over_a_kept_connection(kube: KubeStand) -> None:
    async def both(asked: Asked) -> None:
        await (running() if "/exec" in asked.line else answering())(asked)

    api = kube.serve(both)
    asker = kube.asker()
    for number in range(3):
        assert isinstance(kube.get(f"/api/v1/nodes/{number}", asker=asker), Response)
        assert isinstance(kube.execute(str(number), asker=asker), Executed)
    assert api.connections == 3


def test_programs_and_objects_share_the_places(kube: KubeStand) -> None:
    async def both(asked: Asked) -> None:
        await asyncio.sleep(0.02)
        await (running() if "/exec" in asked.line else answering())(asked)

    api = kube.serve(both)
    asker = kube.asker(parallel_commands=3)
    gets = [KubeGet(f"/api/v1/nodes/{number}", 5) for number in range(10)]
    programs = [KubeExec(*ETCD, (str(number),), 5) for number in range(10)]
    answers = asker.ask([*gets, *programs])
    assert {type(answer) for answer in answers.values()} == {Response, Executed}
    assert api.most <= 3
