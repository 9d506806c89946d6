"""The real programs, built from the Go modules pinned under `machines/go/` into the cache."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from machines import dirs, plan
from machines.commands import run
from machines.console import step

if TYPE_CHECKING:
    from pathlib import Path

_BUILD_LIMIT: Final = 45 * 60.0
_VERSION_PACKAGE: Final = "k8s.io/component-base/version"


@dataclass(frozen=True, slots=True)
class GoModule:
    """One pinned module: where it is, program name → main package, and linker flags."""

    name: str
    programs: dict[str, str]
    ldflags: str = "-s -w"

    @property
    def folder(self) -> Path:
        """The folder with go.mod and go.sum."""
        return dirs.CHECKOUT / "machines" / "go" / self.name

    def key(self) -> str:
        """Changes whenever the programs would: sources' versions, flags or names."""
        digest = hashlib.sha256(repr((self.programs, self.ldflags)).encode())
        for name in ("go.mod", "go.sum"):
            digest.update((self.folder / name).read_bytes())
        return digest.hexdigest()[:16]

    def built(self) -> Path:
        """The folder in the cache that has, or will have, the programs."""
        return dirs.cache() / "go" / f"{self.name}-{self.key()}"


def _kubernetes_flags() -> str:
    major, minor, _ = plan.RKE2_VERSION.removeprefix("v").split(".", 2)
    values = {
        "gitVersion": plan.RKE2_VERSION,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    return "-s -w " + " ".join(f"-X {_VERSION_PACKAGE}.{key}={values[key]}" for key in values)


MODULES: Final = (
    GoModule(
        "etcd",
        {
            "etcd": "go.etcd.io/etcd/server/v3",
            "etcdctl": "go.etcd.io/etcd/etcdctl/v3",
            "etcdutl": "go.etcd.io/etcd/etcdutl/v3",
        },
    ),
    GoModule(
        "kwok",
        {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
        "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=0.7.0",
    ),
    GoModule(
        "kubernetes",
        {
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in (
                "kube-apiserver",
                "kube-controller-manager",
                "kube-scheduler",
                "kubectl",
            )
        },
        _kubernetes_flags(),
    ),
)


def build(module: GoModule) -> Path:
    """The folder with the module's programs, built first if the cache has none.

    Raises:
        LabError: `go` is missing, or the build failed; the text has the compiler's last lines.
    """
    target = module.built()
    if target.is_dir():
        return target
    with dirs.whole(target) as partial:
        partial.mkdir(parents=True)
        env = {
            **os.environ,
            "CGO_ENABLED": "0",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "GOWORK": "off",
        }
        with step(f"fetching the Go modules of {module.name}"):
            run(
                ["go", "mod", "download"],
                cwd=module.folder,
                env=env,
                limit=_BUILD_LIMIT,
                contained=True,
            )
        for program, package in module.programs.items():
            with step(f"building {program}"):
                run(
                    [
                        "go",
                        "build",
                        "-trimpath",
                        "-ldflags",
                        module.ldflags,
                        "-o",
                        str(partial / program),
                        package,
                    ],
                    cwd=module.folder,
                    env=env,
                    limit=_BUILD_LIMIT,
                    contained=True,
                )
    return target
