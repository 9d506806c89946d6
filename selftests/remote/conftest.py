"""A cluster of SSH servers on loopback: a bastion and two control planes behind it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh
import pytest

from fixtures.core.inventory import Bastion, Cluster, Limits
from fixtures.core.inventory_file import load
from fixtures.core.requests import HostCommand
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.bastion import BastionLink
from selftests.remote.hosts import USER, Gauge, SshHost
from selftests.remote.kube_stand import KubeStand
from selftests.remote.loop import BACKGROUND
from selftests.remote.stand import Stand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fixtures.core.requests import Answer
    from selftests.remote.sockets import RawServer, Relay

WETOPI = Path(__file__).resolve().parents[2] / "inventories" / "wetopi.yaml"
BASTION = "wetopi-ops01"
LIMITS = Limits(connect=10.0, command=10.0, api_request=10.0, reconnect_backoff=0.1)


def new_key(kind: str = "ssh-ed25519") -> asyncssh.SSHKey:
    return asyncssh.generate_private_key(kind)


def known_line(name: str, key: asyncssh.SSHKey) -> str:
    return f"{name} {key.export_public_key().decode().strip()}\n"


@dataclass
class Site:
    """The servers, the files of an operator, and ways to ask."""

    folder: Path
    user_key: asyncssh.SSHKey
    bastion: SshHost
    cp01: SshHost
    cp02: SshHost
    base: Cluster
    relay: Relay | None = None
    raw: RawServer | None = None
    said: list[str] = field(default_factory=list)
    links: list[BastionLink] = field(default_factory=list)

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def key_file(self) -> Path:
        return self.folder / "id_ed25519"

    @property
    def bastion_name(self) -> str:
        """How known_hosts files call the bastion."""
        return f"[127.0.0.1]:{self.door}"

    @property
    def door(self) -> int:
        """The port that the inventory names for the bastion."""
        front = self.relay or self.raw or self.bastion
        return front.port

    def write_known_hosts(self, *extra: str) -> None:
        lines = [
            known_line(self.bastion_name, self.bastion.host_keys[0]),
            known_line("10.72.0.21", self.cp01.host_keys[0]),
            known_line("10.72.0.22", self.cp02.host_keys[0]),
            *extra,
        ]
        self.known_hosts.write_text("".join(lines))

    def write_key(self, passphrase: str | None = None, form: str = "openssh") -> None:
        self.key_file.write_bytes(self.user_key.export_private_key(form, passphrase, rounds=1))
        self.key_file.chmod(0o600)

    def behind_relay(self, relay: Relay) -> Relay:
        self.relay = relay.start()
        self.write_known_hosts()
        return relay

    def replaced_by(self, raw: RawServer) -> RawServer:
        self.raw = raw.start()
        self.write_known_hosts()
        return raw

    def cluster(self, *, key: Path | str | None = "file", **limits: float) -> Cluster:
        named = self.key_file if key == "file" else key
        assert not isinstance(named, str)
        return replace(
            self.base,
            limits=replace(LIMITS, **limits),  # type: ignore[arg-type]
            bastion=Bastion(
                BASTION,
                "127.0.0.1",
                self.door,
                USER,
                IPv4Address("10.72.0.10"),
                self.known_hosts,
                named,
            ),
        )

    def link(
        self,
        passphrase: Callable[[str], str] | None = None,
        learn: Callable[[str], None] | None = None,
        key: Path | str | None = "file",
        **limits: float,
    ) -> BastionLink:
        link = BastionLink(self.cluster(key=key, **limits), passphrase=passphrase, learn=learn)
        self.links.append(link)
        return link

    def asker(self, key: Path | str | None = "file", **limits: float) -> RemoteAsker:
        link = self.link(key=key, **limits)
        return RemoteAsker(link.cluster, link, progress=self.said.append)

    def ask(self, asker: RemoteAsker, command: str, host: str = "rke-cp01") -> Answer:
        request = HostCommand(host, command, asker.cluster.limits.command)
        return asker.ask([request])[request]

    def base_nodes(self, count: int) -> None:
        """Leave only the first nodes in the inventory."""
        self.base = replace(self.base, nodes=self.base.nodes[:count])

    def close(self) -> None:
        for link in self.links:
            link.close()
        for server in (self.bastion, self.cp01, self.cp02, self.relay, self.raw):
            if server is not None:
                server.stop()


@pytest.fixture(scope="session")
def wetopi() -> Cluster:
    return load(WETOPI)


@pytest.fixture
def site(tmp_path: Path, wetopi: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A working cluster; tests break it before or while they ask."""
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    user_key = new_key()
    accepted = [user_key.convert_to_public()]
    gauge = Gauge()
    bastion, *nodes = (SshHost([new_key()], accepted, gauge=gauge).start() for _ in range(3))
    bastion.forwards = {
        ("10.72.0.21", 22): nodes[0].port,
        ("10.72.0.22", 22): nodes[1].port,
    }
    site = Site(tmp_path, user_key, bastion, *nodes, base=wetopi)
    site.write_known_hosts()
    site.write_key()
    yield site
    site.close()


@pytest.fixture
def stand(site: Site) -> Iterator[Stand]:
    """The working cluster with an API behind its VIP."""
    stand = Stand(site)
    yield stand
    for api in stand.servers:
        BACKGROUND.call(api.server.close)


@pytest.fixture
def kube(site: Site) -> Iterator[KubeStand]:
    """The working cluster with a kubeconfig on its bastion."""
    stand = KubeStand(site)
    yield stand
    stand.close()
