"""Faults of encryption at rest: of one server's configuration, and of what is written to etcd."""

from __future__ import annotations

import json
from typing import Final

from machines import ceph_secret, cluster, plan
from machines.container import Container
from machines.fault import Fault

_SETTLE: Final = 90.0
_FIRST, _SECOND = (Container(machine) for machine in plan.CONTROL_PLANES[:2])
_API_SERVER: Final = "rke2-container@kube-apiserver.service"


def plaintext_first(configuration: str) -> str:
    """The configuration with which Secrets are written as they are, and read in either form."""
    document = json.loads(configuration)
    for resource in document["resources"]:
        resource["providers"].sort(key=lambda provider: "identity" not in provider)
    return json.dumps(document)


def _write_configuration(container: Container, content: str) -> None:
    container.write(cluster.ENCRYPTION, content, mode=0o600)


def _start_api_server_in_plaintext() -> None:
    """The API server reads its configuration at its start: what lies there then says otherwise."""
    right = _FIRST.read(cluster.ENCRYPTION)
    _write_configuration(_FIRST, plaintext_first(right))
    try:
        _restart_api_server()
    finally:
        _write_configuration(_FIRST, right)


def _restart_api_server() -> None:
    _FIRST.do("systemctl", "restart", _API_SERVER)
    _FIRST.wait(
        "API server that answers",
        lambda: not cluster.complaints(plan.CONTROL_PLANES),
        limit=_SETTLE,
        journal_of=_API_SERVER,
    )


def _mend_api_server(configuration: str) -> None:
    _write_configuration(_FIRST, configuration)
    _restart_api_server()


def _make_ceph_secret_in_plaintext() -> None:
    _start_api_server_in_plaintext()
    ceph_secret.make()


def _make_ceph_secret_anew(configuration: str) -> None:
    _mend_api_server(configuration)
    ceph_secret.make()


FAULTS: Final = (
    Fault(
        "encryption-off",
        f"the encryption configuration of {_SECOND.machine.name} has plaintext first",
        lambda: _write_configuration(_SECOND, plaintext_first(_SECOND.read(cluster.ENCRYPTION))),
        lambda content: _write_configuration(_SECOND, content),
        lambda: _SECOND.read(cluster.ENCRYPTION),
    ),
    Fault(
        "secrets-in-plaintext",
        f"the API server of {_FIRST.machine.name} writes Secrets as they are, the Ceph Secret "
        "among them; its configuration on disk is right",
        _make_ceph_secret_in_plaintext,
        _make_ceph_secret_anew,
        lambda: _FIRST.read(cluster.ENCRYPTION),
        phase=plan.Phase.F,
    ),
)
