"""Bastion and nodes over SSH: channels, refusals, floods, cuts, latency."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import asyncssh
import pytest

from selftests.lab.running import lab_at, run, unconnected

if TYPE_CHECKING:
    from pathlib import Path

    from lab.server import Lab


def test_commands_keep_streams_and_status_apart(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c") as running, await running.node("rke-cp01") as node:
            done = await node.run("echo out; ls /nowhere; exit 7")
            assert done.stdout == "out\n"
            assert "cannot access" in str(done.stderr)
            assert done.exit_status == 7
            assert (await running.bastion.run("hostname")).stdout == "wetopi-ops01\n"

    run(test())


@pytest.mark.parametrize(
    ("address", "port", "faults", "said"),
    [
        ("10.72.0.20", 6443, [("vip-nowhere", None)], "No route to host"),
        ("10.72.0.21", 3300, [], "Connection refused"),
        ("10.72.0.21", 6443, [("api-refused", "rke-cp01")], "Connection refused"),
        ("10.72.0.99", 22, [], "No route to host"),
        ("10.72.0.22", 22, [("ssh-refused", "rke-cp02")], "Connection refused"),
        ("10.72.0.22", 22, [("host-down", "rke-cp02")], "No route to host"),
    ],
)
def test_channels_are_refused_as_openssh_does(
    tmp_path: Path, address: str, port: int, faults: list[tuple[str, object]], said: str
) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c", *faults) as running:
            with pytest.raises(asyncssh.ChannelOpenError) as caught:
                await running.bastion.open_connection(address, port)
            assert (caught.value.code, caught.value.reason) == (2, said)

    run(test())


@pytest.mark.parametrize("fault", ["ssh-silent", "host-unreachable"])
def test_silence(tmp_path: Path, fault: str) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c", (fault, "rke-cp02")) as running:
            running.options["login_timeout"] = 0.3
            with pytest.raises((asyncssh.Error, TimeoutError)):
                async with asyncio.timeout(0.3):
                    await running.node("rke-cp02")
            async with await running.node("rke-cp01") as other:
                assert (await other.run("true")).exit_status == 0

    run(test())


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("ssh-auth-denied", asyncssh.PermissionDenied),
        ("host-key-changed", asyncssh.HostKeyNotVerifiable),
    ],
)
@pytest.mark.parametrize("host", ["rke-cp02", "wetopi-ops01"])
def test_keys(tmp_path: Path, host: str, fault: str, error: type[Exception]) -> None:
    async def test() -> None:
        async with unconnected(tmp_path, "c", (fault, host)) as (lab, options):
            with pytest.raises(error):
                await _reach(lab, options, host)

    run(test())


async def _reach(lab: Lab, options: dict[str, object], host: str) -> None:
    async with asyncssh.connect("127.0.0.1", lab.port, **options) as bastion:
        if host != "wetopi-ops01":
            address = lab.world.hosts[host].machine.address
            await asyncssh.connect(address, tunnel=bastion, **options)


def test_a_host_nobody_has_met(tmp_path: Path) -> None:
    async def test() -> None:
        async with unconnected(tmp_path, "c", ("host-key-unknown", "rke-cp02")) as (lab, options):
            assert "10.72.0.22 " not in (lab.folder / "known_hosts").read_text()
            with pytest.raises(asyncssh.HostKeyNotVerifiable):
                await _reach(lab, options, "rke-cp02")

    run(test())


@pytest.mark.parametrize("reset", [False, True])
def test_the_bastion_limits_new_connections(tmp_path: Path, reset: bool) -> None:
    async def test() -> None:
        limited = ("bastion-rate-limited", {"allow": 1, "reset": reset})
        async with (
            unconnected(tmp_path, "c", limited) as (lab, options),
            asyncssh.connect("127.0.0.1", lab.port, **options) as first,
        ):
            options["login_timeout"] = 0.3
            with pytest.raises((asyncssh.Error, OSError)):
                await asyncssh.connect("127.0.0.1", lab.port, **options)
            assert (await first.run("true")).exit_status == 0

    run(test())


def test_ten_sessions_a_connection(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c") as running:
            open_ones = [await running.bastion.create_process("sleep 60") for _ in range(10)]
            with pytest.raises(asyncssh.ChannelOpenError):
                await running.bastion.create_process("true")
            open_ones[0].close()
            await open_ones[0].wait_closed()
            await _until_accepted(running.bastion)

    run(test())


async def _until_accepted(connection: asyncssh.SSHClientConnection) -> None:
    while True:
        try:
            await connection.run("true")
        except asyncssh.ChannelOpenError:
            await asyncio.sleep(0)
        else:
            return


def test_a_flood_comes_through_whole(tmp_path: Path) -> None:
    flood = ("flood", {"host": "rke-cp01", "command": "^cat", "bytes": 8_000_000})

    async def test() -> None:
        async with lab_at(tmp_path, "c", flood) as running, await running.node("rke-cp01") as node:
            done = await node.run("cat x", encoding=None)
            assert len(done.stdout or b"") > 7_900_000
            assert (await node.run("hostname")).stdout == "rke-cp01\n"

    run(test())


@pytest.mark.parametrize("where", ["bastion", "node"])
def test_a_cut_in_mid_command(tmp_path: Path, where: str) -> None:
    cut = ("link-cut", {"host": "rke-cp01", "command": "^hostname", "where": where})

    async def test() -> None:
        async with lab_at(tmp_path, "c", cut) as running:
            node = await running.node("rke-cp01")
            done = None
            with suppress(asyncssh.Error):
                done = await node.run("hostname")
            assert done is None or done.exit_status is None
            await node.wait_closed()
            if where == "node":
                again = await running.node("rke-cp01")
                assert (await again.run("hostname")).stdout == "rke-cp01\n"

    run(test())


def test_a_killed_command_has_a_signal(tmp_path: Path) -> None:
    killed = ("command-killed", {"host": "rke-cp01", "command": "^hostname"})

    async def test() -> None:
        async with lab_at(tmp_path, "c", killed) as running, await running.node("rke-cp01") as node:
            done = await node.run("hostname")
            assert done.exit_signal is not None
            assert done.exit_signal[0] == "KILL"

    run(test())


def test_the_round_trip_is_really_added(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c", rtt=0.05) as running:
            loop = asyncio.get_running_loop()
            begin = loop.time()
            for _ in range(4):
                await running.bastion.run("true")
            # A session and its exec: two round trips a command, whatever the machine's load.
            assert loop.time() - begin >= 4 * 2 * 0.05

    run(test())


def test_an_interactive_shell_says_that_there_is_none(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "c") as running:
            done = await running.bastion.run(None)
            assert "runs commands" in str(done.stdout)
            assert done.exit_status == 1

    run(test())


def test_a_hundred_nodes_answer(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "g", nodes=100) as running:
            names = [machine.name for machine in running.lab.layout.nodes]

            async def ask(name: str) -> str:
                async with await running.node(name) as node:
                    return str((await node.run("hostname")).stdout).strip()

            assert await asyncio.gather(*map(ask, names)) == names

    run(test(), limit=60)
