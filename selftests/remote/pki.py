"""A cluster's certificate authority, server certificates and an admin kubeconfig."""

from __future__ import annotations

import base64
import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = timedelta(days=1)


def name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Signs certificates."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = name("rke2-server-ca")
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(self._name)
            .issuer_name(self._name)
            .public_key(self._key.public_key())
            .serial_number(1)
            .not_valid_before(now - 365 * DAY)
            .not_valid_after(now + 365 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)

    def issue(
        self,
        common: str,
        addresses: Sequence[str] = (),
        *,
        start: timedelta = -DAY,
        end: timedelta = DAY,
    ) -> Pair:
        """A certificate valid from now + `start` to now + `end`."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name(common))
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + start)
            .not_valid_after(now + end)
        )
        if addresses:
            names = [x509.IPAddress(IPv4Address(address)) for address in addresses]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), pem(key))

    def server_context(self, pair: Pair) -> ssl.SSLContext:
        """A server that asks for a certificate of this authority and takes none other."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_verify_locations(cadata=self.certificate.decode())
        context.verify_mode = ssl.CERT_REQUIRED
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pair.pem"
            path.write_bytes(pair.certificate + pair.key)
            context.load_cert_chain(path)
        return context


def kubeconfig(authority: bytes, admin: Pair, server: str = "https://127.0.0.1:6443") -> bytes:
    """rke2.yaml as RKE2 writes it; on the bastion it leads to the VIP."""
    encoded = [base64.b64encode(part).decode() for part in (authority, *vars(admin).values())]
    return f"""\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: {encoded[0]}
    server: {server}
  name: default
contexts:
- context:
    cluster: default
    user: default
  name: default
current-context: default
kind: Config
preferences: {{}}
users:
- name: default
  user:
    client-certificate-data: {encoded[1]}
    client-key-data: {encoded[2]}
""".encode()
