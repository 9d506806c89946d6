"""What every contestant is measured on: the embedded lab at phase C, behind the relay."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.relay import RelayProcess
from fixtures.core.inventory_file import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fixtures.core.inventory import Cluster

_SSH_CONFIG = """\
Host {bastion.name}
  HostName {bastion.address}
  Port {bastion.port}

{nodes}
Host *
  User {bastion.user}
  IdentityFile "{bastion.key}"
  IdentitiesOnly yes
  UserKnownHostsFile "{bastion.known_hosts}"
  StrictHostKeyChecking yes
  BatchMode yes
"""
_SSH_NODE = """\
Host {node.name}
  HostName {node.address}
  ProxyCommand ssh -F "{config}" -W %h:%p {bastion.name}
"""


class StandError(Exception):
    """The lab did not start, or did not do what was asked; the text says what it said."""


@dataclass(frozen=True, slots=True)
class Stand:
    """The lab's cluster as reached through the relay.

    Attributes:
        cluster: inventory with the bastion at the relay's port.
        ssh_config: the same for OpenSSH and for what reads its configuration.
    """

    cluster: Cluster
    ssh_config: Path
    relay: RelayProcess


@contextmanager
def stand(round_trip: float) -> Iterator[Stand]:
    """Start a lab that is so many seconds away, and a relay; end both on leaving.

    Raises:
        StandError: the lab did not start.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="rke2-bench-")))
        options = [f"--reports={folder}", f"--rtt={round_trip * 1000:.0f}ms"]
        lab = subprocess.Popen(
            [sys.executable, "-m", "lab", "serve", "--control", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.enter_context(lab)
        ready = _answer(lab)
        _tell(lab, {"apply": "c"})
        cluster = load(Path(ready["inventory"]))
        relay = RelayProcess(int(ready["port"]))
        stack.callback(relay.close)
        cluster = _behind(cluster, relay.port, folder)
        yield Stand(cluster, _ssh_config(cluster, folder), relay)


def _behind(cluster: Cluster, port: int, folder: Path) -> Cluster:
    """The cluster whose bastion listens at the relay's port, under the same host key."""
    bastion = cluster.bastion
    known = bastion.known_hosts.read_text("utf-8")
    moved = folder / "known_hosts"
    here = f"[{bastion.address}]:"
    moved.write_text(known.replace(f"{here}{bastion.port}", f"{here}{port}"), "utf-8")
    return replace(cluster, bastion=replace(bastion, port=port, known_hosts=moved))


def _ssh_config(cluster: Cluster, folder: Path) -> Path:
    path = folder / "ssh_config"
    nodes = "\n".join(
        _SSH_NODE.format(node=node, config=path, bastion=cluster.bastion) for node in cluster.nodes
    )
    path.write_text(_SSH_CONFIG.format(bastion=cluster.bastion, nodes=nodes), "utf-8")
    return path


def _tell(lab: subprocess.Popen[str], command: dict[str, str]) -> None:
    assert lab.stdin is not None
    lab.stdin.write(json.dumps(command) + "\n")
    lab.stdin.flush()
    answer = _answer(lab)
    if not answer.get("ok"):
        raise StandError(f"the lab answered {answer} to {command}")


def _answer(lab: subprocess.Popen[str]) -> dict[str, str]:
    assert lab.stdout is not None
    line = lab.stdout.readline()
    if not line:
        raise StandError(f"the lab did not start (exit {lab.wait(timeout=10)})")
    answer: dict[str, str] = json.loads(line)
    return answer
