"""This node's etcd member: its configuration, joining as a learner, promotion."""

from __future__ import annotations

import http.client
import json
import secrets
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from . import journal, supervisor
from .paths import DATA, ETCD, PROGRAMS, TLS

if TYPE_CHECKING:
    from pathlib import Path

_LOCAL: Final = "https://127.0.0.1:2379"
_PAUSE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Member:
    """This node's member. `name` is `<node>-<8 hex>`, drawn once and kept in `db/etcd/name`."""

    name: str
    address: str

    @property
    def peer_url(self) -> str:
        """Where the other members reach it."""
        return f"https://{self.address}:2380"


class EtcdError(RuntimeError):
    """etcdctl said no; the text is its stderr."""


class DuplicateNameError(Exception):
    """A member of this node is in the cluster that it would join."""


def ctl(*arguments: str, endpoints: str = _LOCAL) -> dict[str, Any]:
    """Run etcdctl with the node's client certificate and decode its JSON.

    Raises:
        EtcdError: rc other than 0.
    """
    text = _etcdctl("--command-timeout=2s", *arguments, "-w", "json", endpoints=endpoints)
    answer: dict[str, Any] = json.loads(text)
    return answer


def snapshot(path: Path) -> None:
    """Save a snapshot of the local member to `path`.

    Raises:
        EtcdError: it was not saved.
    """
    _etcdctl("snapshot", "save", str(path))


def _etcdctl(*arguments: str, endpoints: str = _LOCAL) -> str:
    tls = TLS / "etcd"
    done = subprocess.run(
        [
            str(PROGRAMS / "etcdctl"),
            f"--endpoints={endpoints}",
            f"--cacert={tls}/server-ca.crt",
            f"--cert={tls}/client.crt",
            f"--key={tls}/client.key",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise EtcdError(said[-1].removeprefix("Error: ") if said else "no text")
    return done.stdout


def members() -> list[dict[str, Any]]:
    """The member list as the local member sees it (`name`, `ID`, `peerURLs`, `isLearner`…)."""
    listed: list[dict[str, Any]] = ctl("member", "list")["members"]
    return listed


def prepare(node: str, address: str, *, server: str | None, token: str) -> Member:
    """Write the member's configuration; a new member of an existing cluster is added first.

    With `server` None the first start makes a new cluster of one. Waits for `server` without
    limit, as RKE2 does.

    Raises:
        DuplicateNameError: the cluster has another member of this node.
    """
    known = ETCD / "name"
    if known.exists():
        member = Member(known.read_text().strip(), address)
        _configure(member, state="existing", initial=f"{member.name}={member.peer_url}")
        return member
    member = new_member(node, address)
    others = [] if server is None else _join(member, node, server, token)
    initial = ",".join([*others, f"{member.name}={member.peer_url}"])
    _configure(member, state="existing" if others else "new", initial=initial)
    known.write_text(member.name)
    return member


def new_member(node: str, address: str) -> Member:
    """A member of this node under a name it never had."""
    return Member(f"{node}-{secrets.token_hex(4)}", address)


def configure_reset(member: Member) -> None:
    """Configure the member that a cluster reset starts, and keep its new name."""
    _configure(member, state="existing", initial=f"{member.name}={member.peer_url}", resetting=True)
    (ETCD / "name").write_text(member.name)


def promote(member: Member, *, server: str | None, token: str) -> None:
    """Wait until the local member is a voter, promoting it once the leader finds it in sync.

    A learner answers no member list, so it is the supervisor at `server` that is asked.
    """
    while True:
        try:
            listed = members() if server is None else _listed_by_a_voter(server, token)
            own = next(entry for entry in listed if entry.get("name") == member.name)
            if not own.get("isLearner"):
                return
            voters = [entry for entry in listed if not entry.get("isLearner")]
            ctl("member", "promote", f"{own['ID']:x}", endpoints=_client_urls(voters))
            journal.info(f"Promoted etcd member {member.name}")
        except StopIteration:
            journal.info(f"Waiting for etcd member {member.name} to publish its name")
        except (OSError, http.client.HTTPException, RuntimeError) as reason:
            journal.info(f"Waiting for etcd: {reason}")
        time.sleep(_PAUSE)


def _listed_by_a_voter(server: str, token: str) -> list[dict[str, Any]]:
    try:
        return members()
    except EtcdError:
        return supervisor.members_of(server, token)


def _client_urls(listed: list[dict[str, Any]]) -> str:
    return ",".join(url for entry in listed for url in entry.get("clientURLs", []))


def _join(member: Member, node: str, server: str, token: str) -> list[str]:
    while True:
        try:
            existing = supervisor.members_of(server, token)
            if any(entry.get("name", "").rpartition("-")[0] == node for entry in existing):
                raise DuplicateNameError
            # One without a name at our address is ours: added, and never started.
            if not any(member.peer_url in entry["peerURLs"] for entry in existing):
                ctl(
                    "member",
                    "add",
                    member.name,
                    "--learner",
                    f"--peer-urls={member.peer_url}",
                    endpoints=_client_urls(existing),
                )
        except (OSError, http.client.HTTPException, RuntimeError) as reason:
            journal.info(f"Waiting to retrieve etcd members from {server}: {reason}")
            time.sleep(4 * _PAUSE)
        else:
            journal.info(f"Adding member {member.name} to etcd cluster {server}")
            return [
                f"{entry['name']}={entry['peerURLs'][0]}"
                for entry in existing
                if member.peer_url not in entry["peerURLs"]
            ]


def _configure(member: Member, *, state: str, initial: str, resetting: bool = False) -> None:
    tls = TLS / "etcd"
    loopback = "127.0.0.1"
    client_urls = f"https://{loopback}:2379,https://{member.address}:2379"
    peer_urls = f"https://{loopback}:2380,{member.peer_url}"
    values = {
        "name": member.name,
        "data-dir": str(ETCD),
        "listen-client-urls": client_urls,
        "advertise-client-urls": f"https://{member.address}:2379",
        "listen-peer-urls": peer_urls,
        "initial-advertise-peer-urls": member.peer_url,
        "listen-metrics-urls": f"http://{loopback}:2381",
        "initial-cluster": initial,
        "initial-cluster-state": state,
        "client-transport-security": {
            "cert-file": f"{tls}/server-client.crt",
            "key-file": f"{tls}/server-client.key",
            "client-cert-auth": True,
            "trusted-ca-file": f"{tls}/server-ca.crt",
        },
        "peer-transport-security": {
            "cert-file": f"{tls}/peer-server-client.crt",
            "key-file": f"{tls}/peer-server-client.key",
            "client-cert-auth": True,
            "trusted-ca-file": f"{tls}/peer-ca.crt",
        },
        "heartbeat-interval": 500,
        "election-timeout": 5000,
        "logger": "zap",
        "log-outputs": ["stderr"],
    }
    if resetting:
        values |= {
            "force-new-cluster": True,
            "listen-peer-urls": f"https://{loopback}:2380",
            "heartbeat-interval": 100,
            "election-timeout": 1000,
        }
    ETCD.mkdir(parents=True, exist_ok=True)
    for folder in (DATA / "server/db", ETCD):
        folder.chmod(0o700)
    # JSON is YAML; etcd reads its --config-file as YAML.
    config = ETCD / "config"
    config.write_text(json.dumps(values, indent=2) + "\n")
    config.chmod(0o600)
