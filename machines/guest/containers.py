"""Containers that really run: a manifest a pod, a systemd unit a container.

The unit stands for what containerd runs: it outlives `rke2-server`, and only the kubelet (the
server's loop) or `rke2-killall.sh` starts and stops it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from . import journal
from .paths import BOUND, MANIFESTS

if TYPE_CHECKING:
    from pathlib import Path

_UNIT: Final = "rke2-container@{}.service"


@dataclass(frozen=True, slots=True)
class StaticPod:
    """One component."""

    component: str
    image: str
    argv: tuple[str, ...]

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
    _put(MANIFESTS / f"{pod.component}.yaml", json.dumps(pod.manifest(node), indent=2) + "\n")


def manifests() -> dict[str, dict[str, Any]]:
    """Component → manifest, for every file in the folder. JSON is YAML, so the files end so."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(MANIFESTS.glob("*.yaml"))}


def bound() -> dict[str, dict[str, Any]]:
    """The same of pods that the API has put on this node, as far as they really run."""
    found = {}
    for path in sorted(BOUND.glob("*.json")):
        with contextlib.suppress(FileNotFoundError):  # released while we looked
            found[path.stem] = json.loads(path.read_text())
    return found


def bind(component: str, manifest: dict[str, Any]) -> None:
    """Run a pod of the API; what ran under that name ends."""
    _put(BOUND / f"{component}.json", json.dumps(manifest))
    _systemctl("stop", component)


def release(component: str) -> None:
    """End a pod of the API."""
    (BOUND / f"{component}.json").unlink(missing_ok=True)
    _systemctl("stop", component)


def uid(manifest: dict[str, Any]) -> str:
    """The UID a kubelet knows a pod by: for a static one the hash of its manifest."""
    if known := manifest.get("metadata", {}).get("uid"):
        return str(known)
    return hashlib.md5(json.dumps(manifest).encode(), usedforsecurity=False).hexdigest()


def start_dead() -> list[str]:
    """Start each container that has a manifest and is not running; their components."""
    dead = [component for component, state in states().items() if state in {"inactive", "failed"}]
    for component in dead:
        _systemctl("reset-failed", component)
        started = _systemctl("start", component, "--no-block")
        if started.returncode != 0:
            journal.warning(f"Failed to start container {component}: {started.stderr.strip()}")
    return dead


def states() -> dict[str, str]:
    """Component → its unit's ActiveState, for every manifest, static or not."""
    components = [*manifests(), *bound()]
    answer = subprocess.run(
        ["systemctl", "show", "--value", "-p", "ActiveState", *map(_UNIT.format, components)],
        capture_output=True,
        text=True,
        check=False,
    )
    return dict(zip(components, answer.stdout.split(), strict=False))


def _put(path: Path, content: str) -> None:
    # Whole or not at all: what keeps the containers running reads the folder meanwhile.
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.new")
    partial.write_text(content)
    partial.chmod(0o600)
    partial.rename(path)


def _systemctl(verb: str, component: str, *options: str) -> subprocess.CompletedProcess[str]:
    argv = ["systemctl", verb, *options, _UNIT.format(component)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)
