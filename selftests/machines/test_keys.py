"""Certificates and SSH keys verify as their users verify them."""

from __future__ import annotations

import ipaddress

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from cryptography.x509.oid import NameOID

from machines import plan, ssh_keys
from machines.pki import Authority, ClusterPki, Pair


@pytest.fixture(scope="module")
def pki() -> ClusterPki:
    """One cluster's authorities."""
    return ClusterPki()


@pytest.fixture(scope="module")
def files(pki: ClusterPki) -> dict[str, str]:
    """The files of the second control plane."""
    return pki.files(plan.CONTROL_PLANES[1])


def _certificate(pem: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem.encode())


def _addresses(pem: str) -> set[ipaddress.IPv4Address]:
    names = _certificate(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return set(names.value.get_values_for_type(x509.IPAddress))  # type: ignore[arg-type]


def test_the_api_s_certificate_is_for_the_vip_every_control_plane_and_loopback(
    files: dict[str, str],
) -> None:
    wanted = {*plan.TLS_SAN, ipaddress.IPv4Address("127.0.0.1")}
    assert wanted <= _addresses(files["server/tls/serving-kube-apiserver.crt"])


def test_a_member_s_certificates_are_for_its_own_node_alone(files: dict[str, str]) -> None:
    own = {ipaddress.IPv4Address("10.72.0.22"), ipaddress.IPv4Address("127.0.0.1")}
    assert _addresses(files["server/tls/etcd/server-client.crt"]) == own
    assert _addresses(files["server/tls/etcd/peer-server-client.crt"]) == own


@pytest.mark.parametrize(
    ("leaf", "authority"),
    [
        ("server/tls/serving-kube-apiserver", "server/tls/server-ca"),
        ("server/tls/client-kube-apiserver", "server/tls/client-ca"),
        ("server/tls/client-auth-proxy", "server/tls/request-header-ca"),
        ("server/tls/etcd/client", "server/tls/etcd/server-ca"),
        ("server/tls/etcd/server-client", "server/tls/etcd/server-ca"),
        ("server/tls/etcd/peer-server-client", "server/tls/etcd/peer-ca"),
        ("agent/serving-kubelet", "server/tls/server-ca"),
        ("agent/client-kubelet", "server/tls/client-ca"),
    ],
)
def test_each_certificate_is_signed_by_its_own_authority(
    files: dict[str, str], leaf: str, authority: str
) -> None:
    signed = _certificate(files[f"{leaf}.crt"])
    signed.verify_directly_issued_by(_certificate(files[f"{authority}.crt"]))


def test_every_certificate_has_its_key(files: dict[str, str]) -> None:
    for path, content in files.items():
        if path.endswith(".crt") and "agent/" not in path:
            authority = Authority.load(Pair(content, files[path.removesuffix("crt") + "key"]))
            own = authority.certificate.public_key()
            assert isinstance(own, ec.EllipticCurvePublicKey)
            assert own.public_numbers() == authority.key.public_key().public_numbers()


def test_the_admin_is_cluster_admin_and_can_be_expired(pki: ClusterPki) -> None:
    good, expired = (_certificate(pki.admin(expired=late).certificate) for late in (False, True))
    for certificate in (good, expired):
        groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
        assert [group.value for group in groups] == ["system:masters"]
    assert expired.not_valid_after_utc < good.not_valid_before_utc
    assert expired.not_valid_before_utc < expired.not_valid_after_utc


def test_an_authority_read_back_signs_for_the_same_chain(pki: ClusterPki) -> None:
    again = Authority.load(pki.client.pair)
    leaf = _certificate(again.issue("someone").certificate)
    leaf.verify_directly_issued_by(pki.client.certificate)


def test_ssh_keys_are_openssh_s_and_known_by_every_address() -> None:
    keys = {"one": ssh_keys.generate(), "two": ssh_keys.generate()}
    load_ssh_private_key(keys["one"].private.encode(), password=None)
    lines = ssh_keys.known_hosts(keys, {"one": ["192.0.2.10", "10.72.0.10"], "two": ["10.72.0.21"]})
    assert lines.splitlines() == [
        f"192.0.2.10,10.72.0.10 {keys['one'].public}",
        f"10.72.0.21 {keys['two'].public}",
    ]
    assert keys["one"].public != keys["two"].public


def test_the_fingerprint_is_the_one_openssh_prints() -> None:
    public = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    known = ssh_keys.SshKey("", public)
    assert known.fingerprint == "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"
