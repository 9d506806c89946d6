"""What ops01 and the agents answer of Cilium's installation, asked by the suite's own commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.observe.cilium_health import parse_health
from fixtures.observe.cilium_lan import parse_knocks
from fixtures.observe.cilium_release import parse_releases
from fixtures.observe.cilium_status import parse_status
from fixtures.observe.door import Door
from fixtures.observe.git import parse_changes, parse_flag, parse_head
from fixtures.observe.tools import parse_version
from lab.checkouts import infrastructure
from lab.cilium import agent_on
from selftests.gates import installed
from selftests.gates.installed import FIRST, OPS, knocking
from selftests.lab.world import KUBECTL, ask, world_at

if TYPE_CHECKING:
    from lab.world import World
    from selftests.lab.world import Said

CPS = ("rke-cp01", "rke-cp02", "rke-cp03")
ADDRESSES = [installed.address(name) for name in CPS if name != FIRST]


def known(world: World, line: str, host: str = OPS) -> Said:
    said = ask(world, host, line)
    assert said.known, line
    return said


def health(world: World, node: str) -> Said:
    agent = agent_on(world.objects, world.hosts[node])
    assert agent is not None
    name = agent["metadata"]["name"]
    line = f"{KUBECTL} -n kube-system exec {name} -c cilium-agent -- cilium-health status -o json"
    return known(world, line, FIRST)


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        (installed.ANSIBLE, "ansible-core", "2.21.3"),
        (installed.HELM, "helm", "v3.19.0"),
        (installed.KUBECTL, "kubectl", "v1.36.3"),
        (installed.CILIUM, "cilium-cli", "v0.19.1"),
        (installed.HUBBLE, "hubble-cli", "v0.13.6"),
    ],
)
def test_every_program_tells_its_version(line: str, name: str, version: str) -> None:
    said = known(world_at("e"), line)
    assert (said.rc, said.err) == (0, "")
    assert parse_version(said.out, name) == version


def test_nothing_is_provisioned_before_phase_e() -> None:
    world = world_at("f6")
    assert known(world, installed.HELM).rc == 127
    assert known(world, installed.HEAD).rc == 128
    assert known(world, installed.READ_KUBECONFIG).rc == 1


@pytest.mark.parametrize(
    ("how", "codes"),
    [
        ("", (0, 0, 0)),
        ("absent", (128, 128, 128)),
        ("behind", (0, 1, 0)),
        ("changed", (0, 0, 0)),
        ("never-fetched", (0, 0, 128)),
        ("not-reviewed", (0, 0, 1)),
        ("shallow", (0, 128, 0)),
    ],
)
def test_git_answers_of_the_checkout(how: str, codes: tuple[int, ...]) -> None:
    world = world_at("e", *([("ops-checkout", how)] if how else []))
    contains = installed.CONTAINS.replace("d553643", infrastructure().wanted)
    lines = (installed.HEAD, contains, installed.REVIEWED)
    assert tuple(known(world, line).rc for line in lines) == codes
    if how == "absent":
        return
    assert parse_head(known(world, installed.HEAD).out)
    assert parse_flag(known(world, installed.SHALLOW).out) is (how == "shallow")
    assert bool(parse_changes(known(world, installed.CHANGES).out)) is (how == "changed")


def test_helm_lists_every_release_in_every_state() -> None:
    world = world_at("e", ("cilium-release", {"status": "pending-upgrade"}))
    rows = parse_releases(known(world, installed.LIST).out)
    assert [each.status for each in rows if each.name == "cilium"] == ["pending-upgrade"]
    shown = known(world, installed.LIST.replace(" -a ", " ")).out
    assert "cilium" not in {each.name for each in parse_releases(shown)}


def test_an_api_that_does_not_answer_is_no_empty_list() -> None:
    said = known(world_at("e", "vip-nowhere"), installed.LIST)
    assert (said.rc, said.out) == (1, "")
    assert "unreachable" in said.err


@pytest.mark.parametrize(("phase", "nodes"), [("e", 3), ("d", 6)])
def test_the_counts_are_of_the_nodes_that_are_there(phase: str, nodes: int) -> None:
    status = parse_status(known(world_at(phase), installed.STATUS).out)
    (counts,) = (each for name, each in status.counts if name == "cilium")
    assert (counts.desired, counts.ready, counts.available) == (nodes, nodes, nodes)


@pytest.mark.parametrize(("phase", "nodes"), [("e", 3), ("d", 6)])
def test_each_agent_tells_of_every_node(phase: str, nodes: int) -> None:
    world = world_at(phase)
    for node in CPS:
        said = parse_health(health(world, node).out)
        assert said.local == node
        assert len(said.nodes) == nodes


def test_without_its_socket_cilium_health_ends_otherwise() -> None:
    said = health(world_at("e", ("health-checking-off", "rke-cp02")), "rke-cp02")
    assert said.rc != 0
    assert said.out == ""


@pytest.mark.parametrize(
    ("fault", "ways"),
    [
        (None, (Door.OPEN, Door.OPEN)),
        (("hubble-port-dropped", "rke-cp02"), (Door.TIMED_OUT, Door.OPEN)),
        (("host-unreachable", "rke-cp02"), (Door.TIMED_OUT, Door.OPEN)),
        (("host-down", "rke-cp02"), (Door.NO_ROUTE, Door.OPEN)),
        (("cilium-not-installed", None), (Door.REFUSED, Door.REFUSED)),
    ],
)
def test_a_port_nobody_answers_at_is_named(
    fault: tuple[str, object] | None, ways: tuple[Door, ...]
) -> None:
    world = world_at("e", *([fault] if fault else []))
    line = knocking(FIRST, CPS).replace("timeout 10", "timeout 0.2")
    found = parse_knocks(known(world, line, FIRST).out, ADDRESSES)
    assert tuple(found[address] for address in ADDRESSES) == ways


def test_find_prints_what_was_left_and_only_that() -> None:
    world = world_at("e", ("left-in-tmp", {"name": "pre-addons-fase6-x"}))
    world.hosts[FIRST].files.file("/tmp/notes", b"")
    said = known(world, installed.FIND, FIRST)
    assert (said.rc, said.out) == (0, "/tmp/pre-addons-fase6-x\n")
    assert known(world, installed.FIND).out == ""
