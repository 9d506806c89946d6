"""GETs to the API through the bastion: an answer, a refusal, or silence, and never a leak."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import asyncssh
import pytest

from fixtures.core.requests import ApiGet, HostCommand, Output, Refusal, Response, Silence
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.http import BODY_CAP
from fixtures.remote.kubeconfig import READ, AdminCertificate
from selftests.remote.loop import BACKGROUND
from selftests.remote.pki import DAY, Authority, Pair, kubeconfig
from selftests.remote.sockets import RawServer, hanging_up_after, reset, silent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from fixtures.core.requests import Answer
    from selftests.remote.conftest import Site

VIP = "10.72.0.20"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


class Api:
    """A TLS server that answers what it is told."""

    def __init__(self, context: ssl.SSLContext | None, handler: Handler) -> None:
        self.heads: list[bytes] = []
        self._handler = handler
        start = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.server = BACKGROUND.run(start)

    @property
    def port(self) -> int:
        return int(self.server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            await self._handler(head, writer)
            writer.close()
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass


def saying(answer: bytes) -> Handler:
    async def handler(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return handler


class Stand:
    """A site whose cp01 has an rke2.yaml and whose VIP leads to a server of the test."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.authority = Authority()
        self.admin = self.authority.issue("system:admin")
        self.learnt: list[str] = []
        self.servers: list[Api] = []
        self.give_kubeconfig()

    def give_kubeconfig(self, content: bytes | None = None) -> None:
        content = kubeconfig(self.authority.certificate, self.admin) if content is None else content
        self.site.cp01.answers[READ] = (0, content, b"")

    def serve(self, handler: Handler, pair: Pair | None = None) -> Api:
        pair = pair or self.authority.issue("kube-apiserver", [VIP])
        return self.lead_to(Api(self.authority.server_context(pair), handler))

    def lead_to(self, api: Api) -> Api:
        self.servers.append(api)
        self.site.bastion.forwards[VIP, 6443] = api.port
        return api

    def asker(self, **limits: float) -> RemoteAsker:
        link = self.site.link(**limits)
        return RemoteAsker(link.cluster, link, learn=self.learnt.append)

    def get(self, asker: RemoteAsker | None = None, limit: float = 2.0) -> Answer:
        request = ApiGet(VIP, "/readyz", limit)
        return (asker or self.asker(command=5)).ask([request])[request]


@pytest.fixture
def stand(site: Site) -> Iterator[Stand]:
    stand = Stand(site)
    yield stand
    for api in stand.servers:
        BACKGROUND.call(api.server.close)


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
    ("addresses", "start", "end", "word"),
    [
        (["10.72.0.21"], -DAY, DAY, "IP address mismatch"),
        ([], -DAY, DAY, "IP address mismatch"),
        ([VIP], -2 * DAY, -DAY, "certificate has expired"),
        ([VIP], DAY, 2 * DAY, "certificate is not yet valid"),
    ],
    ids=["other address", "no address", "expired", "not yet valid"],
)
def test_a_server_certificate_that_does_not_hold_is_a_refusal(
    stand: Stand, addresses: list[str], start: timedelta, end: timedelta, word: str
) -> None:
    pair = stand.authority.issue("kube-apiserver", addresses, start=start, end=end)
    stand.serve(saying(OK), pair)
    answer = stand.get()
    assert isinstance(answer, Refusal)
    assert word in answer.reason


def test_the_certificate_of_another_authority_is_a_refusal(stand: Stand) -> None:
    other = Authority()
    context = other.server_context(other.issue("kube-apiserver", [VIP]))
    stand.lead_to(Api(context, saying(OK)))
    answer = stand.get()
    assert isinstance(answer, Refusal)
    assert "does not prove that it is this cluster's API" in answer.reason


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_does_not_accept_the_admin_is_silence(
    stand: Stand, version: ssl.TLSVersion
) -> None:
    context = Authority().server_context(stand.authority.issue("kube-apiserver", [VIP]))
    context.maximum_version = version
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # asyncio drops the alert that tells why, an ordinary server sends it.
        threading.Thread(target=refuse_one, args=(listener, context), daemon=True).start()
        stand.site.bastion.forwards[VIP, 6443] = listener.getsockname()[1]
        answer = stand.get()
    assert isinstance(answer, Silence)
    assert "does not accept the admin certificate (tlsv1 alert " in answer.reason


def refuse_one(listener: socket.socket, context: ssl.SSLContext) -> None:
    connection, _ = listener.accept()
    tls = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
    with tls:
        with contextlib.suppress(ssl.SSLError):
            tls.do_handshake()
        # A close with something unread is a reset, and a reset overtakes the alert.
        with contextlib.suppress(OSError):
            while socket.socket.recv(tls, 65536):
                pass


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1:DeprecationWarning")
def test_tls_1_1_is_not_spoken(stand: Stand) -> None:
    pair = stand.authority.issue("kube-apiserver", [VIP])
    context = stand.authority.server_context(pair)
    context.minimum_version = ssl.TLSVersion.TLSv1_1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    stand.lead_to(Api(context, saying(OK)))
    assert isinstance(stand.get(), Silence | Refusal)


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


@pytest.mark.parametrize(
    ("start", "end", "word"),
    [(-3 * DAY, -DAY, "expired"), (DAY, 3 * DAY, "is not valid yet")],
)
def test_an_admin_certificate_out_of_date_is_silence_with_its_dates(
    stand: Stand, start: timedelta, end: timedelta, word: str
) -> None:
    stand.admin = stand.authority.issue("system:admin", start=start, end=end)
    stand.give_kubeconfig()
    api = stand.serve(saying(OK))
    answer = stand.get()
    assert isinstance(answer, Silence)
    assert f"rke-cp01:/etc/rancher/rke2/rke2.yaml {word}: valid from 20" in answer.reason
    assert "RKE2 renews" in answer.reason
    assert api.heads == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"clusters: [",
        b"clusters: []\nusers: []\n",
        b"clusters: hush\nusers: hush\n",
        b"[hush]",
        b"&a [*a]",
    ],
)
def test_an_rke2_yaml_that_is_none_is_silence_and_leaks_nothing(
    stand: Stand, content: bytes
) -> None:
    stand.give_kubeconfig(content)
    answer = stand.get()
    assert isinstance(answer, Silence)
    assert "is not the kubeconfig that RKE2 writes" in answer.reason
    assert "hush" not in answer.reason


def test_an_rke2_yaml_that_cannot_be_read_is_silence_with_sudo_s_words(stand: Stand) -> None:
    stand.site.cp01.answers[READ] = (1, b"", b"sudo: a password is required\n")
    answer = stand.get()
    assert isinstance(answer, Silence)
    assert "sudo: a password is required" in answer.reason


def test_key_and_certificate_that_do_not_fit_are_silence(stand: Stand) -> None:
    other = stand.authority.issue("system:admin")
    mixed = Pair(stand.admin.certificate, other.key)
    stand.give_kubeconfig(kubeconfig(stand.authority.certificate, mixed))
    answer = stand.get()
    assert isinstance(answer, Silence)
    assert "do not fit together" in answer.reason


def test_rke2_yaml_is_read_once_and_again_only_if_it_was_no_use(stand: Stand) -> None:
    stand.serve(saying(OK))
    asker = stand.asker(command=5)
    stand.give_kubeconfig(b"junk")
    assert isinstance(stand.get(asker), Silence)
    assert isinstance(stand.get(asker, 2.1), Silence)
    assert stand.site.cp01.commands == [READ]
    asker.forget()
    stand.give_kubeconfig()
    asker.ask([ApiGet(VIP, path, 2) for path in ("/readyz", "/livez", "/version")])
    asker.forget()
    assert isinstance(stand.get(asker), Response)
    assert stand.site.cp01.commands == [READ, READ]


def test_the_key_stays_in_memory_and_is_told_to_the_redaction(stand: Stand) -> None:
    stand.serve(saying(OK))
    asker = stand.asker(command=5)
    answer = stand.get(asker)
    used = asker.used()
    assert [type(one) for one in used] == [Output, Response]
    assert [one.request for one in used] == [
        HostCommand("rke-cp01", READ, 5, secret=True),
        answer.request,
    ]
    key = stand.admin.key.decode()
    assert learnt_key(stand) == key
    shown = repr(used) + repr(asker.ask([answer.request])) + repr(vars(asker))
    assert "PRIVATE KEY" not in shown
    assert key.splitlines()[1] not in shown


def learnt_key(stand: Stand) -> str:
    (key,) = (secret for secret in stand.learnt if "PRIVATE KEY" in secret)
    return key


def test_the_certificate_hides_its_key_when_it_is_shown(stand: Stand) -> None:
    content = kubeconfig(stand.authority.certificate, stand.admin)
    admin = AdminCertificate.parse(content, "rke-cp01")
    assert "PRIVATE KEY" not in repr(admin)
    assert "PRIVATE KEY" in admin.key


def test_without_memfd_the_key_touches_only_a_private_file_that_is_gone_at_once(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.delattr("os.memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stand.serve(saying(OK))
    assert isinstance(stand.get(), Response)
    assert not list(tmp_path.glob("rke2-*"))  # type: ignore[attr-defined]


def test_proxies_of_the_environment_play_no_part(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    stand.serve(saying(OK))
    assert isinstance(stand.get(), Response)


def test_the_limit_does_not_count_the_reading_of_the_certificate(stand: Stand) -> None:
    stand.serve(saying(OK))
    started = time.monotonic()
    answer = stand.get(stand.asker(command=5), limit=1.5)
    assert isinstance(answer, Response)
    assert answer.seconds <= time.monotonic() - started
