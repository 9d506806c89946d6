"""Plans by the real OpenTofu: the infrastructure repository's configuration, applied and changed.

The provider is a stand-in (`machines/go/terraform-provider-proxmox`): its hypervisor is a folder.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from machines import dirs, layer
from machines.commands import run, tail
from machines.errors import LabError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Sequence

CONFIGURATION: Final = Path(__file__).parent / "infrastructure" / "tofu"
MODULE: Final = "proxmox/modules/vm/main.tf"
PRODUCTION: Final = "proxmox/environments/prod"
MAIN: Final = f"{PRODUCTION}/main.tf"
VARIABLES: Final = f"{PRODUCTION}/terraform.tfvars"
PLAN: Final = "ceph-leg.tfplan"
HYPERVISOR: Final = "hypervisor"
GATEWAY: Final = "wetopi-natgw01"
VM_IDS: Final = {GATEWAY: 8031, "wetopi-ops01": 8001}
"""Of the VMs that the configuration describes."""

FACTS: Final = {
    "host": "bastion",
    "program": "~/bin/tofu",
    "chdir": f"~/wetopi-infrastructure/tofu/{PRODUCTION}",
    "plan": PLAN,
    "resource": f'module.vm["{GATEWAY}"].proxmox_virtual_environment_vm.this',
    "nics": "network_device",
    "ip_config": "initialization.ip_config",
    "bridge": "vmbr2",
}
"""What an inventory says of the plan."""

PASSWORD: Final = "planted-password-of-the-hypervisor"  # noqa: S105 of nothing; looked for in reports
_PASSWORDS: Final = f"{PRODUCTION}/password.auto.tfvars"
_LIMIT: Final = 60.0


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a workspace's file: a text that is there once, and what stands there instead.

    Without a new text the file is removed.
    """

    file: str
    old: str
    new: str | None

    def make(self, folder: Path) -> None:
        """Change it; owner and mode stay.

        Raises:
            LabError: the old text is not there exactly once.
        """
        path = folder / self.file
        text = path.read_text() if path.exists() else ""
        if text.count(self.old) != 1:
            raise LabError(f"{path}: not once in it: {self.old!r}")
        if self.new is None:
            path.unlink()
        else:
            path.write_text(text.replace(self.old, self.new))


LEG: Final = Change(VARIABLES, '# { bridge = "vmbr2"', '{ bridge = "vmbr2"')
"""The reviewed change of the runbook's F0: the block that was a comment."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A copy of the configuration in which OpenTofu is run.

    Attributes:
        folder: of the copy, as this process sees it.
        enter: what a command is begun with, to run where the copy is.
        inside: the folder as it is called there.
        home: of who runs OpenTofu there.
        layer: the root under which OpenTofu and its provider are, as it is called there.
    """

    folder: Path
    enter: tuple[str, ...]
    inside: str
    home: str
    layer: str = ""

    @classmethod
    def here(cls, folder: Path, root: Path) -> Workspace:
        """A copy on this host, where OpenTofu has no network.

        Args:
            folder: of the copy.
            root: the built layer.
        """
        return cls(folder, ("unshare", "--net", "--"), str(folder), str(folder), str(root))

    @property
    def program(self) -> str:
        """OpenTofu, where the workspace is."""
        return f"{self.layer}/{layer.LIBRARY}/bin/tofu"

    @property
    def production(self) -> str:
        """The folder that OpenTofu is run in."""
        return f"{self.inside}/{PRODUCTION}"

    def write(self) -> None:
        """Copy the configuration, with the variables of the example."""
        shutil.copytree(CONFIGURATION, self.folder, dirs_exist_ok=True)
        example = self.folder / f"{VARIABLES}.example"
        (self.folder / VARIABLES).write_text(example.read_text())
        dirs.write_private(self.folder / _PASSWORDS, f'password = "{PASSWORD}"\n')
        (self.folder / HYPERVISOR).mkdir(exist_ok=True)

    def apply(self) -> None:
        """Install the provider and bring the VMs about.

        Raises:
            LabError: OpenTofu refuses.
        """
        self._done("init", "-input=false")
        self._done("apply", "-auto-approve", "-input=false")

    def plan(self, *arguments: str, errors: bool = False) -> None:
        """Save a plan; with `errors` one whose planning has to end with an error.

        Raises:
            LabError: it ends otherwise.
        """
        command = ("plan", "-input=false", f"-out={PLAN}", *arguments)
        if not errors:
            self._done(*command)
        elif (seen := self._tofu(*command)).returncode != 1:
            raise LabError(f"tofu plan ended with rc {seen.returncode}, expected an error")

    def copied(self, folder: Path) -> Workspace:
        """A copy of a workspace of this host, its state included."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Workspace.here(folder, Path(self.layer))

    def _done(self, *arguments: str) -> None:
        seen = self._tofu(*arguments)
        if seen.returncode != 0:
            raise LabError(
                f"tofu {arguments[0]} in {self.production} ended with rc {seen.returncode}:\n"
                + tail(seen.stderr or seen.stdout)
            )

    def _tofu(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        # Nothing of the caller's environment: it may say where providers come from.
        clean = ["env", "-i", f"HOME={self.home}", "PATH=/usr/bin:/bin", "TF_IN_AUTOMATION=1"]
        found = f"XDG_DATA_DIRS={self.layer}/{layer.SHARE}"
        tofu = [self.program, f"-chdir={self.production}", arguments[0], "-no-color"]
        argv: Sequence[str] = [*self.enter, *clean, found, *tofu, *arguments[1:]]
        return run(argv, limit=_LIMIT, check=False)


def change(folder: Path, changes: Iterable[Change]) -> None:
    """Make the changes in their order.

    Raises:
        LabError: one does not fit.
    """
    for each in changes:
        each.make(folder)
