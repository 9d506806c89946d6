"""The ways to ask that are compared: this suite's, and testinfra's two SSH backends as shipped."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Protocol

import testinfra

from fixtures.core.requests import HostCommand, Output, Response
from fixtures.gates import Phase, of_phase
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.bastion import BastionLink
from fixtures.session.batch import requests_of
from fixtures.session.selection import nodes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.stand import Stand
    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Answer, Request

_ONE = "hostname"


class BenchError(Exception):
    """A contestant was not answered; a time of it would mean nothing."""


class Contestant(Protocol):
    """One way to ask, for one round: connected, used, closed."""

    def connect(self) -> None:
        """Do what can be done ahead of the first question."""

    def command(self) -> None:
        """Ask one control plane one thing."""

    def gates(self) -> None:
        """Ask what the read-only gates of C need."""

    def close(self) -> None:
        """End every connection."""


def gate_requests(cluster: Cluster) -> list[Request]:
    """What the read-only gates of C ask, each once."""
    requests: dict[Request, None] = {}
    for gate in of_phase(Phase.C):
        for node in nodes_of(gate, cluster) or (None,):
            requests.update(dict.fromkeys(requests_of(gate, node, cluster)))
    return list(requests)


class Suite:
    """One bastion connection, everything at once."""

    def __init__(self, stand: Stand) -> None:
        self._cluster = stand.cluster
        self._asker = RemoteAsker(stand.cluster, BastionLink(stand.cluster))

    def connect(self) -> None:
        """Reach the bastion and the control planes."""
        hosts = [node.name for node in self._cluster.control_planes]
        self._ask([self._one(host) for host in hosts])

    def command(self) -> None:
        """Ask one control plane one thing, anew."""
        _answered(self._asker.refresh([self._one(self._cluster.first_control_plane.name)]))

    def gates(self) -> None:
        """Ask everything in one batch, `/readyz` through the VIP included."""
        self._ask(gate_requests(self._cluster))

    def close(self) -> None:
        """End the bastion connection."""
        self._asker.close()

    def _one(self, host: str) -> HostCommand:
        return HostCommand(host, _ONE, self._cluster.limits.command)

    def _ask(self, requests: list[Request]) -> None:
        _answered(self._asker.ask(requests))


class Testinfra:
    """A backend of testinfra as shipped: one command after the other.

    It asks less than the suite: `/readyz` through the VIP needs a channel that it can't open.
    """

    def __init__(self, stand: Stand, backend: str) -> None:
        self._cluster = stand.cluster
        self._hosts = {
            node.name: testinfra.get_host(
                f"{backend}://{node.name}", ssh_config=str(stand.ssh_config)
            )
            for node in stand.cluster.control_planes
        }

    def connect(self) -> None:
        """Reach the control planes, where the backend keeps a connection."""
        for name in self._hosts:
            self._run(name, _ONE)

    def command(self) -> None:
        """Ask one control plane one thing."""
        self._run(self._cluster.first_control_plane.name, _ONE)

    def gates(self) -> None:
        """Run the commands of the gates one by one."""
        for request in gate_requests(self._cluster):
            if isinstance(request, HostCommand):
                self._run(request.host, request.command)

    def close(self) -> None:
        """End what the backend keeps open; testinfra hands out the same host object again."""
        for host in self._hosts.values():
            if client := vars(host.backend).pop("client", None):
                client.close()

    def _run(self, host: str, command: str) -> None:
        with warnings.catch_warnings():
            # As shipped, the paramiko backend loads no host keys and warns of every one.
            warnings.simplefilter("ignore")
            result = self._hosts[host].run(command)
        if result.rc != 0:
            raise BenchError(f"{host}: `{command}` ended with rc {result.rc}: {result.stderr}")


def _answered(answers: Mapping[Request, Answer]) -> None:
    for answer in answers.values():
        if isinstance(answer, Response) or (isinstance(answer, Output) and answer.rc == 0):
            continue
        raise BenchError(f"not answered as hoped: {answer}")
