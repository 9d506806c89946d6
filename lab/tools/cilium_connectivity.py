"""`cilium connectivity test` v0.19: pods that try to reach each other, and a report.

What it makes it leaves behind, as the real one does.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab import apiwrites, taints
from lab.apipaths import Target
from lab.cluster.census import is_ready
from lab.connectivity import CLIENTS, OTHER_NODE, SAME_NODE, SUITE
from lab.objects import resource_named
from lab.tools.call import split
from lab.tools.cilium import objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.objects import Object, Store
    from lab.tools.call import Call, Options

_SPACE = "cilium-test-1"
_GLANCE = 0.02
_SPACES = (_SPACE, "cilium-test-ccnp1", "cilium-test-ccnp2")
_CLUSTER = "default"
_INFO, _WARN = "\N{INFORMATION SOURCE}\ufe0f ", "⚠\ufe0f "
_IMAGES = {
    "--curl-image": "quay.io/cilium/alpine-curl:v1.10.0",
    "--json-mock-image": "quay.io/cilium/json-mock:v1.3.9",
    "--dns-test-server-image": "registry.k8s.io/coredns/coredns:v1.12.4",
    "--echo-image": "",
    "--test-conn-disrupt-image": "quay.io/cilium/test-connection-disruption:v0.0.17",
    "--frr-image": "quay.io/frrouting/frr:10.5.0",
    "--socat-image": "docker.io/alpine/socat:1.8.0.3",
}
_KILLED = 137


@dataclass(slots=True)
class _Counts:
    tests: int = 0
    actions: int = 0
    skipped: int = 0
    less: int = 0


class _Broken(Exception):  # noqa: N818
    """It cannot go on: what it says last."""


async def run(call: Call, arguments: Sequence[str]) -> int:
    """`cilium connectivity test [--verbose] [--*-image IMAGE]`."""
    options = split(
        arguments,
        flags=("--verbose", "-v"),
        valued=tuple(_IMAGES),
        name="cilium",
        refuse="Error: unknown flag: {flag}",
        clustered=False,
    )
    store = await objects(call, "/api/v1/namespaces/kube-system/daemonsets/cilium")
    if isinstance(store, str):
        call.complain(f"Error: connectivity test failed: unable to determine status: {store}")
        return 1
    test = _Test(call, store, options)
    try:
        await test.deploy()
        return await test.go()
    except _Broken as broken:
        call.complain(f"Error: connectivity test failed: {broken}")
        return 1


class _Test:
    def __init__(self, call: Call, store: Store, options: Options) -> None:
        self._call = call
        self._store = store
        self._options = options
        self._decreed = call.world.connectivity
        verbose = "--verbose" in options or "-v" in options
        self._shows = verbose and not (self._decreed.silent or self._decreed.old)
        self._nodes = [
            node["metadata"]["name"]
            for node in store.each("Node")
            if not any(taint["effect"] == "NoSchedule" for taint in taints.of(node))
        ]
        self._one_node = self._decreed.one_node or len(self._nodes) == 1
        self._pods: dict[str, Object] = {}

    async def deploy(self) -> None:
        """Namespaces and deployments, until their pods are ready."""
        if self._one_node:
            self._say(
                f"{_INFO} Single-node environment detected, enabling single-node connectivity test"
            )
        self._say(f"{_INFO} Monitor aggregation detected, will skip some flow validation steps")
        for space in _SPACES:
            if self._store.peek("Namespace", "", space) is None:
                self._say(f"✨ [{_CLUSTER}] Creating namespace {space} for connectivity check...")
                labels = {"app.kubernetes.io/name": "cilium-cli"}
                self._make("Namespace", {"metadata": {"name": space, "labels": labels}})
        echoes = (SAME_NODE,) if self._one_node else (SAME_NODE, OTHER_NODE)
        first, second = (self._nodes or [""])[0], (self._nodes or [""])[-1]
        for name in (*CLIENTS, *echoes):
            self._say(f"✨ [{_CLUSTER}] Deploying {name} deployment...")
            image = "--curl-image" if name in CLIENTS else "--json-mock-image"
            self._make(
                "Deployment", self._deployment(name, image, {OTHER_NODE: second}.get(name, first))
            )
        for name in (*CLIENTS, *echoes):
            self._say(f"⌛ [{_CLUSTER}] Waiting for deployment {_SPACE}/{name} to become ready...")
            self._pods[name] = await self._ready(name)

    def _make(self, kind: str, body: Object) -> None:
        resource = resource_named(kind)
        assert resource is not None
        world = self._call.world
        place = Target(resource, _SPACE if resource.namespaced else "")
        answer = apiwrites.create(world, world.first_control_plane, place, body)
        if answer.status not in (201, 409):
            raise _Broken(f"unable to create {kind}: {answer.document['message']}")

    def _deployment(self, name: str, image: str, node: str) -> Object:
        labels = {"name": name, "kind": "client" if name in CLIENTS else "echo"}
        container = {"name": name, "image": self._options.get(image) or _IMAGES[image]}
        spec = {"containers": [container], "nodeSelector": {"kubernetes.io/hostname": node}}
        return {
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"name": name}},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }

    async def _ready(self, name: str) -> Object:
        pace = self._call.world.pace
        until = asyncio.get_running_loop().time() + pace.deployment
        while asyncio.get_running_loop().time() < until:
            for pod in self._store.select("Pod", _SPACE, {"name": name}):
                if is_ready(pod):
                    return pod
            await asyncio.sleep(_GLANCE)
        raise _Broken(
            f"timeout reached waiting for deployment {_SPACE}/{name} to become ready (last error: "
            "only 0 of 1 replicas are available)"
        )

    async def go(self) -> int:
        """The tests and their report; how it ends."""
        self._say(f"{_INFO} Skipping IPCache check")
        self._say("🔭 Enabling Hubble telescope...")
        self._say(
            f"{_WARN} Unable to contact Hubble Relay, disabling Hubble telescope and flow "
            'validation: rpc error: code = Unavailable desc = connection error: desc = "transport: '
            'Error while dialing: dial tcp 127.0.0.1:4245: connect: connection refused"'
        )
        self._say(f"{_INFO} Cilium version: {self._version}")
        self._say(f"🏃[{_SPACE}] Running {len(SUITE)} tests ...")
        counts, failed = _Counts(), dict[str, list[str]]()
        for number, name in enumerate(SUITE, 1):
            place = f"[{number}/{len(SUITE)}]"
            why = self._decreed.why_skipped(name, one_node=self._one_node)
            if why:
                counts.skipped += 1
                self._say(f"[=] [{_SPACE}] Skipping test [{name}] {place} ({why})")
                continue
            if name == self._decreed.dies:
                self._call.streams.flush()
                await asyncio.sleep(0)
                return _KILLED
            counts.tests += 1
            self._say(f"[=] [{_SPACE}] Test [{name}] {place}")
            await self._one(name, counts, failed)
        return self._report(counts, failed)

    @property
    def _version(self) -> str:
        agent = next(iter(self._store.select("Pod", "kube-system", {"k8s-app": "cilium"})), None)
        image = agent["spec"]["containers"][0]["image"] if agent else "unknown"
        return str(image).rpartition(":v")[2]

    async def _one(self, name: str, counts: _Counts, failed: dict[str, list[str]]) -> None:
        fails = name in self._decreed.fails
        for scenario in SUITE[name]:
            if scenario in self._decreed.without:
                counts.less += 1
                self._show(f"  [-] Skipping Scenario [{name}/{scenario}]")
                continue
            self._show(f"  [-] Scenario [{name}/{scenario}]")
            for action in self._actions(name, scenario):
                counts.actions += 1
                self._show(f"  [.] Action [{action}]")
                if self._decreed.hiccup and counts.actions == 3:
                    self._show("  ❌ command failed, retrying (1/3): exit code 28")
                    self._show("  🟥 curl: (28) Connection timed out after 2002 milliseconds")
                if fails and name not in failed:
                    failed[name] = [f"{action}: {_why(name)}"]
                    self._say(f"  ❌ {_why(name)}")
        if not self._shows:
            self._call.write("." * 12 + "\n")
        self._call.streams.flush()
        await asyncio.sleep(self._decreed.lasts(name, self._call.world.pace.connectivity))

    def _actions(self, name: str, scenario: str) -> list[str]:
        if scenario not in ("pod-to-pod", "pod-to-service", "pod-to-world", "pod-to-cidr"):
            return [f"{name}/{scenario}:{scenario}-0"]
        targets = {
            "pod-to-world": ["one.one.one.one.-https (one.one.one.one.:443)"],
            "pod-to-cidr": ["external-1111 (1.1.1.1:443)"],
        }.get(scenario) or [
            _end(self._pods[echo], f"{_SPACE}/{echo}" if scenario == "pod-to-service" else "")
            for echo in (SAME_NODE, OTHER_NODE)
            if echo in self._pods
        ]
        clients = [_end(self._pods[client]).replace(":8080", "") for client in CLIENTS]
        pairs = [f"{client} -> {target}" for client in clients for target in targets]
        return [f"{name}/{scenario}:curl-ipv4-{n}: {pair}" for n, pair in enumerate(pairs)]

    def _report(self, counts: _Counts, failed: dict[str, list[str]]) -> int:
        rest = f"{counts.skipped} tests skipped, {counts.less} scenarios skipped"
        if self._decreed.old:
            self._say(f"\n✅ {counts.tests}/{counts.tests} tests successful (0 warnings)")
            return 0
        if not failed:
            self._say(
                f"\n✅ [{_SPACE}] All {counts.tests} tests ({counts.actions} actions) successful, "
                f"{rest}."
            )
            return 0
        actions = sum(len(each) for each in failed.values())
        self._say(f"\n📋 Test Report [{_SPACE}]")
        self._say(
            f"❌ {len(failed)}/{counts.tests} tests failed ({actions}/{counts.actions} actions), "
            f"{rest}:"
        )
        for name, lines in failed.items():
            self._say(f"Test [{name}]:")
            for line in lines:
                self._say(f"  🟥 {line}")
        raise _Broken(f"[{_SPACE}] {len(failed)} tests failed")

    def _show(self, text: str) -> None:
        if self._shows:
            self._say(text)

    def _say(self, text: str) -> None:
        self._call.say(text)
        self._call.streams.flush()


def _end(pod: Object, name: str = "") -> str:
    metadata = pod["metadata"]
    shown = name or f"{metadata['namespace']}/{metadata['name']}"
    return f"{shown} ({pod['status']['podIP']}:8080)"


def _why(test: str) -> str:
    if test == "no-unexpected-packet-drops":
        return "Found unexpected packet drops"
    if test == "check-log-errors":
        return (
            "Found 1 logs in kube-system/cilium matching list of errors that must be investigated"
        )
    return (
        'command "curl --silent --fail --show-error" failed: command terminated with exit code 28'
    )
