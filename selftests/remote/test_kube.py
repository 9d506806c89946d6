"""The Kubernetes API through the VIP: what is sent once, and what comes back of it."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from typing import TYPE_CHECKING

import asyncssh
import pytest

from fixtures.core.requests import KubeChange, KubeGet, Output, Refusal, Response, Silence
from selftests.remote.kube_stand import Asked, KubeStand, answering, saying, silent
from selftests.remote.pki import Authority
from selftests.remote.sockets import RawServer, reset
from selftests.remote.sockets import silent as mute
from selftests.remote.stand import VIP

if TYPE_CHECKING:
    from selftests.remote.kube_stand import Handler


def test_an_answer_and_what_was_sent_for_it(kube: KubeStand) -> None:
    api = kube.serve(answering({"kind": "Node"}))
    answer = kube.get("/api/v1/nodes/rke-cp01")
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (200, b'{"kind": "Node"}')
    (asked,) = api.asked
    assert asked.line == "GET /api/v1/nodes/rke-cp01"
    assert b"\r\nHost: 10.72.0.20:6443\r\n" in asked.head
    assert b"accept: application/json" in asked.head.lower()
    assert b"authorization" not in asked.head.lower()


@pytest.mark.parametrize("status", [302, 401, 403, 404, 410, 429, 500, 503])
def test_every_status_is_an_answer_and_nothing_is_sent_again(kube: KubeStand, status: int) -> None:
    extra = "Retry-After: 0\r\nLocation: https://10.72.0.20:6443/elsewhere\r\n"
    api = kube.serve(answering(b"nope", status, extra))
    for answer in (kube.get(), kube.change("DELETE", "/api/v1/nodes/x")):
        assert isinstance(answer, Response)
        assert (answer.status, answer.body) == (status, b"nope")
    assert api.lines == ["GET /api/v1/nodes?limit=500", "DELETE /api/v1/nodes/x"]


def test_a_write_carries_its_document(kube: KubeStand) -> None:
    api = kube.serve(answering(status=201))
    kube.change("POST", "/api/v1/namespaces", {"metadata": {"name": "x"}})
    kube.change("PATCH", "/api/v1/nodes/x", {"spec": {"unschedulable": None}})
    kube.change("DELETE", "/api/v1/nodes/x?propagationPolicy=Background")
    assert [asked.body and json.loads(asked.body) for asked in api.asked] == [
        {"metadata": {"name": "x"}},
        {"spec": {"unschedulable": None}},
        b"",
    ]
    types = [b"application/merge-patch+json" in asked.head for asked in api.asked]
    assert types == [False, True, False]


def test_connections_are_kept_and_at_most_eight_requests_are_on_their_way(kube: KubeStand) -> None:
    async def slow(asked: Asked) -> None:
        await asyncio.sleep(0.02)
        await asked.answer(b"{}")

    api = kube.serve(slow)
    asker = kube.asker(parallel_commands=8)
    requests = [KubeGet(f"/api/v1/nodes/{number}", 5) for number in range(40)]
    answers = asker.ask(requests)
    assert {answer.status for answer in answers.values() if isinstance(answer, Response)} == {200}
    assert (api.most, api.connections) == (8, 8)
    asker.refresh(requests)
    assert api.connections == 8
    assert kube.readings == 1
    assert asker.bastion.connections == 1


def test_a_kept_connection_that_ended_meanwhile_is_not_used(kube: KubeStand) -> None:
    async def once(asked: Asked) -> None:
        await asked.answer(b"{}")
        asked.writer.close()

    api = kube.serve(once)
    asker = kube.asker()
    for number in range(3):
        assert isinstance(kube.get(f"/api/v1/nodes/{number}", asker=asker), Response)
        time.sleep(0.05)
    assert api.connections == 3


@pytest.mark.parametrize(
    ("handler", "word"),
    [
        (saying(b""), "closed before an answer was complete"),
        (
            saying(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"),
            "before an answer was complete",
        ),
        (
            saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{}"),
            "before an answer was complete",
        ),
        (saying(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "not an HTTP answer"),
        (saying(b"\xff" * 4096), "not an HTTP answer"),
        (saying(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70000 + b"\r\n\r\n"), "not an HTTP answer"),
    ],
    ids=["nothing", "short", "short chunk", "ssh", "garbage", "endless header"],
)
def test_what_is_no_complete_answer_is_a_refusal(
    kube: KubeStand, handler: Handler, word: str
) -> None:
    api = kube.serve(handler)
    answer = kube.get()
    assert isinstance(answer, Refusal)
    assert word in answer.reason
    assert "GET /api/v1/nodes, 10.72.0.20:6443, asked from wetopi-ops01: " in answer.reason
    assert len(api.asked) == 1


def test_a_write_whose_answer_is_lost_may_have_been_carried_out(kube: KubeStand) -> None:
    for handler in (saying(b"HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{"), silent):
        api = kube.serve(handler)
        answer = kube.change("POST", "/api/v1/namespaces", {}, limit=0.5)
        assert isinstance(answer, Silence)
        assert "it may have been carried out, so it is not sent again by itself" in answer.reason
        assert len(api.asked) == 1


def test_a_write_that_was_never_sent_is_a_refusal(kube: KubeStand) -> None:
    kube.site.bastion.forwards.pop((VIP, 6443), None)
    answer = kube.change("POST", "/api/v1/namespaces", {})
    assert isinstance(answer, Refusal)
    assert "Connection refused" in answer.reason
    assert "carried out" not in answer.reason


def test_an_answer_beyond_the_cap_is_not_judged(kube: KubeStand) -> None:
    kube.serve(answering(b"x" * 300_000))
    answer = kube.get(asker=kube.asker(read_cap_bytes=100_000))
    assert isinstance(answer, Silence)
    assert "longer than what is kept of one (`limits: read_cap_bytes`)" in answer.reason


def test_every_kind_of_silence_ends_within_the_limit(kube: KubeStand) -> None:
    async def drip(asked: Asked) -> None:
        await asked.say(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n")
        while True:
            await asked.say(b"x")
            await asyncio.sleep(0.02)

    async def flood(asked: Asked) -> None:
        await asked.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await asked.say(b"1\r\nx\r\n" * 1000)

    async def heads(asked: Asked) -> None:
        while True:
            await asked.say(b"HTTP/1.1 100 Continue\r\n\r\n")
            await asyncio.sleep(0.02)

    asker = kube.asker()
    raw = RawServer([mute]).start()
    kube.serve(answering())
    assert isinstance(kube.get(asker=asker), Response)
    for limit, handler in ((0.30, silent), (0.31, drip), (0.32, flood), (0.33, heads)):
        kube.serve(handler)
        asker.forget()
        started = time.monotonic()
        answer = kube.get("/api/v1/other", limit, asker)
        assert isinstance(answer, Silence)
        assert f"within {limit:g} s" in answer.reason
        assert time.monotonic() - started < limit + 0.5
    kube.site.bastion.forwards[VIP, 6443] = raw.port
    assert isinstance(kube.get("/api/v1/raw", 0.34, asker), Silence)
    raw.stop()
    assert asker.bastion.connections == 1


def test_what_speaks_no_tls_is_a_refusal(kube: KubeStand) -> None:
    raw = RawServer([reset]).start()
    kube.site.bastion.forwards[VIP, 6443] = raw.port
    assert isinstance(kube.get(), Refusal)
    raw.stop()


def test_a_connection_the_bastion_may_not_make_is_silence(kube: KubeStand) -> None:
    kube.site.bastion.forwards[VIP, 6443] = asyncssh.ChannelOpenError(
        asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed"
    )
    answer = kube.get()
    assert isinstance(answer, Silence)
    assert "refuses the connection to 10.72.0.20 port 6443" in answer.reason


@pytest.mark.parametrize("names", [["10.72.0.21"], []], ids=["other address", "no address"])
def test_a_certificate_that_is_not_the_vips_is_a_refusal(kube: KubeStand, names: list[str]) -> None:
    api = kube.serve(answering(), kube.authority.issue("kube-apiserver", names))
    answer = kube.get()
    assert isinstance(answer, Refusal)
    assert "does not prove that it is this cluster's API" in answer.reason
    assert api.asked == []


def test_a_certificate_of_another_authority_is_a_refusal(kube: KubeStand) -> None:
    kube.serve(answering())
    kube.authority = Authority()
    kube.give()
    answer = kube.get()
    assert isinstance(answer, Refusal)
    assert "does not prove that it is this cluster's API" in answer.reason
    assert "rke2-admin-kubeconfig; next: is that of another cluster" in answer.reason


def test_a_bastion_lost_in_mid_answer_is_silence(kube: KubeStand) -> None:
    async def cut(asked: Asked) -> None:
        await asked.say(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
        for connection in kube.site.bastion.connections:
            connection.abort()

    api = kube.serve(cut)
    answer = kube.get()
    assert isinstance(answer, Silence)
    assert "the connection was lost" in answer.reason
    assert len(api.asked) == 1


def test_proxies_of_the_environment_play_no_part(
    kube: KubeStand, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def proxy() -> None:
            while True:
                met.append(listener.accept()[0].recv(100))

        threading.Thread(target=proxy, daemon=True).start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, address)
        monkeypatch.delenv("NO_PROXY", raising=False)
        kube.serve(answering())
        assert isinstance(kube.get(), Response)
        assert isinstance(kube.execute(), Silence | Refusal | Response)
        for broken in ("socks5://nowhere:1", "banana", "http://[::1"):
            monkeypatch.setenv("HTTPS_PROXY", broken)
            assert isinstance(kube.get(), Response)
    assert met == []


def test_the_answer_of_a_secret_is_no_evidence_but_its_reading_is(kube: KubeStand) -> None:
    kube.serve(answering({"kind": "Node"}))
    asker = kube.asker()
    kube.get(asker=asker)
    reading, answer = asker.used()
    assert isinstance(reading, Output)
    assert reading.stdout.startswith(b"(")
    assert reading.request.command == kube.reading
    assert isinstance(answer, Response)


def test_a_change_is_sent_once_though_it_is_asked_for_twice(kube: KubeStand) -> None:
    api = kube.serve(answering(status=201))
    asker = kube.asker()
    request = KubeChange("POST", "/api/v1/namespaces", 5, "{}")
    assert kube.ask(request, asker) is kube.ask(request, asker)
    assert len(api.asked) == 1
