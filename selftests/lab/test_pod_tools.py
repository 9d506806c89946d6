"""What runs in the lab's containers beside measured outputs: nslookup and wget."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from lab import layout
from lab.pods import PodShape, pod
from lab.shell import Shell
from lab.streams import Streams
from lab.tools.pods import run_in_pod
from selftests.lab.world import SEED, Said, world_at
from selftests.observe.captured import captured

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.world import World

FQDN = "kubernetes.default.svc.cluster.local"
BUSYBOX, BIND = "busybox:1.36", "registry.k8s.io/e2e-test-images/jessie-dnsutils:1.7"
CAPTURED = {each.command: each for each in captured("dns2.out")}


def put(world: World, name: str, image: str, address: str, **labels: str) -> Object:
    """A pod that runs on a worker."""
    shape = PodShape(
        name=name,
        namespace="default",
        node="rke-platform01",
        labels=labels,
        owner=None,
        container="main",
        image=image,
        address=address,
        host_address="10.72.0.41",
    )
    world.objects.put(pod(world.seed, shape, SEED.born))
    found = world.objects.get("Pod", "default", name)
    assert found is not None
    return found


def inside(world: World, pod: Object, *argv: str) -> Said:
    """Run a program in the pod."""
    shell = Shell.login(world, world.first_control_plane, layout.USER)
    streams = Streams()
    rc = asyncio.run(run_in_pod(shell, streams, pod, "main", list(argv)))
    return Said(rc, streams.out.decode(), streams.err.decode(), not shell.journal.mysteries)


def as_in_a_pod(text: str) -> str:
    """A captured output as if the resolver were the cluster's."""
    return text.replace("127.0.0.53", layout.DNS)


@pytest.fixture(scope="module")
def world() -> World:
    return world_at("d2")


@pytest.mark.parametrize("name", [FQDN, "kubernetes.default", "kubernetes"])
def test_busybox_nslookup_as_measured(world: World, name: str) -> None:
    client = put(world, "client", BUSYBOX, "10.64.3.200")
    said = inside(world, client, "nslookup", name)
    measured = CAPTURED[f"busybox nslookup {name}"]
    assert (said.rc, said.out) == (measured.rc, as_in_a_pod(measured.stdout))
    assert said.known


@pytest.mark.parametrize("name", [FQDN, "kubernetes.default"])
def test_bind_nslookup_as_measured(world: World, name: str) -> None:
    client = put(world, "client", BIND, "10.64.3.200")
    said = inside(world, client, "nslookup", name)
    measured = CAPTURED[f"nslookup {name}"]
    assert (said.rc, said.out) == (measured.rc, as_in_a_pod(measured.stdout))


@pytest.mark.parametrize("image", [BUSYBOX, BIND])
def test_names_that_are_not_there(world: World, image: str) -> None:
    client = put(world, "client", image, "10.64.3.200")
    said = inside(world, client, "nslookup", "nope.default.svc.cluster.local")
    assert said.rc == 1
    assert "** server can't find nope.default.svc.cluster.local: NXDOMAIN\n" in said.out


@pytest.mark.parametrize("image", [BUSYBOX, BIND])
def test_without_a_coredns_nobody_answers(image: str) -> None:
    world = world_at("d2")
    for each in world.objects.select("Pod", "kube-system", {"k8s-app": "kube-dns"}):
        world.objects.delete("Pod", "kube-system", each["metadata"]["name"])
    said = inside(world, put(world, "client", image, "10.64.3.200"), "nslookup", FQDN)
    assert (said.rc, said.out) == (1, ";; connection timed out; no servers could be reached\n\n")


def service(world: World, selector: dict[str, str]) -> None:
    world.objects.put(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": "default", "uid": "u"},
            "spec": {
                "clusterIP": "10.68.9.9",
                "ports": [{"port": 80, "targetPort": 80}],
                "selector": selector,
            },
        }
    )


def policy(world: World, **spec: object) -> None:
    world.objects.put(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {
                "name": "p",
                "namespace": "default",
                "uid": "p",
                "creationTimestamp": "2026-11-30T12:00:00Z",
            },
            "spec": {"policyTypes": ["Ingress"], **spec},
        }
    )


def fetch(world: World, client: Object, url: str = "http://web") -> Said:
    return inside(world, client, "wget", "-qO-", "--timeout=1", url)


def test_wget_obeys_names_services_and_policies() -> None:
    world = world_at("d2")
    client = put(world, "client", BUSYBOX, "10.64.3.200", app="client")
    assert fetch(world, client).err == "wget: bad address 'web'\n"
    service(world, {"app": "web"})
    refused = "wget: can't connect to remote host (10.68.9.9): Connection refused\n"
    assert fetch(world, client).err == refused
    put(world, "web", "nginx:1.27", "10.64.3.201", app="web")
    reached = fetch(world, client)
    assert (reached.rc, reached.err) == (0, "")
    assert "Welcome to nginx!" in reached.out
    assert fetch(world, client, "http://10.64.3.201").out == reached.out
    assert "10.64.3.201): Connection refused" in fetch(world, client, "http://10.64.3.201:81").err

    policy(world, podSelector={})
    denied = fetch(world, client)
    assert (denied.rc, denied.out, denied.err) == (1, "", "wget: download timed out\n")
    verdicts = [(each.verdict, each.reason) for each in world.flows.recorded]
    assert verdicts[-1] == ("DROPPED", "POLICY_DENIED")
    assert ("FORWARDED", "") in verdicts

    allowed = {"from": [{"podSelector": {"matchLabels": {"app": "client"}}}]}
    policy(world, podSelector={"matchLabels": {"app": "web"}}, ingress=[allowed])
    assert fetch(world, client).rc == 0
    stranger = {"from": [{"podSelector": {"matchLabels": {"app": "other"}}}]}
    policy(world, podSelector={}, ingress=[stranger])
    assert fetch(world, client).rc == 1
    policy(world, podSelector={"matchLabels": {"app": "other"}})
    assert fetch(world, client).rc == 0


def test_wget_refuses_what_it_does_not_know(world: World) -> None:
    client = put(world, "client", BUSYBOX, "10.64.3.200")
    said = inside(world, client, "wget", "--tries=1", "http://web")
    assert (said.rc, said.known) == (1, False)
    assert said.err == "wget: unrecognized option '--tries'\n"
