"""The real programs, built from the Go modules pinned under `machines/go/` into the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from machines import dirs, plan
from machines.commands import run
from machines.console import step
from machines.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

PROVIDER: Final = "terraform-provider-proxmox"

_BUILD_LIMIT: Final = 45 * 60.0
_VERSION_PACKAGE: Final = "k8s.io/component-base/version"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a published source: a text that is there once, and what is built instead."""

    module: str
    file: str
    old: str
    new: str

    def made(self, text: str) -> str:
        """The text with the change.

        Raises:
            LabError: the old text is not there exactly once.
        """
        if text.count(self.old) != 1:
            raise LabError(f"{self.module} {self.file}: not once in it: {self.old!r}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class GoModule:
    """One pinned module: where it is, program name → main package, linker flags, and edits.

    Beside go.mod and go.sum its folder may hold a program of this repository's own.
    """

    name: str
    programs: dict[str, str]
    ldflags: str = "-s -w"
    edits: tuple[Edit, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder with go.mod, go.sum and the module's own source, if it has any."""
        return dirs.CHECKOUT / "machines" / "go" / self.name

    def key(self) -> str:
        """Changes whenever the programs would: sources' versions, flags or names."""
        digest = hashlib.sha256(repr((self.programs, self.ldflags, self.edits)).encode())
        for path in sorted(self.folder.glob("*.go")):
            digest.update(path.read_bytes())
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


def _of_kwok(file: str, old: str, new: str) -> Edit:
    return Edit("sigs.k8s.io/kwok", file, old, new)


_EXEC: Final = "pkg/kwok/server/debugging_exec.go"
# As published, kwok runs what is exec'd wherever it runs itself, without a word of the pod; a
# command's exit status becomes "Internal error occurred", where a kubelet carries it; its name is
# another after each start, so that it waits for its own Lease to run out; and a pod that it sees
# after it made that Lease and before it sees the Lease stays Pending for good.
_EDITS_OF_KWOK: Final = (
    _of_kwok(
        "pkg/kwok/controllers/controller.go",
        'return hostname + "_" + string(uuid.NewUUID()), nil',
        "_ = uuid.NewUUID\n\treturn hostname, nil",
    ),
    _of_kwok(
        "pkg/kwok/controllers/node_lease_controller.go",
        "if !ok || lease == nil || lease.Spec.HolderIdentity == nil {\n",
        "if !ok || lease == nil {\n\t\t_, trying := c.holdLeaseSet.Load(name)\n"
        "\t\treturn trying\n\t}\n\tif lease.Spec.HolderIdentity == nil {\n",
    ),
    _of_kwok(_EXEC, '"fmt"\n', '"errors"\n\t"fmt"\n'),
    _of_kwok(_EXEC, '"net/http"\n', '"net/http"\n\tosexec "os/exec"\n'),
    _of_kwok(
        _EXEC,
        'streaming/remotecommand"\n',
        'streaming/remotecommand"\n\tutilexec "k8s.io/utils/exec"\n',
    ),
    _of_kwok(
        _EXEC,
        "\t// Set the environment variables.\n",
        f'\tcmd = append([]string{{"{plan.IN_CONTAINER}", podNamespace, podName, container}}, '
        "cmd...)\n\n\t// Set the environment variables.\n",
    ),
    _of_kwok(
        _EXEC,
        "cmd[1:]...)\n\tif err != nil {\n",
        "cmd[1:]...)\n\tif err != nil {\n\t\tvar exit *osexec.ExitError\n"
        "\t\tif errors.As(err, &exit) && exit.Exited() {\n"
        "\t\t\treturn utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}\n\t\t}\n",
    ),
)

MODULES: Final = (
    GoModule("coredns", {"coredns": "github.com/coredns/coredns"}),
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
        _EDITS_OF_KWOK,
    ),
    GoModule(
        "kubernetes",
        {
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in (
                "kube-apiserver",
                "kube-controller-manager",
                "kube-proxy",
                "kube-scheduler",
                "kubectl",
            )
        },
        _kubernetes_flags(),
    ),
    GoModule(PROVIDER, {PROVIDER: f"rke2-acceptance.invalid/{PROVIDER}"}),
    # As in a release: otherwise it calls itself a development build.
    GoModule(
        "tofu",
        {"tofu": "github.com/opentofu/opentofu/cmd/tofu"},
        "-s -w -X github.com/opentofu/opentofu/version.dev=no",
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
        with step(f"fetching the Go modules of {module.name}"):
            _go(module, "mod", "download")
        edited = _edited(module, partial)
        for program, package in module.programs.items():
            with step(f"building {program}"):
                _go(
                    module,
                    *("build", "-trimpath", "-ldflags", module.ldflags, *edited),
                    *("-o", str(partial / program), package),
                )
    return target


def _go(module: GoModule, *arguments: str) -> str:
    env: Mapping[str, str] = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "GOWORK": "off",
    }
    argv = ["go", *arguments]
    return run(argv, cwd=module.folder, env=env, limit=_BUILD_LIMIT, contained=True).stdout


def _edited(module: GoModule, folder: Path) -> list[str]:
    """The flag that builds with edited copies; Go's own cache of modules is never touched."""
    if not module.edits:
        return []
    replaced = {}
    for edit in module.edits:
        copy = folder / "edited" / edit.module
        if not copy.exists():
            published = Path(_go(module, "list", "-m", "-f", "{{.Dir}}", edit.module).strip())
            shutil.copytree(published, copy, copy_function=shutil.copyfile)
            replaced[edit.module] = copy
        path = copy / edit.file
        path.write_text(edit.made(path.read_text()))
    go_mod = folder / "edited" / "go.mod"
    lines = [f"replace {name} => {copy}\n" for name, copy in replaced.items()]
    go_mod.write_text("".join([(module.folder / "go.mod").read_text(), *lines]))
    shutil.copyfile(module.folder / "go.sum", go_mod.with_name("go.sum"))
    return [f"-modfile={go_mod}"]
