"""What stops, moves and returns in the lab, and what does not."""

from __future__ import annotations

import json

import pytest

from selftests.lab.living import SERVER, Living, live
from selftests.lab.world import ETCDCTL

CP = ("rke-cp01", "rke-cp02", "rke-cp03")
PORTS = "sudo -n ss -Hltn '( sport = :2379 or sport = :2380 or sport = :6443 or sport = :9345 )'"
STOP, START = "sudo -n systemctl stop keepalived", "sudo -n systemctl start keepalived"


def ports(text: str) -> set[int]:
    return {int(line.split()[3].rpartition(":")[2]) for line in text.splitlines()}


async def condition(lab: Living, node: str) -> tuple[str, str]:
    found = json.loads((await lab.kubectl(CP[0], f"get node {node} -o json")).out)
    rows = {row["type"]: row for row in found["status"]["conditions"]}
    return rows["EtcdIsVoter"]["status"], rows["EtcdIsVoter"]["reason"]


def test_the_vip_leaves_at_once_and_arrives_after_a_while() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP[0], STOP)
        assert lab.holders() == []
        await lab.until(lambda: lab.holders() == [CP[1]])
        await lab.must(CP[0], START)
        assert lab.holders() == [CP[1]]
        await lab.until(lambda: lab.holders() == [CP[0]])

    live(test)


def test_a_check_that_fails_gives_the_vip_away_only_after_its_fall() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP[0], f"sudo -n systemctl stop {SERVER}")
        assert lab.holders() == [CP[0]]
        await lab.until(lambda: lab.holders() == [CP[1]])

    live(test)


def test_a_short_failure_of_the_check_moves_nothing() -> None:
    async def test(lab: Living) -> None:
        host = lab.world.hosts[CP[0]]
        host.processes.discard("supervisor")
        lab.world.timeline.changed()
        host.processes.add("supervisor")
        lab.world.timeline.changed()
        await lab.world.timeline.pause(2 * lab.world.pace.fall)
        assert lab.holders() == [CP[0]]

    live(test)


@pytest.mark.parametrize(
    ("fault", "holders"),
    [
        ("vip-moves-to-the-wrong-peer", [CP[2]]),
        ("vip-two-holders-on-failover", [CP[1], CP[2]]),
        ("vip-stays-after-stop", [CP[0], CP[1]]),
    ],
)
def test_a_failover_that_goes_wrong(fault: str, holders: list[str]) -> None:
    async def test(lab: Living) -> None:
        assert lab.holders() == [CP[0]]
        await lab.must(CP[0], STOP)
        await lab.until(lambda: lab.holders() == holders)

    live(test, fault)


def test_a_vip_that_does_not_come_back() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP[0], STOP)
        await lab.until(lambda: lab.holders() == [CP[1]])
        await lab.must(CP[0], START)
        await lab.world.timeline.pause(3 * lab.world.pace.fall)
        assert lab.holders() == [CP[1]]
        await lab.must(CP[1], STOP)
        await lab.until(lambda: lab.holders() == [CP[0]])

    live(test, "vip-never-comes-back")


def test_a_stop_of_the_unit_leaves_etcd_and_the_api() -> None:
    async def test(lab: Living) -> None:
        assert ports(await lab.must(CP[1], PORTS)) == {2379, 2380, 6443, 9345}
        await lab.must(CP[1], f"sudo -n systemctl stop {SERVER}")
        assert ports(await lab.must(CP[1], PORTS)) == {2379, 2380, 6443}
        assert "etcd" in await lab.must(CP[1], "pgrep -a etcd")
        await lab.must(CP[1], "sudo -n /usr/local/bin/rke2-killall.sh")
        assert await lab.must(CP[1], PORTS) == ""
        assert (await lab.ask(CP[1], "pgrep -a etcd")).rc == 1

    live(test)


def test_a_server_that_returns_is_a_voter_again() -> None:
    async def test(lab: Living) -> None:
        await lab.stop(CP[1])
        await lab.world.timeline.pause(2 * lab.world.pace.status)
        assert await condition(lab, CP[1]) == ("False", "Unhealthy")
        words = f"-n kube-system exec etcd-{CP[0]} -- {ETCDCTL}"
        listed = json.loads((await lab.kubectl(CP[0], f"{words} member list -w json")).out)
        assert len(listed["members"]) == 3
        assert (await lab.kubectl(CP[0], f"{words} endpoint health --cluster")).rc == 1
        await lab.start(CP[1])
        assert lab.world.hosts[CP[1]].units[SERVER].active == "activating"
        await lab.until(lambda: lab.world.hosts[CP[1]].active(SERVER))
        await lab.world.timeline.pause(2 * lab.world.pace.status)
        assert await condition(lab, CP[1]) == ("True", "MemberNotLearner")
        assert (await lab.kubectl(CP[0], f"{words} endpoint health --cluster")).rc == 0

    live(test)


def test_without_quorum_nobody_is_ready_until_a_second_one_is_there() -> None:
    async def test(lab: Living) -> None:
        await lab.stop(CP[1], CP[2])
        assert not lab.ready(CP[0])
        await lab.stop(CP[0])
        await lab.start(CP[0])
        await lab.world.timeline.pause(0.2)
        assert lab.world.hosts[CP[0]].units[SERVER].active == "activating"
        await lab.start(CP[1])
        await lab.until(lambda: lab.ready(CP[0]) and lab.ready(CP[1]))

    live(test)


def test_a_leader_that_dies_is_missed_for_a_moment() -> None:
    async def test(lab: Living) -> None:
        await lab.stop(CP[1])
        assert not lab.ready(CP[0])
        await lab.until(lambda: lab.ready(CP[0]))

    live(test, ("etcd-election-takes-long", {"node": CP[1], "seconds": 0.05}))


def test_a_kubelet_that_is_gone_is_noticed_after_its_grace() -> None:
    async def test(lab: Living) -> None:
        def status() -> str:
            node = lab.world.objects.get("Node", "", CP[2])
            assert node
            rows = {row["type"]: row["status"] for row in node["status"]["conditions"]}
            return str(rows["Ready"])

        before = status()
        await lab.stop(CP[2])
        assert status() == before
        await lab.until(lambda: status() == "Unknown")
        await lab.start(CP[2])
        await lab.until(lambda: status() == before)

    live(test)


def test_a_server_that_dies_is_started_again_and_again() -> None:
    async def test(lab: Living) -> None:
        await lab.stop(CP[1])
        await lab.start(CP[1])
        await lab.until(lambda: lab.world.hosts[CP[1]].units[SERVER].restarts >= 2)
        assert not lab.ready(CP[1])

    live(test, ("server-start-fails", CP[1]))
