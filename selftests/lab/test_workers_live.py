"""Nodes of the lab that join, fall silent, flap and reboot."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import asyncssh
import pytest

from lab import taints
from lab.cluster import conditions
from lab.host import Link
from selftests.lab.cluster_api import Api
from selftests.lab.living import Living, live
from selftests.lab.running import Running, lab_at, run
from selftests.lab.world import world_at

if TYPE_CHECKING:
    from pathlib import Path

    from lab.objects import Object
    from lab.world import World

NODE = "rke-platform02"
REBOOT = "sudo -n systemctl reboot"


def node(world: World, name: str = NODE) -> Object:
    found = world.objects.get("Node", "", name)
    assert found is not None
    return found


def ready(world: World, name: str = NODE) -> str:
    return conditions.of(node(world, name), "Ready")


def agents(world: World, name: str = NODE) -> list[str]:
    pods = world.objects.select("Pod", "kube-system", {"k8s-app": "cilium"}, name)
    return [conditions.of(pod, "Ready") for pod in pods]


def renewed(world: World, name: str = NODE) -> timedelta:
    lease = world.objects.get("Lease", "kube-node-lease", name)
    assert lease is not None
    return datetime.now(UTC) - datetime.fromisoformat(lease["spec"]["renewTime"])


def keys(world: World, name: str = NODE) -> set[str]:
    return {taint["key"] for taint in taints.of(node(world, name))}


def test_workers_join_not_ready_and_become_ready() -> None:
    async def test(lab: Living) -> None:
        assert ready(lab.world) == "False"
        assert keys(lab.world) == {taints.NOT_READY, taints.AGENT_NOT_READY}
        assert agents(lab.world) == ["False"]
        await Api(lab).ready(NODE, "True")
        await lab.until(lambda: keys(lab.world) == set())
        assert agents(lab.world) == ["True"]

    live(test, phase="d")


def test_a_node_that_is_unwell_does_not_join() -> None:
    async def test(lab: Living) -> None:
        await Api(lab).ready("rke-platform03", "True")
        await lab.world.timeline.pause(2 * lab.world.pace.cni)
        assert ready(lab.world) == "False"
        assert taints.NOT_READY in keys(lab.world)

    live(test, ("node-not-ready", NODE), phase="d")


def test_slow_nodes_are_ready_in_the_end() -> None:
    async def test(lab: Living) -> None:
        assert ready(lab.world) == "False"
        await lab.world.timeline.pause(0.1)
        assert ready(lab.world) == "False"
        await Api(lab).ready(NODE, "True")

    live(test, ("nodes-ready-after", 0.2), phase="d2")


def test_leases_are_renewed_as_long_as_the_kubelet_runs() -> None:
    world = world_at("d2", ("lease-stale", "rke-cp03"))
    assert renewed(world) < timedelta(seconds=2)
    assert renewed(world, "rke-cp03") > timedelta(minutes=19)
    lease = world.objects.get("Lease", "kube-node-lease", NODE)
    assert lease is not None
    assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseDurationSeconds"]) == (NODE, 40)

    async def test(lab: Living) -> None:
        await lab.must(NODE, "sudo -n systemctl stop rke2-agent")
        await Api(lab).ready(NODE, "Unknown")
        assert keys(lab.world) == {taints.UNREACHABLE}
        stopped = lab.world.objects.get("Lease", "kube-node-lease", NODE)
        await lab.world.timeline.pause(0.2)
        assert lab.world.objects.get("Lease", "kube-node-lease", NODE) == stopped
        await lab.must(NODE, "sudo -n systemctl start rke2-agent")
        await Api(lab).ready(NODE, "True")
        assert keys(lab.world) == set()

    live(test, phase="d2")


def test_a_node_that_flaps() -> None:
    async def test(lab: Living) -> None:
        for status in ("False", "True", "False", "True"):
            await Api(lab).ready(NODE, status)

    live(test, ("node-flaps", {"node": NODE, "up": 0.03, "down": 0.03}), phase="w")


def test_a_reboot_has_a_boot_id_of_its_own_and_ends_well() -> None:
    async def test(lab: Living) -> None:
        before, host = node(lab.world), lab.world.hosts[NODE]
        uids = {pod["metadata"]["uid"] for pod in lab.world.objects.select("Pod", on=NODE)}
        unit = "sudo -n systemd-run --no-block --unit=u -- /usr/bin/sleep 60"
        await lab.must(NODE, unit)
        await lab.must(NODE, REBOOT)
        await lab.until(lambda: host.link is Link.DOWN)
        assert ready(lab.world) == "True"
        await Api(lab).ready(NODE, "False")
        assert keys(lab.world) == {taints.NOT_READY, taints.AGENT_NOT_READY}
        after = node(lab.world)["status"]["nodeInfo"]["bootID"]
        assert after == host.boot_id != before["status"]["nodeInfo"]["bootID"]
        boot = await lab.must(NODE, "cat /proc/sys/kernel/random/boot_id")
        assert boot.strip() == after
        await Api(lab).ready(NODE, "True")
        assert keys(lab.world) == set()
        assert agents(lab.world) == ["True"]
        assert (await lab.must(NODE, "systemctl is-active rke2-agent")) == "active\n"
        assert (await lab.ask(NODE, "systemctl is-active u.service")).rc == 4
        pods = lab.world.objects.select("Pod", on=NODE)
        assert {pod["metadata"]["uid"] for pod in pods} == uids
        assert all(conditions.of(pod, "Ready") == "True" for pod in pods)
        assert {pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods} == {1}
        assert renewed(lab.world) < timedelta(seconds=2)

    live(test, phase="w")


@pytest.mark.parametrize(
    ("how", "new_boot", "status", "label", "agent", "taint"),
    [
        ("ignored", False, "True", True, "True", False),
        ("not-ready", True, "False", True, "False", True),
        ("unnoticed", True, "True", True, "True", False),
        ("label-lost", True, "True", False, "True", False),
        ("agent-down", True, "True", True, "False", True),
        ("taint-stays", True, "True", True, "True", True),
    ],
)
def test_reboots_that_go_wrong(
    how: str, *, new_boot: bool, status: str, label: bool, agent: str, taint: bool
) -> None:
    async def test(lab: Living) -> None:
        old = lab.world.hosts[NODE].boot_id
        await lab.must(NODE, REBOOT)
        pace = lab.world.pace
        await asyncio.sleep(pace.shutdown + pace.boot + pace.supervisor + pace.cni + 0.1)

        def seen() -> tuple[bool, str, bool, list[str], bool]:
            now = node(lab.world)
            return (
                now["status"]["nodeInfo"]["bootID"] != old,
                ready(lab.world),
                now["metadata"]["labels"].get("wetopi.io/role") == "platform",
                agents(lab.world),
                bool(keys(lab.world)),
            )

        # On a busy machine it takes longer than that.
        await lab.until(lambda: seen() == (new_boot, status, label, [agent], taint))

    live(test, ("reboot", {"how": how}), phase="w")


def test_a_machine_that_never_comes_back() -> None:
    async def test(lab: Living) -> None:
        await lab.must(NODE, REBOOT)
        await Api(lab).ready(NODE, "Unknown")
        assert lab.world.hosts[NODE].link is Link.DOWN

    live(test, ("reboot", {"how": "gone"}), phase="w")


def test_a_boot_that_takes_long_is_seen() -> None:
    async def test(lab: Living) -> None:
        await lab.must(NODE, "sudo -n reboot")
        await Api(lab).ready(NODE, "Unknown")
        await Api(lab).ready(NODE, "True")

    live(test, ("boot-takes", 0.3), phase="w")


def test_only_root_reboots() -> None:
    async def test(lab: Living) -> None:
        said = await lab.ask(NODE, "systemctl reboot")
        assert (said.rc, said.out) == (1, "")
        assert "Interactive authentication required." in said.err

    live(test, phase="w")


def test_a_reboot_ends_the_connections_to_the_machine(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "w", ("pace", 0.2)) as running:
            await _lose(running)

    run(test())


async def _lose(running: Running) -> None:
    other = await running.node("rke-platform01")
    connection = await running.node(NODE)
    assert (await connection.run(REBOOT)).exit_status in (0, None)
    await asyncio.wait_for(connection.wait_closed(), 2)
    with pytest.raises(asyncssh.ChannelOpenError, match="No route to host"):
        await running.node(NODE)
    assert (await other.run("true")).exit_status == 0
    async with asyncio.timeout(3):
        while running.lab.world.hosts[NODE].link is Link.DOWN:
            await asyncio.sleep(0.02)
    again = await running.node(NODE)
    assert (await again.run("true")).exit_status == 0


def test_a_hundred_workers_join_quickly() -> None:
    async def test(lab: Living) -> None:
        names = [machine.name for machine in lab.world.layout.workers]
        await lab.until(lambda: {ready(lab.world, name) for name in names} == {"True"}, limit=8.0)
        assert len(lab.world.objects.select("CiliumNode")) == 103

    live(test, phase="d", nodes=103)


def test_a_control_plane_reboots_too() -> None:
    async def test(lab: Living) -> None:
        await lab.must("rke-cp02", REBOOT)
        await lab.until(lambda: not lab.ready("rke-cp02"))
        await lab.until(lambda: lab.ready("rke-cp02"))
        for kind in ("EtcdIsVoter", "Ready"):
            await lab.until(
                lambda kind=kind: conditions.of(node(lab.world, "rke-cp02"), kind) == "True"
            )
        assert lab.world.hosts["rke-cp02"].active("keepalived.service")

    live(test, phase="w")
