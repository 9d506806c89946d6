"""Static pods: a manifest a pod, a systemd unit a container.

The unit stands for what containerd runs: it outlives `rke2-server`, and only the kubelet (the
server's loop) or `rke2-killall.sh` starts and stops it.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any, Final

from . import journal
from .paths import LOGS, MANIFESTS

_PAUSE: Final = ["/bin/sleep", "infinity"]
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
    for folder in (MANIFESTS, LOGS):
        folder.mkdir(parents=True, exist_ok=True)
    path = MANIFESTS / f"{pod.component}.yaml"
    path.write_text(json.dumps(pod.manifest(node), indent=2) + "\n")
    path.chmod(0o600)


def manifests() -> dict[str, dict[str, Any]]:
    """Component → manifest, for every file in the folder. JSON is YAML, so the files end so."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(MANIFESTS.glob("*.yaml"))}


def start_dead() -> list[str]:
    """Start each container that has a manifest and is not running; their components."""
    dead = [component for component, state in _states().items() if state in {"inactive", "failed"}]
    for component in dead:
        unit = _UNIT.format(component)
        subprocess.run(["systemctl", "reset-failed", unit], capture_output=True, check=False)
        started = subprocess.run(
            ["systemctl", "start", "--no-block", unit], capture_output=True, text=True, check=False
        )
        if started.returncode != 0:
            journal.warning(f"Failed to start container {component}: {started.stderr.strip()}")
    return dead


def _states() -> dict[str, str]:
    components = list(manifests())
    answer = subprocess.run(
        ["systemctl", "show", "--value", "-p", "ActiveState", *map(_UNIT.format, components)],
        capture_output=True,
        text=True,
        check=False,
    )
    return dict(zip(components, answer.stdout.split(), strict=False))


def run(component: str) -> None:
    """Become the container's program. Never returns.

    Raises:
        OSError: no manifest, or no such program.
    """
    manifest = json.loads((MANIFESTS / f"{component}.yaml").read_text())
    argv = manifest["spec"]["containers"][0]["command"] or _PAUSE
    os.execv(argv[0], argv)  # noqa: S606 no shell is the point: the unit's main process is the program
