"""RKE2's certificate authorities and certificates, with RKE2's file names.

Paths are relative to `/var/lib/rancher/rke2`. Keys are EC P-256, as k3s makes them.
"""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from machines import plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from machines.plan import Machine

_YEAR: Final = datetime.timedelta(days=365)
_BACKDATED: Final = datetime.timedelta(minutes=5)
_API_NAMES: Final = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: str
    key: str


@dataclass(frozen=True, slots=True)
class Authority:
    """A self-signed certificate authority."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def create(cls, name: str) -> Authority:
        """A new authority whose subject is `CN=name`."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _BACKDATED)
            .not_valid_after(now + 10 * _YEAR)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(sign_certificates=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    @classmethod
    def load(cls, pair: Pair) -> Authority:
        """The authority that `pair` holds."""
        key = serialization.load_pem_private_key(pair.key.encode(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError("the authority's key is not an EC key")
        return cls(x509.load_pem_x509_certificate(pair.certificate.encode()), key)

    @property
    def pair(self) -> Pair:
        """The authority's own certificate and key."""
        return Pair(_pem(self.certificate), key_pem(self.key))

    def issue(
        self,
        name: str,
        *,
        groups: Sequence[str] = (),
        addresses: Sequence[ipaddress.IPv4Address] = (),
        dns: Sequence[str] = (),
        expired: bool = False,
    ) -> Pair:
        """A certificate `CN=name,O=groups`, good for servers and clients alike.

        With `expired` it was valid for a year and ended yesterday.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        end = datetime.datetime.now(datetime.UTC) + _YEAR
        if expired:
            end -= _YEAR + datetime.timedelta(days=1)
        attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name(attributes))
            .issuer_name(self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(end - _YEAR - _BACKDATED)
            .not_valid_after(end)
            .add_extension(_usage(sign_certificates=False), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage(
                    [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
                ),
                critical=False,
            )
        )
        names: list[x509.GeneralName] = [x509.IPAddress(address) for address in addresses]
        names += [x509.DNSName(entry) for entry in dns]
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return Pair(_pem(builder.sign(self.key, hashes.SHA256())), key_pem(key))


@dataclass(frozen=True, slots=True)
class ClusterPki:
    """The five authorities of one cluster and the key that signs service account tokens."""

    server: Authority = field(default_factory=lambda: Authority.create("rke2-server-ca"))
    client: Authority = field(default_factory=lambda: Authority.create("rke2-client-ca"))
    front: Authority = field(default_factory=lambda: Authority.create("rke2-request-header-ca"))
    etcd: Authority = field(default_factory=lambda: Authority.create("etcd-server-ca"))
    peers: Authority = field(default_factory=lambda: Authority.create("etcd-peer-ca"))
    service_key: str = field(
        default_factory=lambda: key_pem(ec.generate_private_key(ec.SECP256R1()))
    )

    def admin(self, *, expired: bool = False) -> Pair:
        """The cluster-admin client certificate of rke2.yaml."""
        return self.client.issue("system:admin", groups=["system:masters"], expired=expired)

    def files(self, machine: Machine) -> dict[str, str]:
        """Relative path → content of every PEM file of one control plane."""
        loopback = ipaddress.IPv4Address("127.0.0.1")
        own = [machine.address, loopback]
        pairs = {
            "server/tls/server-ca": self.server.pair,
            "server/tls/client-ca": self.client.pair,
            "server/tls/request-header-ca": self.front.pair,
            "server/tls/serving-kube-apiserver": self.server.issue(
                "kube-apiserver",
                addresses=[*plan.TLS_SAN, loopback, plan.API_SERVICE],
                dns=_API_NAMES,
            ),
            "server/tls/client-kube-apiserver": self.client.issue(
                "system:apiserver", groups=["system:masters"]
            ),
            "server/tls/client-admin": self.admin(),
            "server/tls/client-controller": self.client.issue("system:kube-controller-manager"),
            "server/tls/client-scheduler": self.client.issue("system:kube-scheduler"),
            "server/tls/client-auth-proxy": self.front.issue("system:auth-proxy"),
            "server/tls/etcd/server-ca": self.etcd.pair,
            "server/tls/etcd/peer-ca": self.peers.pair,
            "server/tls/etcd/server-client": self.etcd.issue(
                "etcd-server", addresses=own, dns=["localhost", machine.name]
            ),
            "server/tls/etcd/client": self.etcd.issue("etcd-client"),
            "server/tls/etcd/peer-server-client": self.peers.issue(
                "etcd-peer", addresses=own, dns=["localhost", machine.name]
            ),
            "agent/serving-kubelet": self.server.issue(
                machine.name, addresses=own, dns=["localhost", machine.name]
            ),
            "agent/client-kubelet": self.client.issue(
                f"system:node:{machine.name}", groups=["system:nodes"]
            ),
            "agent/client-kube-proxy": self.client.issue("system:kube-proxy"),
        }
        files = {"server/tls/service.key": self.service_key}
        for stem, pair in pairs.items():
            files[f"{stem}.crt"] = pair.certificate
            files[f"{stem}.key"] = pair.key
        for authority in ("server-ca", "client-ca"):
            files[f"agent/{authority}.crt"] = pairs[f"server/tls/{authority}"].certificate
        return files


def key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    """The key as unencrypted PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not sign_certificates,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )
