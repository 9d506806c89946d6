"""A joining node's certificates: it makes the keys, a server certifies them for its token."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import supervisor
from .paths import AGENT, TLS

if TYPE_CHECKING:
    from .config import Config

_KINDS: Final = ("serving-kubelet", "client-kubelet", "client-kube-proxy")

PATHS: Final = {f"/v1-rke2/{kind}.crt": kind for kind in _KINDS}
"""Where the supervisor issues them -> which."""

_DAYS: Final = "365"
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_ADDRESS: Final = re.compile(r"(\d{1,3}\.){3}\d{1,3}")


def fetch(config: Config, server: str) -> Config:
    """Get authority, certificates and networks from the supervisor at `server`; what is known then.

    The authority is believed at first sight: a token of 32 digits says nothing of it.

    Raises:
        OSError, http.client.HTTPException: no answer.
        RefusedError: an answer other than 200; 401 for a wrong token.
    """
    AGENT.mkdir(parents=True, exist_ok=True)
    AGENT.chmod(0o700)
    authority = AGENT / "server-ca.crt"
    _write(authority, supervisor.authority(server))
    for path, kind in PATHS.items():
        body = {"csr": _request(kind), "node": config.node_name, "address": config.node_ip}
        answer = supervisor.ask(server, "POST", path, config.token, body=body, authority=authority)
        _write(AGENT / f"{kind}.crt", answer["certificate"])
    networks = supervisor.ask(server, "GET", supervisor.NETWORKS, config.token, authority=authority)
    return dataclasses.replace(
        config, cluster_cidr=networks["cluster-cidr"], service_cidr=networks["service-cidr"]
    )


def issued(kind: str, body: Any) -> dict[str, str]:
    """The certificate of that kind for a node's key; who it names is for the server to say.

    Raises:
        RuntimeError: the body names no node, or openssl refuses the request.
    """
    node, address = str(body["node"]), str(body["address"])
    if not _NAME.fullmatch(node) or not _ADDRESS.fullmatch(address):
        raise RuntimeError(f"not a node: {node!r} {address!r}")
    authority, subject = {
        "serving-kubelet": ("server-ca", f"/CN={node}"),
        "client-kubelet": ("client-ca", f"/O=system:nodes/CN=system:node:{node}"),
        "client-kube-proxy": ("client-ca", "/CN=system:kube-proxy"),
    }[kind]
    usage = "serverAuth" if kind == "serving-kubelet" else "clientAuth"
    names = f"DNS:{node},DNS:localhost,IP:{address},IP:127.0.0.1"
    with tempfile.TemporaryDirectory() as folder:
        request, extensions = Path(folder) / "csr", Path(folder) / "extensions"
        request.write_text(str(body["csr"]))
        extensions.write_text(f"extendedKeyUsage={usage}\nsubjectAltName={names}\n")
        certificate = _openssl(
            *("x509", "-req", "-in", str(request), "-days", _DAYS, "-subj", subject),
            *("-CA", str(TLS / f"{authority}.crt"), "-CAkey", str(TLS / f"{authority}.key")),
            *("-extfile", str(extensions)),
        )
    return {"certificate": certificate}


def _request(kind: str) -> str:
    key = AGENT / f"{kind}.key"
    if not key.exists():
        _write(key, _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout"))
    return _openssl("req", "-new", "-key", str(key), "-subj", f"/CN={kind}")


def _openssl(*arguments: str) -> str:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def _write(path: Path, content: str) -> None:
    path.touch(mode=0o600)
    path.chmod(0o600 if path.suffix == ".key" else 0o644)
    path.write_text(content)
