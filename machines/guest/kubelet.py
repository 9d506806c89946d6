"""kwok in the kubelet's place, in a root of its own.

What `kubectl exec etcd-<node> -- …` runs, kwok runs where it lives itself. So it lives in a root
that holds what RKE2's etcd container holds: etcdctl and the mounted certificates, no `env`, no
shell, and no `client.crt`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .paths import AGENT, KUBELET_PID, LIBRARY, PROGRAMS, RUN, TLS

if TYPE_CHECKING:
    from .config import Config

_ROOT: Final = RUN / "kubelet"
_OWN: Final = "kwok"
_MOUNTED: Final = (
    "server-ca.crt",
    "server-client.crt",
    "server-client.key",
    "peer-ca.crt",
    "peer-server-client.crt",
    "peer-server-client.key",
)
_GRACE: Final = 5.0


def start(config: Config) -> subprocess.Popen[bytes]:
    """Start kwok for this node; its pid is in `KUBELET_PID` for the unit's ExecStopPost.

    Raises:
        OSError: a file is missing.
    """
    stop()
    _furnish()
    program = _ROOT / _OWN / "kwok"
    binds = {
        PROGRAMS / "kwok": program,
        PROGRAMS / "etcdctl": _ROOT / "usr/local/bin/etcdctl",
        Path("/dev/null"): _ROOT / "dev/null",
    }
    for target in binds.values():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mounts = " && ".join(f"mount --bind {source} {target}" for source, target in binds.items())
    script = f'{mounts} && exec chroot {_ROOT} /{_OWN}/kwok "$@"'
    process = subprocess.Popen(
        [
            *("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "kwok"),
            f"--config=/{_OWN}/kwok.yaml",
            f"--kubeconfig=/{_OWN}/kubelet.kubeconfig",
            f"--manage-single-node={config.node_name}",
            "--manage-all-nodes=false",
            f"--node-ip={config.node_ip}",
            "--node-port=10250",
            "--node-lease-duration-seconds=40",
            f"--tls-cert-file=/{_OWN}/serving-kubelet.crt",
            f"--tls-private-key-file=/{_OWN}/serving-kubelet.key",
        ],
        env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": f"/{_OWN}"},
        stdout=(RUN / "kubelet.log").open("ab"),
        stderr=subprocess.STDOUT,
    )
    KUBELET_PID.write_text(f"{process.pid}\n")
    return process


def stop() -> None:
    """End the kwok that `start` left running, if any, and wait for it."""
    if not KUBELET_PID.exists():
        return
    pid = int(KUBELET_PID.read_text())
    KUBELET_PID.unlink()
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            os.kill(pid, 0)
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)


def _furnish() -> None:
    shutil.rmtree(_ROOT, ignore_errors=True)
    own = _ROOT / _OWN
    certificates = _ROOT / TLS.relative_to("/") / "etcd"
    for folder in (own, certificates, _ROOT / "tmp"):
        folder.mkdir(parents=True)
    for name in _MOUNTED:
        _copy(TLS / "etcd" / name, certificates)
    for path in (
        LIBRARY / "kwok.yaml",
        AGENT / "kubelet.kubeconfig",
        AGENT / "serving-kubelet.crt",
        AGENT / "serving-kubelet.key",
    ):
        _copy(path, own)


def _copy(path: Path, folder: Path) -> None:
    shutil.copyfile(path, folder / path.name)
    (folder / path.name).chmod(0o600)
