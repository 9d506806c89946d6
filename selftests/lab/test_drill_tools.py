"""The small tools that drills use: copies, flags, listings, journals."""

from __future__ import annotations

import json

import pytest

from selftests.lab.living import SERVER, Living, live
from selftests.lab.world import world_at

OPS, CP = "wetopi-ops01", "rke-cp01"
FLAGS = "~/.rke2-acceptance/lab"
LOCK = f"umask 077; mkdir -p {FLAGS} && mkdir {FLAGS}/lock && cat > {FLAGS}/lock/owner"


def test_a_lock_is_taken_once_and_kept_private() -> None:
    async def test(lab: Living) -> None:
        absent = await lab.ask(OPS, f"ls -1 {FLAGS}")
        assert (absent.rc, "No such file or directory" in absent.err) == (2, True)
        await lab.must(OPS, LOCK, b'{"run": "r"}')
        taken = await lab.ask(OPS, LOCK, b'{"run": "other"}')
        assert (taken.rc, "File exists" in taken.err) == (1, True)
        assert await lab.must(OPS, f"cat {FLAGS}/lock/owner") == '{"run": "r"}'
        modes = await lab.must(OPS, f"stat -c %a {FLAGS} {FLAGS}/lock {FLAGS}/lock/owner")
        assert modes.split() == ["700", "700", "600"]
        await lab.must(OPS, f"rm -r {FLAGS}/lock")
        assert await lab.must(OPS, f"ls -1 {FLAGS}") == ""

    live(test)


def test_a_copy_goes_on_where_it_was_cut() -> None:
    async def test(lab: Living) -> None:
        content = bytes(range(256)) * 1024
        lab.world.hosts[CP].files.file("/var/lib/snapshot", content, 0o600)
        await lab.must(OPS, "mkdir -m 700 -p ~/rke2-snapshots")
        write = (
            "umask 077; dd of=rke2-snapshots/x.part bs=65536 conv=notrunc oflag=append status=none"
        )
        await lab.must(OPS, write, content[:100_000])
        read = "sudo -n dd if=/var/lib/snapshot bs=65536 skip=100000 iflag=skip_bytes status=none"
        _, rest, _ = await lab.raw(CP, read)
        assert rest == content[100_000:]
        await lab.must(OPS, write, rest)
        await lab.must(
            OPS, "sync && mv -T --backup=numbered rke2-snapshots/x.part rke2-snapshots/x"
        )
        facts = await lab.must(OPS, "stat -c '%F %s %a' rke2-snapshots/x")
        assert facts == f"regular file {len(content)} 600\n"
        both = {
            (await lab.must(host, f"{sudo}sha256sum {path}")).split()[0]
            for host, sudo, path in (
                (CP, "sudo -n ", "/var/lib/snapshot"),
                (OPS, "", "rke2-snapshots/x"),
            )
        }
        assert len(both) == 1

    live(test)


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("printf abc | od -An -tx1", " 61 62 63\n"),
        ("printf abc | xxd -p -c 64", "616263\n"),
        ("df -B1 --output=avail /root 2>&1", "      Avail\n71940702208\n"),
        ("readlink -f /var/lib/rancher/rke2/server/node-token", ""),
        (
            "sudo -n readlink -f /var/lib/rancher/rke2/server/db",
            "/var/lib/rancher/rke2/server/db\n",
        ),
        ("printf 'a\\nb' | { read x; echo $x; }", "a\n"),
        # As GNU sed does each of them.
        ("printf 'aXbXcX' | sed 's/X/-/2g'", "aXb-c-"),
        ("printf 'aXbXcX' | sed 's/X/-/2'", "aXb-cX"),
        ("printf 'ab\\ncd\\n' | sed -E '/^a/!s/(.)(.)/\\2\\1/; s/b/&&/'", "abb\ndc\n"),
        ("printf 'ab\\ncd\\n' | sed '/a/d;s/c/C/'", "Cd\n"),
    ],
)
def test_a_tool(line: str, out: str) -> None:
    async def test(lab: Living) -> None:
        assert (await lab.ask(CP, line)).out == out

    live(test)


def test_a_folder_is_moved_only_onto_nothing() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP, "mkdir -p a/b c/d && touch a/b/f")
        said = await lab.ask(CP, "mv -T a c")
        assert (said.rc, "Directory not empty" in said.err) == (1, True)
        await lab.must(CP, "mv -T a e")
        assert await lab.must(CP, "ls -1 e/b") == "f\n"

    live(test)


def test_what_a_rename_would_replace_is_numbered_and_kept() -> None:
    async def test(lab: Living) -> None:
        for content in ("a", "b", "c"):
            await lab.must(OPS, f"umask 077; echo {content} > x.part")
            await lab.must(OPS, "mv -T --backup=numbered x.part ~/x")
        assert await lab.must(OPS, "cat x x.~1~ x.~2~") == "c\na\nb\n"
        assert await lab.must(OPS, "stat -c %a x x.~1~ x.~2~") == "600\n600\n600\n"
        await lab.must(OPS, "mkdir x.~7~ && echo d > x.part && mv -T --backup=numbered x.part x")
        assert await lab.must(OPS, "cat x.~8~") == "c\n"
        await lab.must(OPS, "mkdir d && touch d/f && mv -T --backup=numbered x d")
        assert await lab.must(OPS, "cat d; ls -1 d.~1~") == "d\nf\n"

    live(test)


def test_the_runtime_knows_static_pods_by_their_manifest() -> None:
    async def test(lab: Living) -> None:
        crictl = (
            "sudo -n /var/lib/rancher/rke2/bin/crictl --runtime-endpoint "
            "unix:///run/k3s/containerd/containerd.sock pods -o json"
        )
        ready = {
            row["metadata"]["uid"]
            for row in json.loads(await lab.must(CP, crictl))["items"]
            if row["state"] == "SANDBOX_READY"
        }
        pods = lab.world.objects.select("Pod", on=CP)
        mirrors = {
            pod["metadata"]["annotations"]["kubernetes.io/config.mirror"]
            for pod in pods
            if "annotations" in pod["metadata"]
        }
        assert mirrors <= ready
        await lab.stop(CP)
        said = await lab.ask(CP, crictl)
        assert (said.rc, "connection refused" in said.err) == (1, True)

    live(test)


def test_a_journal_is_told_since_a_moment() -> None:
    async def test(lab: Living) -> None:
        at = (await lab.must(CP, "date -u +%s")).strip()
        ask = f"sudo -n journalctl -u {SERVER} --since=@{at} -o json --all --no-pager"
        assert await lab.must(CP, ask) == ""
        await lab.stop(CP)
        rows = [json.loads(line) for line in (await lab.must(CP, ask)).splitlines()]
        assert rows[-1]["MESSAGE"].startswith("Stopped rke2-server.service")
        assert {row.get("UNIT", row["_SYSTEMD_UNIT"]) for row in rows} == {SERVER}
        assert all(int(row["__REALTIME_TIMESTAMP"]) >= int(at) * 1_000_000 for row in rows)

    live(test)


def test_types_come_with_the_phase_that_installs_them() -> None:
    async def test(lab: Living) -> None:
        said = await lab.kubectl(CP, "get ciliumnodes.cilium.io -o json")
        assert (said.rc, said.err) == (
            1,
            'error: the server doesn\'t have a resource type "ciliumnodes"\n',
        )
        words = "get persistentvolumes,persistentvolumeclaims -A -o json"
        assert json.loads((await lab.kubectl(CP, words)).out)["items"] == []
        assert json.loads((await lab.kubectl(CP, "get daemonsets -A -o json")).out)["items"] == []

    live(test)
    network = world_at("e").objects
    assert len(network.select("CiliumNode")) == 3
    assert {item["metadata"]["name"] for item in network.select("DaemonSet")} >= {"cilium"}


def test_a_volume_is_seen_among_the_mounts() -> None:
    async def test(lab: Living) -> None:
        mounts = await lab.must("rke-cp02", "cat /proc/mounts")
        assert all(len(line.split(" ")) == 6 for line in mounts.splitlines())
        assert "/dev/rbd0 " in mounts
        assert "/dev/rbd0 " not in await lab.must(CP, "cat /proc/mounts")

    live(test, "volume-mounted")
