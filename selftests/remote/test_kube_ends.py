"""A process that is interrupted or killed while it asks the Kubernetes API."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from fixtures.core.requests import KubeGet, Response
from selftests.remote.kube_stand import Asked, KubeStand, files_of, silent

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import sys
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from fixtures.core.inventory import Bastion, Limits
from fixtures.core.inventory_file import load
from fixtures.core.requests import KubeExec, KubeGet
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.bastion import BastionLink

port, known_hosts, key = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
bastion = Bastion("ops01", "127.0.0.1", port, "ubuntu", IPv4Address("10.72.0.10"), known_hosts, key)
cluster = replace(load(Path(sys.argv[4])), bastion=bastion, limits=Limits())
asker = RemoteAsker(cluster, BastionLink(cluster))
asker.ask([REQUEST])
"""


def test_ctrl_c_ends_it_and_the_bastion_stays_connected(kube: KubeStand) -> None:
    main = threading.main_thread().ident
    assert main is not None
    ended = threading.Event()

    async def handler(asked: Asked) -> None:
        if "/exec" not in asked.line:
            await asked.answer(b"{}")
            return
        await asked.upgrade()
        signal.pthread_kill(main, signal.SIGINT)
        try:
            await silent(asked)
        finally:
            ended.set()

    async def until_gone(asked: Asked) -> None:
        work = asyncio.ensure_future(handler(asked))
        while not work.done() and not asked.writer.transport.is_closing():
            await asyncio.sleep(0.01)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    kube.serve(until_gone)
    asker = kube.asker()
    with pytest.raises(KeyboardInterrupt):
        kube.execute(limit=60, asker=asker)
    assert ended.wait(5)
    assert isinstance(kube.get(asker=asker), Response)
    assert (asker.bastion.connections, kube.readings) == (1, 1)


def test_ctrl_c_drops_what_waits_for_its_turn(kube: KubeStand) -> None:
    main = threading.main_thread().ident
    assert main is not None
    interrupt = partial(signal.pthread_kill, main, signal.SIGINT)

    async def handler(asked: Asked) -> None:
        if "/1" in asked.line:
            interrupt()
        await silent(asked)

    api = kube.serve(handler)
    asker = kube.asker(parallel_commands=2)
    requests = [KubeGet(f"/api/v1/nodes/{number}", 60) for number in (1, 2, 3, 4, 5)]
    with pytest.raises(KeyboardInterrupt):
        asker.ask(requests)
    time.sleep(0.2)
    assert len(api.asked) <= 3


def started(kube: KubeStand, request: str, **environment: str) -> subprocess.Popen[str]:
    """A process that asks this, in a folder of its own."""
    site = kube.site
    inventory = ROOT / "inventories" / "wetopi.yaml"
    return subprocess.Popen(
        [
            *(sys.executable, "-c", SCRIPT.replace("REQUEST", request)),
            *map(str, (site.door, site.known_hosts, site.key_file, inventory)),
        ],
        cwd=site.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_interrupted_process_ends_at_once(kube: KubeStand) -> None:
    api = kube.serve(silent)
    request = 'KubeExec("kube-system", "etcd-rke-cp01", "etcd", ("sleep",), 600)'
    with started(kube, request) as run:
        assert api.met.wait(20)
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=5)
    assert "KeyboardInterrupt" in stderr
    assert run.returncode == -signal.SIGINT


def test_nothing_of_the_key_is_on_a_disk_after_sigkill(kube: KubeStand, tmp_path: Path) -> None:
    api = kube.serve(silent)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    request = 'KubeGet("/api/v1/nodes", 600)'
    with started(kube, request, TMPDIR=str(scratch), HOME=str(scratch)) as run:
        assert api.met.wait(20)
        run.send_signal(signal.SIGKILL)
    written = files_of(tmp_path)
    for line in kube.admin.key.splitlines()[1:-1]:
        assert line not in written
    assert b"client-key-data" not in written
