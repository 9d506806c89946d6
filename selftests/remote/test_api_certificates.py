"""Whom the API's TLS trusts, and what becomes of the administrator's key."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import ApiGet, HostCommand, Output, Refusal, Response, Silence
from fixtures.remote.kubeconfig import READ, AdminCertificate
from selftests.remote.pki import DAY, Authority, Pair, kubeconfig
from selftests.remote.stand import OK, VIP, Api, Stand, saying

if TYPE_CHECKING:
    from datetime import timedelta


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
