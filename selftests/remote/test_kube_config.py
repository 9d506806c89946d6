"""The kubeconfig on the bastion: what is asked with it, what is not, and where its key is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import HostCommand, KubeGet, Output, Response, Silence
from fixtures.remote.kube import config
from fixtures.remote.kube.config import Kubeconfig
from selftests.remote.kube_stand import KubeStand, answering
from selftests.remote.pki import DAY, Authority, kubeconfig

if TYPE_CHECKING:
    from datetime import timedelta


def refused(kube: KubeStand) -> str:
    """Why nothing was asked of the API."""
    api = kube.serve(answering())
    answer = kube.get()
    assert isinstance(answer, Silence)
    assert api.connections == 0
    return answer.reason


@pytest.mark.parametrize("mode", ["644", "640", "400", "0600", "4600", "660", "6"])
def test_only_mode_600_will_do(kube: KubeStand, mode: str) -> None:
    kube.give(head=f"{mode} ubuntu regular file\n".encode())
    reason = refused(kube)
    assert f"wetopi-ops01:~/secrets/rke2-admin-kubeconfig has mode {mode}" in reason
    assert "next: chmod 600" in reason


@pytest.mark.parametrize(
    "server",
    [
        "https://127.0.0.1:6443",
        "https://10.72.0.21:6443",
        "https://10.72.0.20",
        "https://10.72.0.20:6443/",
        "http://10.72.0.20:6443",
        "https://10.72.0.200:6443",
    ],
)
def test_it_must_lead_to_the_vip_to_the_letter(kube: KubeStand, server: str) -> None:
    kube.give(server=server)
    assert f"leads to {server}, it must lead to the VIP" in refused(kube)


@pytest.mark.parametrize(
    ("start", "end", "word"), [(-3 * DAY, -DAY, "expired"), (DAY, 3 * DAY, "is not valid yet")]
)
def test_an_outdated_certificate_is_said_with_its_dates(
    kube: KubeStand, start: timedelta, end: timedelta, word: str
) -> None:
    kube.admin = kube.authority.issue("system:admin", start=start, end=end)
    kube.give()
    reason = refused(kube)
    assert f"~/secrets/rke2-admin-kubeconfig {word}: valid from 20" in reason
    assert "bring it over from cp01 again" in reason


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"rc": 1, "head": b"", "content": b"", "stderr": b"cat: No such file"}, "cannot be read"),
        ({"content": b""}, "is not the kubeconfig that RKE2 writes"),
        ({"content": b"hush: ["}, "is not the kubeconfig that RKE2 writes"),
        ({"head": b"hush\n"}, "did not say of what mode"),
        ({"head": b"600 ubuntu directory\n"}, "is not a file but a directory"),
        ({"head": b"600 ubuntu symbolic link\n"}, "is not a file but a symbolic link"),
    ],
    ids=["absent", "empty", "no yaml", "no stat", "folder", "link"],
)
def test_what_is_no_kubeconfig_is_said_without_its_content(
    kube: KubeStand, given: dict[str, object], word: str
) -> None:
    kube.give(**given)  # type: ignore[arg-type]
    reason = refused(kube)
    assert word in reason
    assert "hush" not in reason
    assert kube.learnt == []


def test_an_inventory_that_names_none(kube: KubeStand) -> None:
    kube.site.base.operations.pop(config.NAME)
    try:
        assert "the inventory does not say where" in refused(kube)
    finally:
        kube.site.base.operations[config.NAME] = "~/secrets/rke2-admin-kubeconfig"


def test_the_current_context_counts(kube: KubeStand) -> None:
    other = kubeconfig(Authority().certificate, kube.admin, "https://10.72.9.9:6443").decode()
    mine = kubeconfig(kube.authority.certificate, kube.admin, "https://10.72.0.20:6443").decode()
    text = ""
    for part in ("clusters", "contexts", "users"):
        entries = [each.split(f"{part}:\n", 1)[1].split("\n") for each in (other, mine)]
        bodies = []
        for lines in entries:
            body = []
            for line in lines:
                if line[:1] not in (" ", "-"):
                    break
                body.append(line)
            bodies.append("\n".join(body))
        text += f"{part}:\n{bodies[0].replace('default', 'other')}\n{bodies[1]}\n"
    kube.give(content=(text + "current-context: default\n").encode())
    kube.serve(answering())
    assert isinstance(kube.get(), Response)


def test_it_is_read_once_and_again_only_when_it_failed_or_is_asked_for(kube: KubeStand) -> None:
    kube.serve(answering())
    asker = kube.asker()
    for _ in range(2):
        kube.get(asker=asker)
        asker.forget()
    assert kube.readings == 1
    reading = config.reading(asker.cluster)
    assert reading is not None
    assert isinstance(asker.ask([reading])[reading], Output)
    assert kube.readings == 1
    kube.give(head=b"644 ubuntu regular file\n")
    assert isinstance(asker.refresh([reading])[reading], Output)
    assert kube.readings == 2
    assert isinstance(kube.get("/api/v1/pods", asker=asker), Silence)
    kube.give()
    assert isinstance(kube.get("/api/v1/secrets", asker=asker), Silence)
    request = KubeGet("/api/v1/secrets", 5)
    assert isinstance(asker.refresh([request])[request], Response)
    assert kube.readings == 3


def test_who_asks_for_the_file_sees_it_all_and_evidence_does_not(kube: KubeStand) -> None:
    kube.give(head=b"640 ubuntu regular file\n", server="https://127.0.0.1:6443")
    asker = kube.asker()
    reading = config.reading(asker.cluster)
    assert reading is not None
    output = asker.ask([reading])[reading]
    assert isinstance(output, Output)
    found = Kubeconfig.parse(output)
    assert (found.mode, found.owner, found.admin.server) == (
        "640",
        "ubuntu",
        "https://127.0.0.1:6443",
    )
    assert found.admin.certificate.encode() == kube.admin.certificate
    assert len(found.admin.authority_digest) == len(found.admin.certificate_digest) == 64
    key = kube.admin.key.decode()
    assert kube.learnt == [key]
    assert key not in repr(asker.used()) + repr(found) + repr(reading)


def test_a_bastion_that_does_not_answer_is_silence_for_the_file_too(kube: KubeStand) -> None:
    kube.site.bastion.behaviours[kube.reading] = lambda: None
    asker = kube.asker(command=0.3)
    reading = config.reading(asker.cluster)
    assert isinstance(reading, HostCommand)
    answers = asker.ask([reading, KubeGet("/api/v1/nodes", 5)])
    assert {type(answer) for answer in answers.values()} == {Silence}
