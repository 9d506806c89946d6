"""The Kubernetes API through the bastion: TLS, certificates, statuses."""

from __future__ import annotations

import asyncio
import json
import ssl
import tempfile
from typing import TYPE_CHECKING

import pytest

from selftests.lab.running import Running, lab_at, run

if TYPE_CHECKING:
    from pathlib import Path

    from lab.pki import Issued

VIP = "10.72.0.20"


async def get(
    running: Running, path: str, client: Issued | None = None, *, address: str = VIP,
    name: str | None = None,
) -> tuple[int, bytes]:  # fmt: skip
    """GET through a channel of the bastion, TLS verified for the address."""
    context = ssl.create_default_context(
        cadata=running.lab.world.pki.server_ca.certificate.decode()
    )
    if client is not None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(client.certificate + client.key)
            file.flush()
            context.load_cert_chain(file.name)
    listener = await running.bastion.forward_local_port("127.0.0.1", 0, address, 6443)
    try:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", listener.get_port(), ssl=context, server_hostname=name or address
        )
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
    finally:
        listener.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def test_readyz_needs_a_certificate(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c") as running:
            pki = running.lab.world.pki
            assert await get(running, "/readyz", pki.admin()) == (200, b"ok")
            status, body = await get(running, "/readyz")
            assert status == 401
            assert json.loads(body)["reason"] == "Unauthorized"
            status, _ = await get(running, "/readyz", pki.admin(expired=True))
            assert status == 401

    run(test())


def test_a_dead_etcd_makes_it_fail(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c", ("api-not-ready", "rke-cp02")) as running:
            admin = running.lab.world.pki.admin()
            status, body = await get(running, "/readyz", admin, address="10.72.0.22")
            assert status == 500
            assert b"[-]etcd failed" in body
            assert body.rstrip().endswith(b"readyz check failed")
            assert await get(running, "/readyz", admin) == (200, b"ok")

    run(test())


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (("api-certificate-names", {"node": "rke-cp01", "names": ["127.0.0.1"]}), "mismatch"),
        (("api-certificate-foreign", "rke-cp01"), "unable to get local issuer"),
    ],
)
def test_certificates_that_are_not_the_vips(
    tmp_path: Path, fault: tuple[str, object], said: str
) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c", fault) as running:
            with pytest.raises(ssl.SSLCertVerificationError, match=said):
                await get(running, "/readyz", running.lab.world.pki.admin())

    run(test())


def test_resources(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "d") as running:
            admin = running.lab.world.pki.admin()
            status, body = await get(running, "/api/v1/nodes", admin)
            listed = json.loads(body)
            assert (status, listed["kind"], len(listed["items"])) == (200, "NodeList", 6)
            status, body = await get(running, "/api/v1/nodes/rke-cp01", admin)
            assert json.loads(body)["metadata"]["name"] == "rke-cp01"
            path = "/api/v1/namespaces/kube-system/pods?labelSelector=component%3Detcd"
            status, body = await get(running, path, admin)
            assert len(json.loads(body)["items"]) == 3
            path = "/api/v1/pods?fieldSelector=spec.nodeName%3Drke-platform01"
            status, body = await get(running, path, admin)
            names = {item["spec"]["nodeName"] for item in json.loads(body)["items"]}
            assert names == {"rke-platform01"}
            status, body = await get(running, "/api/v1/nodes/none", admin)
            missing = json.loads(body)
            assert (status, missing["reason"]) == (404, "NotFound")
            assert missing["details"] == {"name": "none", "kind": "nodes"}
            assert (await get(running, "/apis/none/v1/things", admin))[0] == 404
            log = (running.lab.folder / "commands.jsonl").read_text()
            assert '"known": false' in log.splitlines()[-1]

    run(test())
