"""A healthy cluster, to be broken one answer at a time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.core.inventory_file import load
from fixtures.core.requests import ApiGet, HostCommand, Output, Refusal, Response, Silence
from selftests.gates.texts import (
    ABSENT,
    ADDRESSES,
    ADDRS,
    BASTION,
    CA,
    CAT_CA,
    CAT_CHECK,
    CAT_CONF,
    CONFIG,
    CPS,
    CURL,
    FIND_CONFIG,
    FIND_RKE2,
    GET_NAMESPACE,
    GET_NODES,
    GET_PODS,
    GETENT,
    NO_KUBECTL,
    NO_UNIT,
    PING,
    PING_OK,
    RUN_CHECK,
    SCRIPT,
    SED,
    SHOW_KEEPALIVED,
    SHOW_SERVER,
    STAT_CHECK,
    STAT_RKE2,
    TLS,
    UID,
    VIP,
    addresses,
    conf,
    endpoint_health,
    health,
    items,
    listing,
    member,
    member_list,
    mirrors,
    node_object,
    pod_object,
    rke2_config,
    unit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Answer, Request

ROOT = Path(__file__).parents[2]
AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Reply:
    stdout: str = ""
    stderr: str = ""
    rc: int = 0
    silent: str = ""
    raw: bytes | None = None
    cut: int = 0


@dataclass
class World:
    """Answers by host and command; several answers are given one after the other."""

    cluster: Cluster
    replies: dict[tuple[str, str], list[Reply]] = field(default_factory=dict)
    api: Response | Refusal | Silence | None = None
    sent: list[Request] = field(default_factory=list)
    clock: Callable[[], float] = lambda: 0.0
    _batch: dict[Request, Answer] = field(default_factory=dict)

    def say(self, host: str, command: str, *replies: Reply) -> None:
        self.replies[host, command] = list(replies)

    def silence(self, host: str, *commands: str, reason: str = "") -> None:
        """No answer to these commands, or to any."""
        why = reason or f"{host}: no answer within 15 s"
        for key in [key for key in self.replies if key[0] == host]:
            if not commands or key[1] in commands:
                self.replies[key] = [Reply(silent=why)]

    def readyz(self, status: int, body: bytes) -> None:
        self.api = Response(self._api_request(), status, body, AT, 0.01)

    def refuse(self, reason: str) -> None:
        self.api = Refusal(self._api_request(), reason, AT, 0.01)

    def mute(self, reason: str) -> None:
        self.api = Silence(self._api_request(), reason, AT, 0.01)

    def _api_request(self) -> ApiGet:
        return ApiGet("10.72.0.20", "/readyz", self.cluster.limits.api_request)

    def commands(self, host: str) -> list[str]:
        """What was sent to one host, in order."""
        return [
            request.command
            for request in self.sent
            if isinstance(request, HostCommand) and request.host == host
        ]

    def forget(self) -> None:
        self._batch.clear()

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        for request in requests:
            if request not in self._batch:
                self._batch[request] = self._answer(request)
        return {request: self._batch[request] for request in requests}

    def refresh(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        for request in requests:
            self._batch.pop(request, None)
        return self.ask(requests)

    def _answer(self, request: Request) -> Answer:
        self.sent.append(request)
        if isinstance(request, ApiGet):
            assert self.api is not None
            assert request == self.api.request
            return self.api
        assert isinstance(request, HostCommand)
        queue = self.replies[request.host, request.command]
        reply = queue.pop(0) if len(queue) > 1 else queue[0]
        return answer(request, reply)


def held(node: str, *also: str, interface: str = "eth0") -> Reply:
    """A control plane's own address, and others."""
    return Reply(addresses(f"{ADDRESSES[node]}/23", *also, interface=interface))


def holder(world: World, *names: str) -> None:
    """Exactly these control planes have the VIP."""
    for node in CPS:
        world.say(node, ADDRS, held(node, *([VIP] if node in names else [])))


def configured(node: str, old: str, new: str) -> World:
    """A healthy cluster whose keepalived.conf on that node has one piece replaced."""
    world = healthy()
    assert old in conf(node)
    world.say(node, CAT_CONF, Reply(conf(node).replace(old, new, 1)))
    return world


def answer(request: HostCommand, reply: Reply, at: datetime = AT, seconds: float = 0.01) -> Answer:
    if reply.silent:
        return Silence(request, reply.silent, at, 15.0)
    stdout = reply.stdout.encode() if reply.raw is None else reply.raw
    return Output(request, reply.rc, stdout, reply.stderr.encode(), at, seconds, reply.cut)


@cache
def wetopi() -> Cluster:
    return load(ROOT / "inventories" / "wetopi.yaml")


def healthy(applied: Sequence[str] = CPS) -> World:
    """Everything as the runbook wants it, with RKE2 applied to these control planes."""
    world = World(wetopi())
    world.readyz(200, b"ok")
    world.say(BASTION, PING, Reply(PING_OK))
    for node in CPS:
        _host(world, node, applied)
    first = "rke-cp01"
    world.say(first, GET_NODES, Reply(items(node_object(each) for each in applied)))
    pending = pod_object("coredns-abc", phase="Pending", owners=("ReplicaSet",))
    installer = pod_object("helm-install-x", first, phase="Succeeded", owners=("Job",))
    world.say(first, GET_PODS, Reply(items([*mirrors(applied), pending, installer])))
    for node in applied:
        _control_plane(world, node, applied)
    return world


def _host(world: World, node: str, applied: Sequence[str]) -> None:
    """What any control plane answers, also one that RKE2 is not applied to yet."""
    held = [f"{ADDRESSES[node]}/23"] + (["10.72.0.20/23"] if node == applied[0] else [])
    world.say(node, ADDRS, Reply(addresses(*held)))
    world.say(node, CURL, Reply("\n000", rc=77))
    world.say(node, SHOW_SERVER, Reply(unit("rke2-server.service", **NO_UNIT)))
    world.say(node, SHOW_KEEPALIVED, Reply(unit("keepalived.service", **NO_UNIT)))
    absent = "find: '/etc/rancher/rke2': No such file or directory\n"
    world.say(node, FIND_CONFIG, Reply(stderr=absent, rc=1))
    for question in (member_list(node), endpoint_health(node), GET_NAMESPACE):
        world.say(node, question, Reply(stderr=NO_KUBECTL, rc=1))
    world.say(node, CAT_CA, Reply(stderr=f"cat: {TLS}/server-ca.crt: {ABSENT}", rc=1))


def _control_plane(world: World, node: str, applied: Sequence[str]) -> None:
    for command, text in {
        CURL: "ok\n200",
        SHOW_SERVER: unit("rke2-server.service"),
        SHOW_KEEPALIVED: unit(
            "keepalived.service",
            Result="success",
            NRestarts="0",
            ExecMainStartTimestamp="Mon 2026-11-30 12:24:11 UTC",
        ),
        FIND_CONFIG: f"{CONFIG}\n",
        member_list(node): listing(member(each) for each in applied),
        endpoint_health(node): health(applied),
        GET_NAMESPACE: json.dumps(
            {"kind": "Namespace", "metadata": {"name": "kube-system", "uid": UID}}
        ),
        CAT_CA: CA,
        CAT_CONF: conf(node),
        STAT_CHECK: "755 root root regular file\n",
        CAT_CHECK: SCRIPT,
        RUN_CHECK: "",
        STAT_RKE2: "750 root root directory\n",
        FIND_RKE2: f"/etc/rancher/rke2/rke2.yaml\n{CONFIG}\n",
        SED + CONFIG: rke2_config(node),
    }.items():
        world.say(node, command, Reply(text))
    world.say(node, GETENT, Reply(rc=2))
