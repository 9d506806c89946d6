"""`rke2 server --cluster-reset`: what a reset does, and each way in which it fails.

Wording, streams and exit codes: facts/real-run 1 to 12, captures k3s-reset.out.
"""

from __future__ import annotations

import json
import math
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from lab import databases, journal, snapshots
from lab.births import populate
from lab.databases import Damage
from lab.etcd import EtcdCluster, Member
from lab.filesystem import Kind
from lab.membership import bootstraps
from lab.objects import Store
from lab.servers import OF_THE_SERVER
from lab.trouble import Reset

if TYPE_CHECKING:
    from lab.host import Host
    from lab.tools.call import Call
    from lab.world import World

_SENTENCE = (
    "Managed etcd cluster membership has been reset, restart without --cluster-reset flag now. "
    "Backup and delete ${datadir}/server/db on each peer etcd server and rejoin the nodes"
)
_MANAGED = "Error: starting kubernetes: failed to start cluster: start managed database: "
_TOKEN = "/var/lib/rancher/rke2/server/token"  # noqa: S105
_UNREACHABLE = (
    "Failed to test etcd connection: failed to get etcd status: rpc error: code = Unavailable desc "
    '= connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: '
    'connection refused"'
)


class _Fatal(Exception):  # noqa: N818
    """The process ends with this text at level=fatal and status 1."""


@dataclass(frozen=True, slots=True)
class ClusterReset:
    """One run of it.

    Attributes:
        path: the restore path; None is a bare reset, empty is what a script's mistake leaves.
    """

    call: Call
    path: str | None

    @property
    def _world(self) -> World:
        return self.call.world

    @property
    def _host(self) -> Host:
        return self.call.host

    def _say(self, level: str, message: str) -> None:
        journal.complain(self.call, level, message)

    async def run(self) -> int:
        """Reset; the exit status."""
        try:
            return await self._run()
        except _Fatal as error:
            self._say("fatal", str(error))
            return 1

    async def _run(self) -> int:
        world, host, pace = self._world, self._host, self._world.pace
        if not bootstraps(host):
            raise _Fatal(
                "Error: cannot perform cluster-reset while server URL is set - remove server from "
                "configuration before resetting"
            )
        if not host.files.has(_TOKEN):
            raise _Fatal(
                f"Error: {_TOKEN} does not exist, please pass --token to complete the restoration"
            )
        if world.trouble.reset is Reset.FLAG_IGNORED:
            self._say(
                "info", "Running kube-apiserver --advertise-port=6443 --allow-privileged=true"
            )
            await world.timeline.pause(math.inf)
        await self._refuse_beside_a_server()
        self._say("info", "Static pod cleanup in progress")
        if world.trouble.reset is Reset.CLEANUP_TIMEOUT:
            await world.timeline.pause(pace.reset)
            raise _Fatal("static pod cleanup timed out")
        host.processes -= OF_THE_SERVER
        self._say("info", "Static pod cleanup completed successfully")
        self._say("info", "Managed etcd cluster bootstrap already complete and initialized")
        if world.trouble.reset is Reset.HANGS:
            await world.timeline.pause(math.inf)
        await world.timeline.pause(pace.refusal)
        if self.path:
            store = self._restore(self.path)
            cluster = self._begin(store, restored=True)
        else:
            self._forbid_second()
            cluster = self._begin(None, restored=False)
        return await self._finish(cluster)

    async def _refuse_beside_a_server(self) -> None:
        if "supervisor" not in self._host.processes:
            return
        if not self._world.etcd_serves(self._host):
            # Measured: 577 s without an error, and the flag is written.
            self._host.files.file(databases.RESET_FLAG, b"", 0o600)
            await self._world.timeline.pause(math.inf)
        text = "listen tcp 127.0.0.1:6444: bind: address already in use"
        self._say("warning", f"Error starting load balancer: {text}")
        raise _Fatal(f"Error: {text}")

    def _forbid_second(self) -> None:
        if self._host.files.has(databases.RESET_FLAG):
            raise _Fatal(
                f"{_MANAGED}Managed etcd cluster membership was previously reset, please remove "
                "the cluster-reset flag and start rke2 normally. If you need to perform another "
                f"cluster reset, you must first manually delete the file at {databases.RESET_FLAG}"
            )

    def _restore(self, path: str) -> Store:
        """Read the snapshot; the old database is moved away before the file is looked at."""
        content = self._content(path)
        self._move_away()
        try:
            store = snapshots.restored(path, content)
        except snapshots.SnapshotError as error:
            if content.startswith(b"\0") and len(content) > 100:
                kind = Damage.FLIPPED if "expected" in str(error) else Damage.TRUNCATED
                databases.damage(self._host, kind)
            self._give_up(str(error))
        for step in ("restoring snapshot", "restored snapshot"):
            line = {"level": "info", "logger": "rke2-etcd-client", "msg": step, "path": path}
            self.call.complain(json.dumps(line, separators=(",", ":")))
        return store

    def _content(self, path: str) -> bytes:
        files = self._host.files
        trouble = self._world.trouble.reset
        absolute = path.startswith("/") and trouble is not Reset.PATH_GONE
        if not absolute or not files.has(path):
            self._give_up(f"etcd: snapshot path does not exist: {path}")
        if files.entry(path).kind is Kind.FOLDER:
            self._give_up(f"etcd: snapshot path must be a file, not a directory: {path}")
        if path.endswith(".zip"):
            self._say("info", f"Decompressing etcd snapshot file: {path}")
            joined = posixpath.dirname(path) + path
            self._give_up(f"open {joined}: no such file or directory")
        content = files.read(path)
        if trouble is Reset.FILE_EMPTY:
            return b""
        if trouble is Reset.FILE_TRUNCATED:
            return content[: len(content) // 2 + 7]
        if trouble is Reset.FILE_DAMAGED:
            return content[:4096] + bytes([content[4096] ^ 1]) + content[4097:]
        return content

    def _give_up(self, why: str) -> NoReturn:
        self._say("info", "Shutdown request received")
        self._say("warning", "failed to list etcd members: context canceled")
        raise _Fatal(f"{_MANAGED}{why}")

    def _move_away(self) -> None:
        stamp = int(self._world.now(self._host).timestamp())
        while self._host.files.has(f"{databases.FOLDER}/etcd-old-{stamp}"):
            stamp += 1
        target = f"{databases.FOLDER}/etcd-old-{stamp}"
        if not self._host.files.has(databases.ETCD):
            raise _Fatal(f"{_MANAGED}rename {databases.ETCD} {target}: no such file or directory")
        self._host.files.move(databases.ETCD, target)
        self._say("info", f"Pre-restore etcd database moved to {target}")

    def _begin(self, store: Store | None, *, restored: bool) -> EtcdCluster:
        """The cluster of one that a reset leaves.

        Its id comes from the peer URL and the token, so a second restore finds it unchanged;
        member names always change.
        """
        world, host = self._world, self._host
        world.serial += 1
        self._say("info", "Starting etcd for new cluster, cluster-reset=true")
        before = world.cluster_of(host)
        name = f"{host.name}-{world.seed.hex('etcd name', host.name, str(world.serial), digits=8)}"
        if restored or before is None:
            number, own = (
                world.seed.integer("restored cluster"),
                world.seed.integer("restored member", host.name),
            )
        else:
            number = before.id
            own = next(each.id for each in before.members if each.node == host.name)
        if store is None or world.trouble.reset is Reset.WITHOUT_RESTORE:
            store = world.objects_of(host)
        elif world.trouble.reset is Reset.EMPTIED:
            store = Store()
        member = Member(own, name, host.name, host.machine.address)
        key = f"reset {world.serial}"
        cluster = EtcdCluster(number, 2, 1200, [member], key=key, objects=store)
        if not restored:
            world.etcd[:] = [each for each in world.etcd if each is not before]
        for each in world.etcd:
            each.leave(host.name)
        world.etcd.insert(0, cluster)
        databases.create(host, cluster, member)
        if world.trouble.reset is Reset.EMPTIED:
            populate(world, host, cluster)
        return cluster

    async def _finish(self, cluster: EtcdCluster) -> int:
        world, host, trouble = self._world, self._host, self._world.trouble.reset
        while trouble is Reset.LOOPS:
            self._say("info", _UNREACHABLE)
            self._say("info", "Waiting for etcd server to become available")
            await world.timeline.pause(world.pace.refusal)
        self._say("info", _UNREACHABLE)
        host.files.file(databases.RESET_FLAG, b"", 0o600)
        await world.timeline.pause(world.pace.reset)
        if trouble is Reset.DIES_LATE:
            self._say("fatal", "context canceled")
            return 1
        self._say("info", "Connection to etcd is ready")
        self._say("info", "ETCD server is now running")
        self._say("info", "rke2 is up and running")
        if trouble is Reset.OTHER_TOKEN:
            text = "failed to save bootstrap data: bootstrap data already found and encrypted with "
            self._say("error", f'Shutdown request received: "{text}different token"')
            self._say("info", "Stopping etcd server...")
            raise _Fatal("context canceled")
        self._say("warning", "Bootstrap key already exists")
        if trouble is Reset.ERRORS_FIRST:
            for number in range(10):
                self._say("error", f"Sending HTTP/1.1 503 response to 127.0.0.1:{40100 + number}")
        self._say("warning", "Updating bootstrap data on disk from datastore")
        if trouble is Reset.OLD_WORDING:
            self._say("info", _SENTENCE)
        elif trouble is not Reset.NO_MESSAGE:
            self._say("error", f'Shutdown request received: "{_SENTENCE}"')
        self._say("info", "Stopping etcd server...")
        self._say("info", "etcd server stopped")
        cluster.led_by = ""
        return 0
