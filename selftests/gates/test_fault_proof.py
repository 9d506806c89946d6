"""When a stop is proved: ports, listeners, and what forbids the stop."""

from __future__ import annotations

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.mounts import no_volume
from fixtures.judge.ports import open_before, taken_away
from fixtures.observe.answers import Misread
from fixtures.observe.mounts import Mounts, parse_mounts
from fixtures.observe.ports import Ports, Reach, parse_listeners
from selftests.gates.drilling import SILENT, Drilled, drilled, node
from selftests.gates.world import Reply

HOST, ADDRESS = "rke-cp02", "10.72.0.22"
SS = "sudo -n ss -Hltn '( sport = :2379 or sport = :2380 or sport = :6443 or sport = :9345 )'"
REFUSED = "Connection refused"
LISTENERS = """LISTEN 0      4096       127.0.0.1:2379       0.0.0.0:*
LISTEN 0      4096      10.72.0.22:2379       0.0.0.0:*
LISTEN 0      4096   10.72.0.22%eth0:2380     0.0.0.0:*
LISTEN 0      4096               *:6443             *:*
LISTEN 0      4096            [::]:9345          [::]:*
"""


def world(etcd: str = "open", api: str = "open", sockets: Reply | None = None) -> Drilled:
    world = drilled()
    world.doors = {(ADDRESS, 2379): etcd, (ADDRESS, 6443): api}
    world.say(HOST, SS, sockets or Reply(LISTENERS))
    return world


def reach(world: Drilled) -> Reach:
    return Ports(world.cluster, world).of(node())


def test_open_ports_before_the_fault() -> None:
    assert open_before(reach(world())) == ()


@pytest.mark.parametrize("door", [REFUSED, "No route to host"])
def test_a_port_that_was_closed_before_proves_nothing(door: str) -> None:
    (finding,) = open_before(reach(world(etcd=door)))
    assert "rke-cp02: port 2379 is" in finding
    assert f"`{door}`" in finding


def test_a_silent_port_before_the_fault_is_undecided() -> None:
    with pytest.raises(Undecided, match=r"no answer from 10\.72\.0\.22:6443"):
        open_before(reach(world(api=SILENT)))


def test_refused_and_nothing_listens_is_the_proof() -> None:
    assert taken_away(reach(world(REFUSED, REFUSED, Reply("")))) == ()


@pytest.mark.parametrize(
    ("etcd", "api", "sockets", "says"),
    [
        ("open", "open", Reply(LISTENERS), "port 2379 still accepts connections"),
        (REFUSED, "open", Reply(""), "port 6443 still accepts connections"),
        (REFUSED, REFUSED, Reply(LISTENERS), "127.0.0.1:2379"),
        (REFUSED, REFUSED, Reply("LISTEN 0 4096 *:9345 *:*\n"), "*:9345"),
        ("open", SILENT, Reply(silent="x"), "port 2379 still accepts connections"),
    ],
)
def test_what_runs_on_is_not_an_outage(etcd: str, api: str, sockets: Reply, says: str) -> None:
    found = taken_away(reach(world(etcd, api, sockets)))
    assert any(says in finding and "KillMode=process" in finding for finding in found)


@pytest.mark.parametrize(
    ("etcd", "api", "sockets", "says"),
    [
        (SILENT, REFUSED, Reply(""), "no answer from 10.72.0.22:2379"),
        (REFUSED, "No route to host", Reply(""), "not a refusal by the node itself"),
        (REFUSED, "Connection timed out", Reply(""), "not a refusal by the node itself"),
        (REFUSED, REFUSED, Reply(silent="rke-cp02: no answer"), "rke-cp02: no answer"),
        (REFUSED, REFUSED, Reply(stderr="ss: command not found\n", rc=127), "tool missing"),
        (REFUSED, REFUSED, Reply("State Recv-Q\n"), "not a listening TCP socket"),
    ],
)
def test_what_was_not_seen_is_no_proof(etcd: str, api: str, sockets: Reply, says: str) -> None:
    with pytest.raises(Undecided, match=says):
        taken_away(reach(world(etcd, api, sockets)))


def test_listeners() -> None:
    assert [str(each) for each in parse_listeners(LISTENERS)] == [
        "127.0.0.1:2379",
        "10.72.0.22:2379",
        "10.72.0.22%eth0:2380",
        "*:6443",
        "[::]:9345",
    ]
    for text in ("ESTAB 0 0 1.1.1.1:22 2.2.2.2:5\n", "LISTEN 0 1 nowhere *:*\n"):
        with pytest.raises(Misread):
            parse_listeners(text)


ROOT = "/dev/vda1 / ext4 rw,relatime 0 0\n"
KUBELET = "/var/lib/kubelet"


@pytest.mark.parametrize(
    "line",
    [
        f"/dev/rbd0 {KUBELET}/plugins/kubernetes.io/csi/rbd/a/globalmount/b ext4 rw 0 0",
        f"/dev/sdb {KUBELET}/pods/u/volumes/kubernetes.io~csi/pvc-1/mount xfs rw 0 0",
        "/dev/nbd3 /mnt ext4 rw 0 0",
        "10.0.0.1:6789:/ /data ceph rw 0 0",
    ],
)
def test_a_volume_forbids_the_stop(line: str) -> None:
    world = drilled()
    world.say(HOST, "cat /proc/mounts", Reply(f"{ROOT}{line}\n"))
    mounted = Mounts(world.cluster, world).on(node())
    (finding,) = no_volume(mounted)
    assert line.partition(" ")[0] in finding
    assert "rke2-killall.sh is not run there" in finding


@pytest.mark.parametrize(
    "line",
    [
        "tmpfs /var/lib/kubelet/pods/u/volumes/kubernetes.io~projected/x tmpfs rw 0 0",
        "/dev/rbdx /mnt ext4 rw 0 0",
        r"/dev/vda2 /mnt/with\040space ext4 rw 0 0",
        "overlay /run/k3s/containerd/x overlay rw 0 0",
    ],
)
def test_other_mounts_do_not(line: str) -> None:
    world = drilled()
    world.say(HOST, "cat /proc/mounts", Reply(f"{ROOT}{line}\n"))
    assert no_volume(Mounts(world.cluster, world).on(node())) == ()


def test_a_space_in_a_path_is_read() -> None:
    (_, mount) = parse_mounts(ROOT + r"/dev/vda2 /mnt/with\040space ext4 rw 0 0" + "\n")
    assert mount.target == "/mnt/with space"


@pytest.mark.parametrize("text", ["", "x\n", "/dev/vda1 /mnt ext4 rw 0 0\n", f"{ROOT}half of\n"])
def test_what_is_no_list_of_mounts_is_undecided(text: str) -> None:
    world = drilled()
    world.say(HOST, "cat /proc/mounts", Reply(text))
    with pytest.raises(Undecided):
        Mounts(world.cluster, world).on(node())
