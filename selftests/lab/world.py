"""Asks the lab's model directly: a world, a host, a command line; no SSH in between."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lab import build
from lab.commands import Chunk, CommandLog, Ended, run
from lab.faults import FAULTS
from lab.layout import Layout
from lab.phase import Phase
from lab.seed import Seed

if TYPE_CHECKING:
    from lab.world import World

SEED = Seed(bytes(range(32)), datetime(2026, 11, 30, 12, 0, tzinfo=UTC))
TLS = "/var/lib/rancher/rke2/server/tls"
KUBECTL = "sudo -n /var/lib/rancher/rke2/bin/kubectl --kubeconfig /etc/rancher/rke2/rke2.yaml"
ETCDCTL = (
    f"etcdctl --endpoints=https://127.0.0.1:2379 --cacert={TLS}/etcd/server-ca.crt "
    f"--cert={TLS}/etcd/server-client.crt --key={TLS}/etcd/server-client.key"
)


@dataclass(frozen=True)
class Said:
    """What a command answered; `known` is what the command log says of it."""

    rc: int
    out: str
    err: str
    known: bool


def world_at(phase: str, *faults: str | tuple[str, object], nodes: int = 6) -> World:
    """A world at that phase with these faults, each a name or a name and its parameters."""
    world = build.world(SEED, Layout.of(nodes), Phase.named(phase))
    for fault in faults:
        name, parameters = (fault, None) if isinstance(fault, str) else fault
        FAULTS[name].apply(world, parameters)
    return world


def ask(world: World, host: str, line: str, limit: float = 5.0) -> Said:
    """Run a command line on a host of the world as ubuntu."""
    return asyncio.run(asyncio.wait_for(_ask(world, host, line), limit))


def etcdctl(world: World, host: str, words: str) -> Said:
    """etcdctl in the etcd pod of that host."""
    return ask(world, host, f"{KUBECTL} -n kube-system exec etcd-{host} -- {ETCDCTL} {words}")


async def _ask(world: World, host: str, line: str) -> Said:
    log = _Known()
    out, err, rc = b"", b"", 255
    async for piece in run(world, world.hosts[host], line, log):
        if isinstance(piece, Ended):
            rc = piece.rc
        elif isinstance(piece, Chunk) and piece.error:
            err += piece.data
        elif isinstance(piece, Chunk):
            out += piece.data
    return Said(rc, out.decode(errors="replace"), err.decode(errors="replace"), log.known)


class _Known(CommandLog):
    def __init__(self) -> None:
        self.known = True
        super().__init__(Path(os.devnull))

    def write(self, host: str, command: str, rc: int | None, mysteries: list[str]) -> None:
        del host, command, rc
        self.known = not mysteries
        self.close()
