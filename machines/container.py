"""One machine as a systemd-nspawn container: its disk, its start, and commands inside it."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from machines import cgroups, dirs, network, plan
from machines.commands import run, tail
from machines.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from machines.build import Layers
    from machines.plan import Machine

_BOOT_LIMIT: Final = 60.0
_POLL: Final = 0.1
_REBOOT: Final = 133


@dataclass(frozen=True, slots=True)
class Container:
    """A machine's container. All state is in its folder and its control group."""

    machine: Machine

    @property
    def folder(self) -> Path:
        """Its folder in the lab's state: disk, console log."""
        return dirs.state() / "disks" / self.machine.name

    @property
    def disk(self) -> Path:
        """The writable layer before the machine starts; use `root` while it runs."""
        return self.folder / "upper"

    @property
    def root(self) -> Path:
        """The running machine's root directory, seen from the host.

        Raises:
            LabError: it is not running.
        """
        return Path(f"/proc/{self.init}/root")

    @property
    def init(self) -> int:
        """The pid, on the host, of the machine's systemd.

        Raises:
            LabError: it is not running.
        """
        pids = cgroups.processes(f"{self.machine.name}/payload/init.scope")
        if not pids:
            raise LabError(f"{self.machine.name} is not running: `python -m machines up`")
        return min(pids)

    @property
    def running(self) -> bool:
        """Whether its systemd is there."""
        return bool(cgroups.processes(f"{self.machine.name}/payload/init.scope"))

    def write(self, path: str, content: str, mode: int = 0o644, owner: int = 0) -> None:
        """Write a file of the machine, running or not; its folder must be there or is made."""
        base = self.root if self.running else self.disk
        target = base / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.new")
        dirs.write_private(partial, content)
        partial.chmod(mode)
        shutil.chown(partial, owner, owner)
        partial.rename(target)

    def read(self, path: str) -> str:
        """A file of the running machine.

        Raises:
            LabError: the machine is not running, or has no such file.
        """
        try:
            return (self.root / path.lstrip("/")).read_text()
        except OSError as reason:
            raise LabError(f"{self.machine.name}: {path}: {reason.strerror}") from None

    def start(self, layers: Layers) -> None:
        """Start the machine, and a loop that starts it again whenever it reboots."""
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.write("/etc/machine-id", f"{uuid.uuid4().hex}\n", mode=0o444)
        cgroups.create(self.machine.name)
        with (self.folder / "console.log").open("ab") as console:
            subprocess.Popen(
                [
                    *network.enter(network.FABRIC),
                    *("unshare", "--mount", "--propagation", "private"),
                    *("sh", "-c", self._script(layers)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd="/",
            )

    def _script(self, layers: Layers) -> str:
        machine, folder = self.machine, shlex.quote(str(self.folder))
        groups = cgroups.groups(machine.name)
        joined = "\n".join(f"echo $$ > {group}/cgroup.procs" for group in groups)
        nspawn = [
            "systemd-nspawn",
            *("--boot", "--register=no", "--keep-unit", "--console=pipe", "--quiet"),
            f"--directory={self.folder}/root",
            f"--machine={machine.name}",
            f"--network-bridge={network.bridge(machine)}",
        ]
        attach = ""
        if machine in plan.ON_WAN:
            nspawn.append(f"--network-veth-extra={machine.kind}-wan:wan0")
            attach = (
                f"( until ip link set {machine.kind}-wan master {network.WAN_BRIDGE} up; "
                "do sleep 0.1; done ) 2>/dev/null &"
            )
        # /run is a tmpfs of this mount namespace: what nspawn leaves there vanishes with it.
        return f"""set -eu
{joined}
cd {folder}
mount -t tmpfs -o mode=0755 tmpfs /run
mount -t overlay overlay -o lowerdir={layers.lowerdir},upperdir=upper,workdir=work root
while :; do
    {attach}
    rc=0
    {shlex.join(nspawn)} || rc=$?
    [ "$rc" -eq {_REBOOT} ] || exit "$rc"
done
"""

    def wait_booted(self) -> None:
        """Wait until sshd and the network are up.

        Raises:
            LabError: it takes longer than a minute, or the container ended; with its last words.
        """
        wanted = ["systemctl", "is-active", "--quiet", "ssh.service", "machine-network.service"]
        self.wait(
            "sshd and its network",
            lambda: all(self.call([*wanted[:3], unit]).returncode == 0 for unit in wanted[3:]),
            limit=_BOOT_LIMIT,
            journal_of="",
        )

    def wait(
        self, what: str, ready: Callable[[], bool], *, limit: float, journal_of: str = ""
    ) -> None:
        """Wait until `ready` is true; LabErrors while asking count as not yet.

        Raises:
            LabError: not within `limit` seconds, or the machine ended; the text names it and has
                its journal.
        """
        started = time.monotonic()
        alive = False
        while time.monotonic() < started + limit:
            with contextlib.suppress(LabError):
                if ready():
                    return
            there = bool(cgroups.processes(self.machine.name))
            if alive and not there:
                break
            alive = there
            time.sleep(_POLL)
        raise LabError(
            f"{self.machine.name}: no {what} after {time.monotonic() - started:.0f} s; "
            f"its last words:\n{self.last_words(journal_of)}"
        )

    def call(
        self, argv: Sequence[str], *, stdin: str | None = None, limit: float = 30.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a command inside as root, whatever its rc.

        Raises:
            LabError: the machine is not running, or the command does not end within `limit`.
        """
        return run([*self.enter(), *argv], stdin=stdin, limit=limit, check=False)

    def do(self, *argv: str, stdin: str | None = None, limit: float = 30.0) -> str:
        """Run a command inside as root that has to succeed; its stdout.

        Raises:
            LabError: it failed; the text names the machine.
        """
        done = self.call(argv, stdin=stdin, limit=limit)
        if done.returncode != 0:
            raise LabError(
                f"{self.machine.name}: `{shlex.join(argv)}` ended with rc {done.returncode}:\n"
                + tail(done.stderr or done.stdout)
            )
        return done.stdout

    def enter(self) -> list[str]:
        """The command prefix that runs a program inside as root."""
        return ["nsenter", f"--target={self.init}", "--all", "--wdns=/root", "--"]

    def last_words(self, unit: str = "") -> str:
        """The tail of the machine's journal (of `unit`, if named), or of its console."""
        if self.running:
            query = ["journalctl", "--no-pager", "--lines=25", "--output=short"]
            done = self.call([*query, f"--unit={unit}"] if unit else query)
            return tail(done.stdout or done.stderr, 25)
        console = self.folder / "console.log"
        if console.exists():
            return tail(console.read_text(errors="backslashreplace"), 25)
        return "    (it never started)"
