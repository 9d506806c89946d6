"""The ways to ask that are compared: this suite's, testinfra's backends, and Ansible."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fixtures.core.requests import HostCommand, KubeGet, Output, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bench.stand import Stand
    from fixtures.core.requests import Answer, Request

_ONE = "hostname"
_LISTS = ("nodes", "pods -A", "leases -n kube-node-lease", "ciliumnodes")
"""What the API answers to D2's read-only gates, as the runbook's kubectl asks it on cp01."""


class BenchError(Exception):
    """A contestant was not answered; a time of it would mean nothing."""


class Contestant(Protocol):
    """One way to ask, for one turn: connected, used, closed."""

    def connect(self) -> None:
        """Do what can be done ahead of the first question."""

    def command(self) -> None:
        """Ask one control plane one thing."""

    def quorum(self) -> None:
        """Ask what the read-only gates of C need."""

    def state(self) -> None:
        """Ask for what the API answers to the read-only gates of D2."""

    def every_node(self) -> None:
        """Log in to every node and ask for the unit that D2 looks at."""

    def close(self) -> None:
        """End every connection."""


class Suite:
    """One bastion connection, everything at once."""

    def __init__(self, stand: Stand) -> None:
        # Here, so that the memory of others is not that of what they don't use.
        from fixtures.remote.asker import RemoteAsker  # noqa: PLC0415
        from fixtures.remote.bastion import BastionLink  # noqa: PLC0415

        self._stand = stand
        self._asker = RemoteAsker(stand.cluster, BastionLink(stand.cluster))

    def connect(self) -> None:
        """Reach the bastion and every node, and read the kubeconfig."""
        cluster = self._stand.cluster
        hosts = [HostCommand(node.name, _ONE, cluster.limits.command) for node in cluster.nodes]
        self._ask([*hosts, KubeGet("/version", cluster.limits.kubectl)])

    def command(self) -> None:
        """Ask one control plane one thing, anew."""
        cluster = self._stand.cluster
        self._ask([HostCommand(cluster.first_control_plane.name, _ONE, cluster.limits.command)])

    def quorum(self) -> None:
        """Ask everything in one batch, `/readyz` through the VIP included."""
        self._ask(self._stand.quorum)

    def state(self) -> None:
        """Ask for every list at once, page by page."""
        self._ask([each for each in self._stand.validation if isinstance(each, KubeGet)])

    def every_node(self) -> None:
        """Ask all at once, eight on the wire."""
        self._ask([each for each in self._stand.validation if isinstance(each, HostCommand)])

    def whole(self) -> None:
        """Ask everything that D2's read-only gates need in one batch."""
        self._ask(self._stand.validation)

    def close(self) -> None:
        """End the bastion connection."""
        self._asker.close()

    def _ask(self, requests: Iterable[Request]) -> None:
        _answered(self._asker.refresh(list(requests)))


class Testinfra:
    """A backend of testinfra: one command after the other.

    It asks less than the suite: `/readyz` through the VIP needs a channel that it can't open.

    Args:
        stand: what is asked.
        backend: `ssh` or `paramiko`.
        shared: with one control socket a host, and one for the bastion.
    """

    def __init__(self, stand: Stand, backend: str, *, shared: bool = False) -> None:
        import testinfra  # noqa: PLC0415

        self._stand = stand
        self._sockets = stand.sockets if shared else None
        config = stand.shared_config if shared else stand.ssh_config
        self._hosts = {}
        for node in stand.cluster.nodes:
            more = {"controlpath": str(stand.sockets / node.name)} if shared else {}
            self._hosts[node.name] = testinfra.get_host(
                f"{backend}://{node.name}", ssh_config=str(config), **more
            )

    def connect(self) -> None:
        """Reach every node, where the backend keeps a connection."""
        for name in self._hosts:
            self._run(name, _ONE)

    def command(self) -> None:
        """Ask one control plane one thing."""
        self._run(self._stand.cluster.first_control_plane.name, _ONE)

    def quorum(self) -> None:
        """Run the commands of the gates one by one."""
        for request in self._stand.quorum:
            if isinstance(request, HostCommand):
                self._run(request.host, request.command)

    def state(self) -> None:
        """Run kubectl on the first control plane, a list a time."""
        for what in _LISTS:
            self._run(self._stand.cluster.first_control_plane.name, self._stand.listing(what))

    def every_node(self) -> None:
        """Log in to one node after the other."""
        for request in self._stand.validation:
            if isinstance(request, HostCommand):
                self._run(request.host, request.command)

    def close(self) -> None:
        """End what the backend keeps open; testinfra hands out the same host object again."""
        for host in self._hosts.values():
            if client := vars(host.backend).pop("client", None):
                client.close()
        if self._sockets is not None:
            _end_masters(self._sockets)

    def _run(self, host: str, command: str) -> None:
        with warnings.catch_warnings():
            # As shipped, the paramiko backend loads no host keys and warns of every one.
            warnings.simplefilter("ignore")
            result = self._hosts[host].run(command)
        if result.rc != 0:
            raise BenchError(f"{host}: `{command}` ended with rc {result.rc}: {result.stderr}")


class Ansible:
    """`ansible` ad-hoc with its own defaults: five hosts at a time, a kept connection to each."""

    def __init__(self, stand: Stand) -> None:
        self._stand = stand

    def connect(self) -> None:
        """Reach every node; the masters stay for a minute."""
        self._run("all", _ONE)

    def command(self) -> None:
        """Ask one control plane one thing."""
        self._run(self._stand.cluster.first_control_plane.name, _ONE)

    def quorum(self) -> None:
        """Run the commands of the gates one by one, each on all hosts that it is for."""
        hosts: dict[str, list[str]] = {}
        for request in self._stand.quorum:
            if isinstance(request, HostCommand):
                hosts.setdefault(request.command, []).append(request.host)
        for command, names in hosts.items():
            self._run(",".join(names), command)

    def state(self) -> None:
        """Run kubectl on the first control plane, a list a time."""
        for what in _LISTS:
            self._run(self._stand.cluster.first_control_plane.name, self._stand.listing(what))

    def every_node(self) -> None:
        """Run the command of each kind of node on all of that kind."""
        hosts: dict[str, list[str]] = {}
        for request in self._stand.validation:
            if isinstance(request, HostCommand):
                hosts.setdefault(request.command, []).append(request.host)
        for command, names in hosts.items():
            self._run(",".join(names), command)

    def close(self) -> None:
        """End the masters that stayed."""
        _end_masters(self._stand.sockets)

    def _run(self, pattern: str, command: str) -> None:
        ended = subprocess.run(
            [
                *(Path(sys.executable).with_name("ansible"), pattern, "-m", "raw", "-a", command),
                *("-i", str(self._stand.ansible_hosts)),
            ],
            env=self._stand.ansible_environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            said = (ended.stdout + ended.stderr)[-400:]
            raise BenchError(
                f"ansible {pattern}: `{command}` ended with {ended.returncode}: {said}"
            )


CONTESTANTS: dict[str, Callable[[Stand], Contestant]] = {
    "this suite": Suite,
    "testinfra ssh": lambda stand: Testinfra(stand, "ssh"),
    "testinfra ssh, shared": lambda stand: Testinfra(stand, "ssh", shared=True),
    "testinfra paramiko": lambda stand: Testinfra(stand, "paramiko"),
    "ansible": Ansible,
}
"""By the name in the table; each is made for one stand."""


def _end_masters(folder: Path) -> None:
    for socket in folder.iterdir():
        with contextlib.suppress(OSError):
            subprocess.run(
                ["ssh", "-O", "exit", "-S", str(socket), "any"],
                capture_output=True,
                check=False,
            )


def _answered(answers: Mapping[Request, Answer]) -> None:
    for answer in answers.values():
        if isinstance(answer, Response) and answer.status == 200:
            continue
        if isinstance(answer, Output) and answer.rc == 0:
            continue
        raise BenchError(f"not answered as hoped: {answer}")
