"""A lab that outlives the runners: in this process, behind a link that can be cut."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeVar

from lab import controller, inventory, taints
from lab.host import Link
from lab.pace import Pace
from lab.phase import Phase
from lab.server import Lab, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lab.host import Host
    from lab.objects import Store
    from lab.world import World

T = TypeVar("T")

LOCK = "/home/ubuntu/.rke2-acceptance/lab/lock"
STOP = "/home/ubuntu/.rke2-acceptance/lab/STOP"
LATCH = "/home/ubuntu/.rke2-acceptance/lab/latch"
RESET_LATCH = "/var/lib/rancher/rke2-acceptance/latch"

# A drill must not last longer than it has to.
LIMITS = {
    "outage_watch": 0.1,
    "sampler_baseline": 0.1,
    "vip_poll": 0.03,
    "reconnect_backoff": 0.1,
    "connect": 2.0,
    "command": 2.0,
    "undo_failover": 30.0,
    "undo_outage": 30.0,
    "undo_drain": 30.0,
    "ready_holds": 0.2,
}
PACE = Pace(
    fall=0.05,
    rise=0.03,
    takeover=0.1,
    preempt=0.02,
    election=0.02,
    supervisor=0.02,
    etcd=0.02,
    api=0.02,
    ready=0.01,
    join=0.02,
    promote=0.03,
    flag=0.05,
    status=0.03,
    grace=0.3,
    reset=0.1,
    refusal=0.05,
)


@dataclass
class Relay:
    """The link to the bastion."""

    port: int = 0
    target: int = 0
    open: bool = True
    _streams: set[asyncio.StreamWriter] = field(default_factory=set)

    async def listen(self, target: int) -> None:
        """Carry connections to that port of this machine."""
        self.target = target
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    def cut(self, seconds: float) -> None:
        """Drop every connection, and each new one for so long."""
        self.open = False
        for stream in self._streams:
            stream.transport.abort()
        if math.isfinite(seconds):
            asyncio.get_running_loop().call_later(seconds, self.mend)

    def mend(self) -> None:
        """Carry again."""
        self.open = True

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.open:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        ends = {writer, back}
        self._streams |= ends
        try:
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        finally:
            self._streams -= ends
            for end in ends:
                end.transport.abort()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()
    sink.transport.abort()


class Outliving:
    """Use it as a context. What reads or changes the world goes through `inside`.

    Attributes:
        inventory: for runners; the link in it is the relay.
        control: the socket that `killing` sends its orders to.
        holding: a runner was told to wait, and waits for `go`.
    """

    def __init__(
        self, folder: Path, *, phase: Phase = Phase.C, nodes: int = 3, **limits: float
    ) -> None:
        self.lab = Lab(Settings(folder / "labs", phase=phase, nodes=nodes))
        self.relay = Relay()
        self.control = folder / "control"
        self.holding, self.go = threading.Event(), threading.Event()
        self._limits = {**LIMITS, **limits}
        self._folder = folder / "operator"
        self._folder.mkdir()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(20)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.lab.stop(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)

    async def _start(self) -> None:
        await self.lab.start()
        await self.relay.listen(self.lab.port)
        await asyncio.start_unix_server(self._obey, self.control)
        self.world.limits |= self._limits
        self.world.pace = PACE
        controller.lay_out(self._folder, self.world, self.relay.port, ())
        self.inventory = inventory.write(
            self.world, self._folder, self.relay.port, scenario=False, rtt=0.0
        )

    async def _obey(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        means, *seconds = (await reader.read()).decode().split()
        if means == "cut":
            self.relay.cut(float((seconds or ["inf"])[0]))
        elif means == "stop":
            self.world.bastion.files.file(STOP, b"grace: not now\n", 0o600, "ubuntu")
        else:
            self.holding.set()
            await asyncio.to_thread(self.go.wait, 20)
        writer.write(b".")
        await writer.drain()
        writer.close()

    @property
    def world(self) -> World:
        """As it is now."""
        return self.lab.world

    def inside(self, action: Callable[[], T]) -> T:
        """Do something between two events of the world."""

        async def act() -> T:
            return action()

        return asyncio.run_coroutine_threadsafe(act(), self._loop).result(20)

    def repair(self) -> None:
        """Somebody has brought everything back by hand."""

        def repair() -> None:
            self.relay.mend()
            self.lab.renew()
            self.world.pace = PACE

        self.inside(repair)

    def release(self) -> None:
        """Somebody has looked, and released the lock of a dead run."""
        self.inside(lambda: self.world.bastion.files.remove(LOCK))

    def hurry(self) -> None:
        """Let so much time pass that every timer has fired."""
        self.inside(self.world.timeline.hurry)

    def eventually(self, look: Callable[[], list[str]], within: float = 8.0) -> list[str]:
        """What a look inside still finds when it finds nothing, or when the time is over."""
        end = time.monotonic() + within
        while (found := self.inside(look)) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def unhealthy(self) -> list[str]:
        """What a drill may not leave; call it inside."""
        world = self.world
        found = [each for host in world.control_planes for each in _of(host)]
        for machine in world.layout.workers:
            found += _of_worker(world.hosts[machine.name], world.objects)
        holders = [host.name for host in world.holders()]
        if holders != ["rke-cp01"]:
            found.append(f"the VIP is on {holders}")
        clusters = [world.with_life(cluster) for cluster in world.etcd]
        voters = [
            m.node for c in clusters for m in c.members if not m.learner and m.node in c.alive
        ]
        if sorted(voters) != [host.name for host in world.control_planes]:
            found.append(f"etcd votes on {voters}")
        return found

    def servers(self) -> dict[str, tuple[bool, bool]]:
        """By control plane: whether rke2-server is active or starting, and masked."""
        units = {host.name: host.units["rke2-server.service"] for host in self.world.control_planes}
        return {
            name: (unit.active in {"active", "activating"}, unit.masked)
            for name, unit in units.items()
        }

    def latched(self) -> tuple[bool, bool]:
        """Whether the bastion and the first control plane have a latch."""
        first = self.world.first_control_plane
        return self.world.bastion.files.has(LATCH), first.files.has(RESET_LATCH)

    def locked(self) -> bool:
        """Whether a run has the lock."""
        return self.world.bastion.files.has(LOCK)


def _of(host: Host) -> Iterator[str]:
    for name in ("keepalived.service", "rke2-server.service"):
        unit = host.units[name]
        if (unit.active, unit.masked, unit.file_state) != ("active", False, "enabled"):
            yield f"{host.name}: {name} is {unit.active}, masked {unit.masked}, {unit.file_state}"
    yield from _left_on(host)


def _of_worker(host: Host, store: Store) -> Iterator[str]:
    # For a while a node is Ready whose machine is away.
    if host.link is not Link.UP or not host.active("rke2-agent.service"):
        yield f"{host.name} is away, or its agent does not run"
    node = store.get("Node", "", host.name)
    assert node is not None
    ready = next(each for each in node["status"]["conditions"] if each["type"] == "Ready")
    keys = {taint["key"] for taint in node["spec"].get("taints") or []}
    if node["spec"].get("unschedulable") or taints.UNSCHEDULABLE in keys:
        yield f"{host.name} is cordoned"
    if ready["status"] != "True" or keys - {taints.UNSCHEDULABLE}:
        yield f"{host.name}: Ready {ready['status']}, taints {sorted(keys)}"
    yield from _left_on(host)


def _left_on(host: Host) -> Iterator[str]:
    for name in host.units:
        if name.startswith(("rke2-undo-", "rke2-drill-")):
            yield f"{host.name}: {name} is left"
