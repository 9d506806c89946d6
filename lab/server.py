"""One running lab: its folder, its world, its SSH port."""

from __future__ import annotations

import math
import os
import re
import secrets
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lab import build, controller, inventory, layout
from lab.api import ApiFront
from lab.commands import CommandLog
from lab.hosts import Fleet
from lab.layout import Layout
from lab.made import Made
from lab.phase import Phase
from lab.seed import Seed
from lab.world import SSH_PORT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.scenario import Scenario
    from lab.world import World

# Folders of labs that ended are evidence; so many of them are kept.
_KEPT_RUNS = 20


@dataclass(frozen=True, slots=True)
class Settings:
    """How a lab was asked for.

    Attributes:
        reports: the reports folder; the lab lives in `.lab` below it.
        phase: how far the cluster is applied at first; None is as far as the last lab of these
            reports came.
        rtt: added round-trip time, seconds.
    """

    reports: Path
    scenarios: tuple[Scenario, ...] = ()
    nodes: int = 6
    phase: Phase | None = None
    rtt: float = 0.0


class Lab:
    """The embedded lab as a server. Use `start`, then `stop`.

    Attributes:
        world: the state that commands read and change.
        folder: this lab's own folder: inventory, key, known_hosts, command log.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = settings.reports / ".lab"
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.home.chmod(0o700)
        self.seed = Seed.kept_in(self.home)
        self.layout = Layout.of(settings.nodes)
        self.folder = self._own_folder()
        self._fixed = next(
            (scenario.phase for scenario in settings.scenarios if scenario.phase), settings.phase
        )
        self.world = self._world(self._fixed or self._applied())
        self.port = 0
        self._fleet: Fleet | None = None
        self._log: CommandLog | None = None

    async def start(self) -> Path:
        """Listen and write the inventory; its path."""
        self._log = CommandLog(self.folder / "commands.jsonl")
        front = ApiFront(self, self._log, self.folder)
        self._fleet = Fleet(self, self._log, front, self.settings.rtt)
        self._enter(self.world)
        self.port = await self._fleet.listen()
        path = self._write(self.port)
        # aiohttp takes as long to import as everything else; nobody needs it to connect.
        threading.Thread(target=front.warm_up, daemon=True).start()
        return path

    def describe(self) -> Path:
        """Write the inventory of a lab that is not started: nothing listens on its port."""
        path = self._write(SSH_PORT)
        (self.folder / "pid").unlink()
        return path

    def _write(self, port: int) -> Path:
        files = (file for scenario in self.settings.scenarios for file in scenario.files)
        controller.lay_out(self.folder, self.world, port, files)
        return inventory.write(
            self.world,
            self.folder,
            port,
            scenario=bool(self.settings.scenarios),
            rtt=self.settings.rtt,
        )

    async def stop(self) -> None:
        """Drop all connections. The folder stays: it is evidence."""
        self.world.timeline.close()
        if self._fleet is not None:
            await self._fleet.close()
        if self._log is not None:
            self._log.close()
        with suppress(OSError):
            (self.folder / "pid").unlink()

    def apply(self, phase: Phase) -> None:
        """Play the operator: bring the cluster to that phase, if it is not further already.

        A scenario or an option that names a phase beats the selection.
        """
        if self._fixed is not None:
            return
        applied = self._applied()
        if phase.position > applied.position:
            self._remember(phase)
            applied = phase
        if {applied, self.world.phase} == {Phase.C, Phase.F6}:
            # F6 applies nothing: what C left, a lock or a stopped unit too, is what it finds.
            self.world.phase = applied
        elif applied is not self.world.phase:
            world = self._world(applied)
            world.bastion.files.take_over(self.world.bastion.files, layout.HOME)
            self._enter(world)

    def renew(self) -> None:
        """Begin anew in the same phase, as after everything was brought back by hand."""
        self._enter(self._world(self.world.phase))

    def _enter(self, world: World) -> None:
        self.world.timeline.close()
        self.world = world
        if self._fleet is not None:
            world.log = self._log
            world.begin()
            world.timeline.watch(self._fleet.follow)

    def _world(self, phase: Phase) -> World:
        world = build.world(self.seed, self.layout, phase)
        for scenario in self.settings.scenarios:
            scenario.change(world)
        if not self.settings.scenarios:
            # What a scenario has made of the cluster is over with its run.
            Made(self.home / "made.json").recall(world)
        return world

    def _applied(self) -> Phase:
        try:
            return Phase.named((self.home / "applied").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return Phase.ZERO

    def _remember(self, phase: Phase) -> None:
        draft = self.folder / "applied"
        draft.touch(mode=0o600)
        draft.write_text(phase.value + "\n", encoding="utf-8")
        draft.replace(self.home / "applied")

    def _own_folder(self) -> Path:
        runs = self.home / "runs"
        runs.mkdir(mode=0o700, exist_ok=True)
        _prune(runs)
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}-{secrets.token_hex(3)}"
        folder = runs / name
        folder.mkdir(mode=0o700)
        (folder / "pid").touch(mode=0o600)
        (folder / "pid").write_text(f"{os.getpid()}\n", encoding="utf-8")
        return folder


def _prune(runs: Path) -> None:
    ended = sorted(folder for folder in runs.iterdir() if not _alive(folder))
    for folder in ended[:-_KEPT_RUNS]:
        shutil.rmtree(folder, ignore_errors=True)


def _alive(folder: Path) -> bool:
    try:
        os.kill(int((folder / "pid").read_text(encoding="utf-8")), 0)
    except (OSError, ValueError):
        return False
    return True


def milliseconds(text: str) -> float:
    """Seconds of `10ms`, `0.5s` or a bare number of milliseconds; at most ten seconds.

    Raises:
        ValueError: not such a time.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|)", text)
    seconds = float(match[1]) * (1.0 if match[2] == "s" else 0.001) if match else math.inf
    if seconds > 10:
        raise ValueError(f"`{text}` is not a round-trip time such as 10ms")
    return seconds


def ssh_lines(lab: Lab, names: Sequence[str]) -> list[str]:
    """Ordinary OpenSSH command lines for the bastion and these hosts."""
    key, known = lab.folder / "id_ed25519", lab.folder / "known_hosts"
    options = (
        f"-F none -i {key} -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes "
        f"-o UserKnownHostsFile={known}"
    )
    jump = f"ssh {options} -p {lab.port} ubuntu@127.0.0.1"
    through = jump.replace("ssh ", "ssh -W %h:%p ", 1)
    lines = [jump]
    for name in names:
        address = lab.world.hosts[name].machine.address
        lines.append(f'ssh {options} -o ProxyCommand="{through}" ubuntu@{address}')
    return lines
