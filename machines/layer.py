"""The RKE2 layer over the base image: built programs and what stands in for `rke2` itself."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from pathlib import Path
from typing import Final

from machines import dirs, gobuild, plan

_ARCHITECTURE: Final = {"aarch64": "arm64"}.get(platform.machine(), "amd64")
GUEST: Final = Path(__file__).parent / "guest"
LIBRARY: Final = Path("usr/local/lib/machines-lab")
SHARE: Final = Path("usr/local/share")
_RKE2_BIN: Final = Path("var/lib/rancher/rke2/bin")

# Program → place in the machine, where that is not `LIBRARY`. OpenTofu looks for providers there.
_PLACES: Final = {
    "kubectl": _RKE2_BIN / "kubectl",
    gobuild.PROVIDER: SHARE
    / f"terraform/plugins/machines-lab.invalid/standin/proxmox/0.0.1/linux_{_ARCHITECTURE}"
    / f"{gobuild.PROVIDER}_v0.0.1",
}

# Name under machines/guest/files → place in the machine, mode.
FILES: Final = {
    "rke2": (Path("usr/local/bin/rke2"), 0o755),
    "crictl": (_RKE2_BIN / "crictl", 0o755),
    "rke2-killall.sh": (Path("usr/local/bin/rke2-killall.sh"), 0o755),
    "in-container": (Path(plan.IN_CONTAINER).relative_to("/"), 0o755),
    "network": (LIBRARY / "network", 0o755),
    "kwok.yaml": (LIBRARY / "kwok.yaml", 0o644),
    "rke2-server.service": (Path("usr/local/lib/systemd/system/rke2-server.service"), 0o644),
    "rke2-agent.service": (Path("usr/local/lib/systemd/system/rke2-agent.service"), 0o644),
    "rke2-container@.service": (
        Path("usr/local/lib/systemd/system/rke2-container@.service"),
        0o644,
    ),
    "machine-network.service": (Path("etc/systemd/system/machine-network.service"), 0o644),
}


def key() -> str:
    """Changes whenever a program or a file of the layer does."""
    digest = hashlib.sha256(repr((FILES, _PLACES)).encode())
    for module in gobuild.MODULES:
        digest.update(module.key().encode())
    for path in sorted(GUEST.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path.relative_to(GUEST)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def built() -> Path:
    """The folder in the cache that has, or will have, the layer."""
    return dirs.cache() / f"layer-{key()}"


def build() -> Path:
    """The layer's folder, put together first if the cache has none.

    Raises:
        LabError: a Go module did not build.
    """
    target = built()
    if target.is_dir():
        return target
    with dirs.whole(target) as partial:
        for module in gobuild.MODULES:
            programs = gobuild.build(module)
            for program in module.programs:
                place = _PLACES.get(program, LIBRARY / "bin" / program)
                _place(programs / program, partial / place)
        for name, (place, mode) in FILES.items():
            path = partial / place
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(GUEST / "files" / name, path)
            path.chmod(mode)
        shutil.copytree(
            GUEST,
            partial / LIBRARY / "guest",
            ignore=shutil.ignore_patterns("files", "__pycache__"),
        )
        wanted = partial / "etc/systemd/system/multi-user.target.wants/machine-network.service"
        wanted.parent.mkdir(parents=True)
        wanted.symlink_to("/etc/systemd/system/machine-network.service")
    return target


def _place(program: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.link(program, path)
