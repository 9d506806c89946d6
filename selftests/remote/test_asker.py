"""Batches, evidence, secrets and Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import HostCommand, Output, Silence
from selftests.remote.conftest import BASTION
from selftests.remote.sockets import RawServer, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from selftests.remote.conftest import Site

ROOT = Path(__file__).resolve().parents[2]


def on(host: str, command: str, *, secret: bool = False) -> HostCommand:
    return HostCommand(host, command, 5, secret)


def test_a_batch_asks_each_thing_once(site: Site) -> None:
    asker = site.asker()
    first = asker.ask(
        [on("rke-cp01", "exit 0"), on("rke-cp02", "exit 0"), on("rke-cp01", "exit 0")]
    )
    again = asker.ask([on("rke-cp01", "exit 0"), on("rke-cp01", "exit 3")])
    assert again[on("rke-cp01", "exit 0")] is first[on("rke-cp01", "exit 0")]
    assert sorted(site.cp01.commands) == ["exit 0", "exit 3"]
    assert site.said == ["asking 2 things on 2 hosts", "asking 1 things on 1 hosts"]


def test_silences_are_remembered_too(site: Site) -> None:
    asker = site.asker()
    site.ask(asker, "vanish")
    site.ask(asker, "vanish")
    assert site.cp01.commands == ["vanish"]


def test_refreshing_and_forgetting_ask_again(site: Site) -> None:
    asker = site.asker()
    request = on("rke-cp01", "exit 0")
    old = asker.ask([request, on("rke-cp02", "exit 0")])[request]
    new = asker.refresh([request])[request]
    assert isinstance(old, Output)
    assert isinstance(new, Output)
    assert new.at > old.at
    assert asker.ask([request])[request] is new
    assert len(site.cp02.commands) == 1
    asker.forget()
    asker.ask([request, on("rke-cp02", "exit 0")])
    assert (len(site.cp01.commands), len(site.cp02.commands)) == (3, 2)


def test_answers_carry_their_own_utc_time_and_duration(site: Site) -> None:
    before = datetime.now(UTC)
    answer = site.ask(site.asker(), "exit 0")
    assert isinstance(answer, Output)
    assert answer.at.utcoffset() == timedelta(0)
    assert before <= answer.at <= datetime.now(UTC)
    assert answer.seconds > 0


def test_what_was_used_is_evidence_once_in_order_of_use(site: Site) -> None:
    asker = site.asker()
    batch = [on("rke-cp01", f"exit {n}") for n in range(3)]
    asker.ask(batch)
    asker.used()
    asker.ask([batch[2], batch[0]])
    asker.ask([batch[0]])
    assert [answer.request for answer in asker.used()] == [batch[2], batch[0]]
    assert asker.used() == []


def test_both_answers_of_a_repeated_question_are_evidence(site: Site) -> None:
    asker = site.asker()
    request = on("rke-cp01", "exit 0")
    asker.ask([request])
    asker.refresh([request])
    assert [answer.request for answer in asker.used()] == [request, request]


def test_a_secret_output_is_answered_but_is_no_evidence(site: Site) -> None:
    site.cp01.answers["cat key"] = (0, b"hush", b"")
    asker = site.asker()
    request = on("rke-cp01", "cat key", secret=True)
    answer = asker.ask([request])[request]
    assert isinstance(answer, Output)
    assert answer.stdout == b"hush"
    (used,) = asker.used()
    assert isinstance(used, Output)
    assert used.stdout == b"(4 bytes of secret output, kept in memory only)"
    assert "hush" not in repr(asker.used())


def test_a_secret_output_is_kept_no_longer_than_its_gate(site: Site) -> None:
    site.cp01.answers["cat key"] = (0, b"hush", b"")
    asker = site.asker()
    requests = [on("rke-cp01", "cat key", secret=True), on("rke-cp01", "exit 0")]
    asker.ask(requests)
    asker.ask(requests)
    assert sorted(site.cp01.commands) == ["cat key", "exit 0"]
    asker.used()
    assert requests[0] not in asker._answers
    asker.ask(requests)
    assert sorted(site.cp01.commands) == ["cat key", "cat key", "exit 0"]


def test_a_host_of_no_inventory_is_a_mistake_of_ours(site: Site) -> None:
    with pytest.raises(KeyError):
        site.ask(site.asker(), "exit 0", "rke-cp09")


def test_ctrl_c_ends_what_runs_drops_what_waits_and_keeps_the_connection(site: Site) -> None:
    main = threading.main_thread().ident
    assert main is not None
    asker = site.asker(command=30, parallel_commands=2)
    requests = [on("rke-cp01", f"wait {n}") for n in range(7)]
    # Whichever starts first interrupts; the second one that fits may start as well.
    first = once(partial(signal.pthread_kill, main, signal.SIGINT))
    site.cp01.behaviours = {request.command: first for request in requests}
    with pytest.raises(KeyboardInterrupt):
        asker.ask(requests)
    assert isinstance(site.ask(asker, "exit 0"), Output)
    assert len(site.cp01.commands) <= 3
    assert asker.bastion.connections == 1


def once(action: Callable[[], object]) -> Callable[[], object]:
    left = [action]

    def act() -> None:
        if left:
            left.pop()()

    return act


SCRIPT = """
import sys
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from fixtures.core.inventory import Bastion, Limits
from fixtures.core.inventory_file import load
from fixtures.core.requests import HostCommand
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.bastion import BastionLink

port, known_hosts, key = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
bastion = Bastion("ops01", "127.0.0.1", port, "ubuntu", IPv4Address("10.72.0.10"), known_hosts, key)
cluster = replace(load(Path(sys.argv[4])), bastion=bastion, limits=Limits(connect=600))
asker = RemoteAsker(cluster, BastionLink(cluster))
try:
    asker.ask([HostCommand(host, "true", 600) for host in ("ops01", "rke-cp01", "rke-cp02")])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("front", ["silent", "hanging"])
def test_no_thread_keeps_an_interrupted_process_alive(site: Site, front: str) -> None:
    connected = threading.Event()

    async def note(reader: object, writer: object) -> None:
        connected.set()
        await silent(reader, writer)  # type: ignore[arg-type]

    if front == "silent":
        site.replaced_by(RawServer([note]))
    else:
        site.bastion.behaviours["true"] = connected.set
    inventory = ROOT / "inventories" / "wetopi.yaml"
    arguments = [str(site.door), str(site.known_hosts), str(site.key_file), str(inventory)]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as run:
        assert connected.wait(20)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=5)
    assert out == "interrupted\n"
    assert run.returncode == 0


def test_silence_says_when_and_how_long(site: Site) -> None:
    answer = site.ask(site.asker(command=0.3), "hang", BASTION)
    assert isinstance(answer, Silence)
    assert answer.at.utcoffset() == timedelta(0)
    assert answer.seconds >= 0.3
