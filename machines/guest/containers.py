"""Static pods: a manifest a pod, a systemd unit a container.

The unit stands for what containerd runs: it outlives `rke2-server`, and only the kubelet (the
server's loop) or `rke2-killall.sh` starts and stops it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from typing import Any, Final

from . import journal
from .paths import MANIFESTS

_UNIT: Final = "rke2-container@{}.service"


@dataclass(frozen=True, slots=True)
class StaticPod:
    """One component. An empty `argv` is a container that only exists (kube-proxy here)."""

    component: str
    image: str
    argv: tuple[str, ...] = ()

    def manifest(self, node: str) -> dict[str, Any]:
        """The pod as its file under `agent/pod-manifests` has it."""
        labels = {"component": self.component, "tier": "control-plane"}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{self.component}-{node}",
                "namespace": "kube-system",
                "labels": labels,
            },
            "spec": {
                "hostNetwork": True,
                "priorityClassName": "system-cluster-critical",
                "containers": [
                    {"name": self.component, "image": self.image, "command": list(self.argv)}
                ],
            },
        }


def write(pod: StaticPod, node: str) -> None:
    """Put the pod's manifest where the kubelet looks for it."""
    MANIFESTS.mkdir(parents=True, exist_ok=True)
    path = MANIFESTS / f"{pod.component}.yaml"
    path.write_text(json.dumps(pod.manifest(node), indent=2) + "\n")
    path.chmod(0o600)


def manifests() -> dict[str, dict[str, Any]]:
    """Component → manifest, for every file in the folder. JSON is YAML, so the files end so."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(MANIFESTS.glob("*.yaml"))}


def uid(manifest: dict[str, Any]) -> str:
    """The UID a kubelet knows a static pod by: the hash of its manifest."""
    return hashlib.md5(json.dumps(manifest).encode(), usedforsecurity=False).hexdigest()


def start_dead() -> list[str]:
    """Start each container that has a manifest and is not running; their components."""
    dead = [component for component, state in states().items() if state in {"inactive", "failed"}]
    for component in dead:
        unit = _UNIT.format(component)
        subprocess.run(["systemctl", "reset-failed", unit], capture_output=True, check=False)
        started = subprocess.run(
            ["systemctl", "start", "--no-block", unit], capture_output=True, text=True, check=False
        )
        if started.returncode != 0:
            journal.warning(f"Failed to start container {component}: {started.stderr.strip()}")
    return dead


def states() -> dict[str, str]:
    """Component → its unit's ActiveState, for every manifest."""
    components = list(manifests())
    answer = subprocess.run(
        ["systemctl", "show", "--value", "-p", "ActiveState", *map(_UNIT.format, components)],
        capture_output=True,
        text=True,
        check=False,
    )
    return dict(zip(components, answer.stdout.split(), strict=False))
