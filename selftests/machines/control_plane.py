"""A control plane's folders in a temporary place, for the stand-in's modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from machines import plan, render
from machines.guest import (
    __main__ as commands,
)
from machines.guest import (
    client,
    config,
    containers,
    encryption,
    etcd,
    podlog,
    reset,
    snapshots,
    supervisor,
)
from machines.pki import ClusterPki

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FIRST: Final = plan.CONTROL_PLANES[0]
CONFIG: Final = config.Config(
    token="right",
    server=None,
    cluster_cidr="10.64.0.0/14",
    service_cidr="10.68.0.0/16",
    node_name=FIRST.name,
    node_ip=str(FIRST.address),
)
_MODULES: Final = (
    *(client, commands, containers, encryption, etcd, podlog, reset, snapshots, supervisor),
)


def furnish(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Certificates, configuration, token and database below `place`; RKE2's data folder."""
    data = place / "rke2"
    files = ClusterPki().files(FIRST)
    for path, content in files.items():
        (data / path).parent.mkdir(parents=True, exist_ok=True)
        (data / path).write_text(content)
    (data / "server/cred").mkdir()
    (data / "server/cred/encryption-config.json").write_text(render.encryption_config(bytes(32)))
    (data / "server/db/etcd/member").mkdir(parents=True)
    token = render.node_token(files["server/tls/server-ca.crt"], CONFIG.token)
    (data / "server/token").write_text(token)
    (place / "config.yaml").write_text(render.rke2_config(FIRST, CONFIG.token))
    places = {
        "CONFIG": place / "config.yaml",
        "DATA": data,
        "ETCD": data / "server/db/etcd",
        "SNAPSHOTS": data / "server/db/snapshots",
        "RESET_FLAG": data / "server/db/reset-flag",
        "TOKEN": data / "server/token",
        "TLS": data / "server/tls",
        "CREDENTIALS": data / "server/cred",
        "PROGRAMS": place / "bin",
        "MANIFESTS": place / "pod-manifests",
        "LOGS": place / "pods",
    }
    for module in _MODULES:
        for name, where in places.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, where)
    return data
