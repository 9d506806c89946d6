"""What every contestant is measured on: the embedded lab, validated, behind the relay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.relay import RelayProcess
from fixtures.core.inventory_file import load
from fixtures.gates import Phase, of_phase, phase_d2
from fixtures.observe.commands import KUBECTL
from fixtures.session.batch import requests_of
from fixtures.session.selection import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Request
    from fixtures.gates import Gate

_SSH_CONFIG = """\
Host {bastion.name}
  HostName {bastion.address}
  Port {bastion.port}
{sharing}
{nodes}
Host *
  User {bastion.user}
  IdentityFile "{bastion.key}"
  IdentitiesOnly yes
  UserKnownHostsFile "{bastion.known_hosts}"
  StrictHostKeyChecking yes
  BatchMode yes
"""
_SHARING = """\
  ControlMaster auto
  ControlPersist 60
  ControlPath "{sockets}/bastion"
"""
_SSH_NODE = """\
Host {node.name}
  HostName {node.address}
  ProxyCommand ssh -F "{config}" -W %h:%p {bastion.name}
"""


class StandError(Exception):
    """The lab did not start, or did not do what was asked; the text says what it said."""


@dataclass(frozen=True)
class Stand:
    """The lab's cluster as reached through the relay.

    Attributes:
        inventory: the suite's.
        cluster: what it says.
        folder: holds everything else: OpenSSH's configurations, Ansible's inventory, sockets.
    """

    inventory: Path
    cluster: Cluster
    folder: Path

    @classmethod
    def at(cls, inventory: Path) -> Stand:
        """The stand that another process has set up."""
        return cls(inventory, load(inventory), inventory.parent)

    @property
    def ssh_config(self) -> Path:
        """For OpenSSH and for what reads its configuration."""
        return self.folder / "ssh_config"

    @property
    def shared_config(self) -> Path:
        """The same with one kept connection to the bastion."""
        return self.folder / "ssh_config_shared"

    @property
    def sockets(self) -> Path:
        """Where control sockets lie."""
        return self.folder / "cm"

    @property
    def ansible_hosts(self) -> Path:
        """Ansible's inventory."""
        return self.folder / "hosts"

    @property
    def ansible_environment(self) -> dict[str, str]:
        """Ansible as it comes, with its own folders in ours."""
        return {
            **os.environ,
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.sockets),
            "ANSIBLE_SSH_COMMON_ARGS": f"-F {self.ssh_config}",
            "ANSIBLE_LOCALHOST_WARNING": "False",
        }

    @cached_property
    def quorum(self) -> tuple[Request, ...]:
        """What the read-only gates of C ask, each once."""
        return self._asked([gate for gate in of_phase(Phase.C) if not gate.authorized])

    @cached_property
    def validation(self) -> tuple[Request, ...]:
        """What the read-only gates of D2 about nodes and components ask, each once."""
        return self._asked(phase_d2.GATES)

    def listing(self, what: str) -> str:
        """The runbook's form of asking a control plane for objects."""
        return f"{KUBECTL} get {what} -o json"

    def _asked(self, gates: Iterable[Gate]) -> tuple[Request, ...]:
        requests: dict[Request, None] = {}
        for gate in gates:
            for node in nodes_of(gate, self.cluster) or (None,):
                requests.update(dict.fromkeys(requests_of(gate, node, self.cluster)))
        return tuple(requests)


@contextmanager
def stand(nodes: int, round_trip: float) -> Iterator[tuple[Stand, RelayProcess]]:
    """Start a lab of that size that is so many seconds away, and a relay; end both on leaving.

    Raises:
        StandError: the lab did not start.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="rke2-bench-")))
        options = [f"--reports={folder}", f"--rtt={round_trip * 1000:.0f}ms", f"--nodes={nodes}"]
        lab = subprocess.Popen(
            [sys.executable, "-m", "lab", "serve", "--control", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.enter_context(lab)
        ready = _answer(lab)
        _tell(lab, {"apply": "d2"})
        relay = RelayProcess(int(ready["port"]))
        stack.callback(relay.close)
        built = _behind(Path(ready["inventory"]), relay.port)
        _for_others(built)
        yield built, relay


def _behind(inventory: Path, port: int) -> Stand:
    """The stand whose bastion listens at the relay's port, under the same host key."""
    cluster = load(inventory)
    bastion = cluster.bastion
    here = f"[{bastion.address}]:"
    known = bastion.known_hosts.read_text("utf-8")
    bastion.known_hosts.write_text(known.replace(f"{here}{bastion.port}", f"{here}{port}"), "utf-8")
    text = inventory.read_text("utf-8").replace(f"port: {bastion.port}", f"port: {port}")
    inventory.write_text(text, "utf-8")
    moved = replace(cluster, bastion=replace(bastion, port=port))
    return Stand(inventory, moved, inventory.parent)


def _for_others(built: Stand) -> None:
    built.sockets.mkdir(mode=0o700)
    for path, sharing in (
        (built.ssh_config, ""),
        (built.shared_config, _SHARING.format(sockets=built.sockets)),
    ):
        nodes = "\n".join(
            _SSH_NODE.format(node=node, config=path, bastion=built.cluster.bastion)
            for node in built.cluster.nodes
        )
        path.write_text(
            _SSH_CONFIG.format(bastion=built.cluster.bastion, nodes=nodes, sharing=sharing), "utf-8"
        )
    built.ansible_hosts.write_text("".join(f"{node.name}\n" for node in built.cluster.nodes))


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
