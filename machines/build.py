"""Everything that is made once: host tools, programs, image, layer."""

from __future__ import annotations

import os
import platform
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from machines import dirs, gobuild, image, layer
from machines.commands import run
from machines.console import say, step
from machines.errors import LabError

# Program → Debian package that has it.
_TOOLS: Final = {
    "debootstrap": "debootstrap",
    "systemd-nspawn": "systemd-container",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "chroot": "coreutils",
    "git": "git",
}
_KEPT: Final = 7 * 24 * 3600.0
"""Seconds that a layer stays in the cache after it was used last."""
_GO_HINT: Final = "install Go 1.26 or newer (go.dev/dl) and put it on PATH"


@dataclass(frozen=True, slots=True)
class Layers:
    """The read-only folders under every machine's own disk."""

    image: Path
    rke2: Path

    @property
    def lowerdir(self) -> str:
        """Overlayfs's `lowerdir`, topmost first."""
        return f"{self.rke2}:{self.image}"


def require_root() -> None:
    """Refuse a host on which the lab cannot work.

    Raises:
        LabError: not Linux, or not root.
    """
    if platform.system() != "Linux":
        raise LabError("the machines lab needs Linux: namespaces and systemd-nspawn")
    if os.geteuid() != 0:
        raise LabError("the machines lab makes namespaces and mounts: run it as root (sudo)")


def build() -> Layers:
    """Whatever is missing in the cache, made; seconds when nothing is.

    Raises:
        LabError: a tool or a build is missing; the text says which and how to get it.
    """
    require_root()
    dirs.make_private(dirs.cache())
    _require_tools()
    layers = Layers(image=image.build(), rke2=layer.build())
    _drop_outdated(layers)
    return layers


def _require_tools() -> None:
    missing = sorted({_TOOLS[tool] for tool in _TOOLS if shutil.which(tool) is None})
    if missing:
        if not Path("/etc/debian_version").exists():
            raise LabError(f"this host lacks {', '.join(missing)} (Debian package names)")
        with step(f"installing {', '.join(missing)}"):
            run(["apt-get", "update", "-qq"], limit=300.0)
            run(
                ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                limit=600.0,
            )
    if shutil.which("go") is None and any(
        not module.built().is_dir() for module in gobuild.MODULES
    ):
        raise LabError(f"the Go compiler is missing: {_GO_HINT}")


def _drop_outdated(layers: Layers) -> None:
    """Drop what no checkout has used for long: several share the cache, each with its own."""
    in_use = {layers.image, layers.rke2} | {module.built() for module in gobuild.MODULES}
    for folder in in_use:
        os.utime(folder)
    if dirs.state().exists():
        return  # a running lab may stand on an older layer
    now = time.time()
    candidates = [*dirs.cache().glob("image-*"), *dirs.cache().glob("layer-*")]
    candidates += dirs.cache().glob("go/*")
    for folder in candidates:
        # Another checkout's build may drop the same ones meanwhile.
        with suppress(FileNotFoundError):
            if folder not in in_use and now - folder.stat().st_mtime > _KEPT:
                say(f"  dropping outdated {folder.name} from the cache")
                shutil.rmtree(folder)
