"""The lab's certificate authorities, as RKE2 lays them out: server-ca, client-ca and etcd's own.

All keys are ed25519 and derived from the seed, so every certificate of one seed is the same bytes
and nothing has to be cached.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from lab.seed import Seed

_TEN_YEARS = timedelta(days=3650)
_ONE_YEAR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate (leaf alone) and its key, PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Client:
    """Who a client certificate names, and whether it counts now."""

    user: str
    groups: tuple[str, ...]
    valid: bool


class Pki:
    """Issues what RKE2 would have issued on the cluster of this seed."""

    def __init__(self, seed: Seed) -> None:
        self._seed = seed

    @cached_property
    def server_ca(self) -> Issued:
        """Signs what the API serves."""
        return self._authority("rke2-server-ca")

    @cached_property
    def client_ca(self) -> Issued:
        """Signs who may ask the API."""
        return self._authority("rke2-client-ca")

    @cached_property
    def etcd_ca(self) -> Issued:
        """Signs etcd's servers and clients."""
        return self._authority("etcd-server-ca")

    @cached_property
    def foreign_ca(self) -> Issued:
        """An authority that is not the cluster's."""
        return self._authority("some-other-ca")

    def serving(self, node: str, names: tuple[str, ...], *, foreign: bool = False) -> Issued:
        """The API's certificate of one control plane, valid for these names and addresses."""
        authority = self.foreign_ca if foreign else self.server_ca
        return self._leaf("serving " + node, authority, "kube-apiserver", names=names)

    def admin(self, *, expired: bool = False) -> Issued:
        """system:admin of group system:masters, as in rke2.yaml."""
        return self._client("system:admin", "system:masters", expired=expired)

    def kube_apiserver(self) -> Issued:
        """What client-kube-apiserver.crt holds."""
        return self._client("system:apiserver", "system:masters")

    def etcd_client(self, name: str) -> Issued:
        """A certificate etcd accepts."""
        return self._leaf("etcd " + name, self.etcd_ca, name, client=True)

    def _client(self, user: str, group: str, *, expired: bool = False) -> Issued:
        return self._leaf(
            f"client {user} {expired}",
            self.client_ca,
            user,
            organisation=group,
            client=True,
            expired=expired,
        )

    def _key(self, name: str) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self._seed.bytes("pki", name))

    def _authority(self, name: str) -> Issued:
        key = self._key(name)
        subject = x509.Name(
            [x509.NameAttribute(NameOID.COMMON_NAME, f"{name}@{int(self._seed.born.timestamp())}")]
        )
        certificate = (
            self._builder(name, subject, subject, key, _TEN_YEARS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_signing_usage(), critical=True)
            .sign(key, None)
        )
        return Issued(certificate.public_bytes(Encoding.PEM), _pem(key))

    def _leaf(
        self,
        label: str,
        authority: Issued,
        name: str,
        *,
        organisation: str | None = None,
        names: tuple[str, ...] = (),
        client: bool = False,
        expired: bool = False,
    ) -> Issued:
        key = self._key(label)
        issuer = x509.load_pem_x509_certificate(authority.certificate)
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
        if organisation:
            attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
        usage = ExtendedKeyUsageOID.CLIENT_AUTH if client else ExtendedKeyUsageOID.SERVER_AUTH
        lifetime = timedelta(minutes=1) if expired else _ONE_YEAR
        builder = self._builder(label, x509.Name(attributes), issuer.subject, key, lifetime)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_alternative(entry) for entry in names]),
                critical=False,
            )
        certificate = builder.sign(self._signing_key(issuer), None)
        return Issued(certificate.public_bytes(Encoding.PEM), _pem(key))

    def _signing_key(self, issuer: x509.Certificate) -> Ed25519PrivateKey:
        attribute = issuer.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0]
        return self._key(str(attribute.value).rpartition("@")[0])

    def _builder(
        self,
        label: str,
        subject: x509.Name,
        issuer: x509.Name,
        key: Ed25519PrivateKey,
        lifetime: timedelta,
    ) -> x509.CertificateBuilder:
        issuer_key = self._key(
            str(issuer.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value).rpartition("@")[0]
        )
        # Issued a day before the cluster came to be: a controller whose clock is behind still
        # accepts it, and a one-minute lifetime is long over.
        begin = self._seed.born - timedelta(days=1)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(int.from_bytes(self._seed.bytes("serial", label, size=8), "big"))
            .not_valid_before(begin)
            .not_valid_after(begin + lifetime)
            # OpenSSL 3 in strict mode refuses chains without key identifiers.
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False
            )
        )


@lru_cache(maxsize=64)
def client_of(certificate: bytes) -> Client:
    """Who a PEM client certificate names.

    Raises:
        ValueError: not a certificate.
    """
    parsed = x509.load_pem_x509_certificate(certificate)
    now = datetime.now(UTC)
    user = parsed.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    groups = parsed.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return Client(
        str(user[0].value) if user else "",
        tuple(str(group.value) for group in groups),
        parsed.not_valid_before_utc <= now <= parsed.not_valid_after_utc,
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _signing_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        key_encipherment=False,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
