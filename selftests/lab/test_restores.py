"""The cluster-reset of the lab, and what comes up after it (facts/real-run, Restore)."""

from __future__ import annotations

import asyncio

import pytest

from lab import databases
from selftests.lab.living import DB, SERVER, Living, live

ONE, TWO, THREE = "rke-cp01", "rke-cp02", "rke-cp03"
ALL = (THREE, TWO, ONE)
SENTENCE = (
    'level=error msg="Shutdown request received: \\"Managed etcd cluster membership has been '
    "reset, restart without --cluster-reset flag now. Backup and delete ${datadir}/server/db on "
    'each peer etcd server and rejoin the nodes\\""'
)


async def marker(lab: Living, node: str, name: str) -> bool:
    said = await lab.kubectl(node, f"-n default get configmap {name} -o json")
    assert said.rc == 0 or f'configmaps "{name}" not found' in said.err
    return said.rc == 0


async def stopped_with_a_snapshot(lab: Living) -> str:
    for name in ("earlier", "later"):
        words = f"-n default create configmap {name} --from-literal=run=r -o json"
        if name == "later":
            path = await lab.save()
        assert (await lab.kubectl(ONE, words)).rc == 0
    await lab.stop(*ALL)
    return path


async def rejoin(lab: Living, name: str) -> None:
    await lab.must(name, f"sudo -n mv -T {DB} {DB}.before-r")
    await lab.start(name)
    await lab.until(lambda: lab.world.hosts[name].active(SERVER))


def test_a_restore_brings_back_the_snapshot_and_peers_rejoin() -> None:
    async def test(lab: Living) -> None:
        before = lab.world.etcd[0]
        path = await stopped_with_a_snapshot(lab)
        said = await lab.reset(path)
        assert (said.rc, said.out) == (0, "")
        assert SENTENCE in said.err
        names = lab.world.hosts[ONE].files.children(DB)
        assert {"etcd", "reset-flag", "snapshots"} < set(names)
        assert any(name.startswith("etcd-old-") for name in names)
        await lab.start(ONE)
        await lab.until(lambda: lab.ready(ONE))
        assert await marker(lab, ONE, "earlier")
        assert not await marker(lab, ONE, "later")
        for peer in (TWO, THREE):
            await rejoin(lab, peer)
        after = lab.world.etcd[0]
        assert after.id != before.id
        assert [member.learner for member in after.members] == [False] * 3
        assert not {m.name for m in after.members} & {m.name for m in before.members}
        assert await marker(lab, THREE, "earlier")
        assert lab.holders() == [ONE]
        await lab.until(lambda: "reset-flag" not in lab.world.hosts[ONE].files.children(DB))

    live(test)


def test_a_second_restore_keeps_the_cluster_id() -> None:
    async def test(lab: Living) -> None:
        path = await stopped_with_a_snapshot(lab)
        ids, names = [], []
        for _ in range(2):
            assert (await lab.reset(path)).rc == 0
            cluster = lab.world.etcd[0]
            ids.append((cluster.id, cluster.members[0].id))
            names.append(cluster.members[0].name)
        assert ids[0] == ids[1]
        assert names[0] != names[1]

    live(test)


def test_a_bare_reset_says_the_same_loses_nothing_and_runs_once() -> None:
    async def test(lab: Living) -> None:
        await stopped_with_a_snapshot(lab)
        number = lab.world.etcd[0].id
        said = await lab.ask(ONE, "sudo -n rke2 server --cluster-reset")
        assert (said.rc, SENTENCE in said.err) == (0, True)
        again = await lab.ask(ONE, "sudo -n rke2 server --cluster-reset")
        assert again.rc == 1
        assert "was previously reset" in again.err
        assert lab.world.etcd[0].id == number
        await lab.start(ONE)
        await lab.until(lambda: lab.ready(ONE))
        assert await marker(lab, ONE, "later")
        await lab.start(TWO)
        await lab.until(lambda: lab.world.hosts[TWO].units[SERVER].restarts > 0)
        assert "permanently removed" in await lab.must(
            TWO, "sudo -n sh -c 'cat /var/log/pods/kube-system_etcd-*/etcd/*.log'"
        )

    live(test)


@pytest.mark.parametrize(
    ("path", "said", "moved"),
    [
        (f"{DB}/snapshots/nope", "etcd: snapshot path does not exist: ", False),
        (f"{DB}/snapshots", "etcd: snapshot path must be a file, not a directory: ", False),
        ("before-rke-cp01-1", "etcd: snapshot path does not exist: before-rke-cp01-1", False),
        (f"{DB}/snapshots/x.zip", f"open {DB}/snapshots{DB}/snapshots/x.zip: no such", False),
        (f"{DB}/snapshots/zero", f"seek {DB}/snapshots/zero: invalid argument", True),
        (f"{DB}/snapshots/rawdb", "snapshot missing hash but --skip-hash-check=false", True),
    ],
)
def test_a_restore_that_is_refused(path: str, said: str, *, moved: bool) -> None:
    async def test(lab: Living) -> None:
        files = lab.world.hosts[ONE].files
        for name, content in (("zero", b""), ("x.zip", b"PK"), ("rawdb", b"\0" * 4096)):
            files.file(f"{DB}/snapshots/{name}", content)
        await lab.stop(*ALL)
        answer = await lab.reset(path)
        assert answer.rc == 1
        assert f"start managed database: {said}" in answer.err.splitlines()[-1]
        assert any(name.startswith("etcd-old-") for name in files.children(DB)) == moved

    live(test)


def test_a_reset_needs_a_token_no_server_url_and_its_flag() -> None:
    async def test(lab: Living) -> None:
        await lab.stop(*ALL)
        restore = "--cluster-reset-restore-path=/x"
        for host, words, said in (
            (ONE, restore, "--cluster-reset required with --cluster-reset-restore-path"),
            (TWO, f"--cluster-reset {restore}", "cannot perform cluster-reset while server URL"),
        ):
            answer = await lab.ask(host, f"sudo -n rke2 server {words}")
            assert (answer.rc, said in answer.err) == (1, True)
        lab.world.hosts[ONE].files.remove("/var/lib/rancher/rke2/server/token")
        answer = await lab.reset("/x")
        assert (answer.rc, "please pass --token" in answer.err) == (1, True)

    live(test)


def test_beside_a_healthy_server_a_reset_harms_nothing() -> None:
    async def test(lab: Living) -> None:
        answer = await lab.reset(await lab.save())
        assert answer.rc == 1
        assert "listen tcp 127.0.0.1:6444: bind: address already in use" in answer.err
        assert all(lab.ready(name) for name in ALL)

    live(test)


def test_beside_a_server_without_quorum_a_reset_hangs() -> None:
    async def test(lab: Living) -> None:
        path = await lab.save()
        await lab.stop(TWO, THREE)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(lab.reset(path), 0.3)

    live(test)


@pytest.mark.parametrize(
    ("how", "ready", "restarts"),
    [("file-empty", True, False), ("file-truncated", False, True), ("file-damaged", False, False)],
)
def test_a_normal_start_after_a_failed_restore(how: str, *, ready: bool, restarts: bool) -> None:
    async def test(lab: Living) -> None:
        answer = await lab.reset(await stopped_with_a_snapshot(lab))
        assert answer.rc == 1
        await lab.start(ONE)
        unit = lambda: lab.world.hosts[ONE].units[SERVER]  # noqa: E731
        if ready:
            await lab.until(lambda: lab.ready(ONE))
            assert not await marker(lab, ONE, "earlier")
            return
        if restarts:
            await lab.until(lambda: unit().restarts > 0)
        else:
            await lab.world.timeline.pause(0.2)
            assert unit().active == "activating"
        assert not lab.ready(ONE)

    live(test, ("cluster-reset", how))


def test_peers_on_their_old_databases_are_a_second_cluster_that_looks_healthy() -> None:
    async def test(lab: Living) -> None:
        await lab.reset(await stopped_with_a_snapshot(lab))
        await lab.start(ONE)
        await lab.until(lambda: lab.ready(ONE))
        await lab.start(TWO)
        await lab.world.timeline.pause(0.1)
        assert not lab.ready(TWO)
        await lab.start(THREE)
        await lab.until(lambda: lab.ready(TWO) and lab.ready(THREE))
        clusters = [lab.world.cluster_of(lab.world.hosts[name]) for name in (ONE, TWO, THREE)]
        assert [len(cluster.members) for cluster in clusters if cluster] == [1, 3, 3]
        assert clusters[0] is not clusters[1] is clusters[2]
        assert await marker(lab, TWO, "later")
        assert not await marker(lab, ONE, "later")
        pods = "sudo -n sh -c 'cat /var/log/pods/kube-system_etcd-*/etcd/*.log'"
        assert "cluster ID mismatch" in await lab.must(TWO, pods)

    live(test)


def test_a_database_removed_without_a_restore_finds_its_name_taken() -> None:
    async def test(lab: Living) -> None:
        await lab.stop(THREE)
        await lab.must(THREE, f"sudo -n rm -rf {DB}")
        await lab.start(THREE)
        await lab.until(lambda: lab.world.hosts[THREE].units[SERVER].restarts > 0)
        journal = await lab.must(THREE, f"sudo -n journalctl -u {SERVER} --no-pager -o cat")
        assert "duplicate node name found" in journal
        assert databases.found(lab.world.hosts[THREE]) is None

    live(test)


@pytest.mark.parametrize(
    ("how", "rc", "sentence"),
    [
        ("old-wording", 0, 'level=info msg="Managed etcd cluster membership has been reset'),
        ("errors-first", 0, SENTENCE),
        ("no-message", 0, ""),
        ("other-token", 1, "encrypted with different token"),
        ("cleanup-timeout", 1, "static pod cleanup timed out"),
        ("dies-late", 1, 'level=fatal msg="context canceled"'),
    ],
)
def test_a_reset_with_another_end(how: str, rc: int, sentence: str) -> None:
    async def test(lab: Living) -> None:
        said = await lab.reset(await stopped_with_a_snapshot(lab))
        assert said.rc == rc
        assert sentence in said.err
        if not sentence:
            assert "has been reset" not in said.err

    live(test, ("cluster-reset", how))


def test_a_reset_in_a_transient_unit_writes_into_its_files() -> None:
    async def test(lab: Living) -> None:
        path = await stopped_with_a_snapshot(lab)
        folder = "/var/lib/rancher/rke2-acceptance"
        await lab.must(ONE, f"sudo -n mkdir -p -m 700 {folder}")
        await lab.must(
            ONE,
            "sudo -n systemd-run --quiet --no-block --unit=rke2-reset-r --property=Type=oneshot "
            "--property=RemainAfterExit=yes --property=TimeoutStartSec=infinity "
            f"--property=StandardOutput=append:{folder}/r.out "
            f"--property=StandardError=append:{folder}/r.err -- "
            f"/bin/sh -c 'touch {folder}/latch && exec /usr/local/bin/rke2 server --cluster-reset "
            f"--cluster-reset-restore-path={path}'",
        )
        unit = "rke2-reset-r.service"
        assert lab.world.hosts[ONE].units[unit].active == "activating"
        await lab.until(lambda: lab.world.hosts[ONE].units[unit].sub == "exited")
        assert SENTENCE in await lab.must(ONE, f"sudo -n tail -c 2000000 {folder}/r.err")
        assert "latch" in await lab.must(ONE, f"sudo -n ls -1 {folder}")

    live(test)
