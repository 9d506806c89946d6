"""This node's etcd member: its configuration, joining as a learner, promotion."""

from __future__ import annotations

import http.client
import json
import secrets
import subprocess
import time
from dataclasses import dataclass
from typing import Any, Final

from . import journal, supervisor
from .paths import DATA, ETCD, PROGRAMS, TLS

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


def ctl(*arguments: str, endpoints: str = _LOCAL) -> dict[str, Any]:
    """Run etcdctl with the node's client certificate and decode its JSON.

    Raises:
        EtcdError: rc other than 0.
    """
    tls = TLS / "etcd"
    done = subprocess.run(
        [
            str(PROGRAMS / "etcdctl"),
            f"--endpoints={endpoints}",
            f"--cacert={tls}/server-ca.crt",
            f"--cert={tls}/client.crt",
            f"--key={tls}/client.key",
            "--command-timeout=2s",
            *arguments,
            "-w",
            "json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise EtcdError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no text")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def members() -> list[dict[str, Any]]:
    """The member list as the local member sees it (`name`, `ID`, `peerURLs`, `isLearner`…)."""
    listed: list[dict[str, Any]] = ctl("member", "list")["members"]
    return listed


def prepare(node: str, address: str, *, server: str | None, token: str) -> Member:
    """Write the member's configuration; a new member of an existing cluster is added first.

    With `server` None the first start makes a new cluster of one. Waits for `server` without
    limit, as RKE2 does.
    """
    known = ETCD / "name"
    if known.exists():
        member = Member(known.read_text().strip(), address)
        _configure(member, state="existing", initial=f"{member.name}={member.peer_url}")
        return member
    member = Member(f"{node}-{secrets.token_hex(4)}", address)
    others = [] if server is None else _join(member, server, token)
    initial = ",".join([*others, f"{member.name}={member.peer_url}"])
    _configure(member, state="existing" if others else "new", initial=initial)
    known.write_text(member.name)
    return member


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


def _join(member: Member, server: str, token: str) -> list[str]:
    while True:
        try:
            existing = supervisor.members_of(server, token)
            endpoints = _client_urls(existing)
            for entry in existing:
                if member.peer_url in entry["peerURLs"]:
                    ctl("member", "remove", f"{entry['ID']:x}", endpoints=endpoints)
            ctl(
                "member",
                "add",
                member.name,
                "--learner",
                f"--peer-urls={member.peer_url}",
                endpoints=endpoints,
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


def _configure(member: Member, *, state: str, initial: str) -> None:
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
    ETCD.mkdir(parents=True, exist_ok=True)
    for folder in (DATA / "server/db", ETCD):
        folder.chmod(0o700)
    # JSON is YAML; etcd reads its --config-file as YAML.
    config = ETCD / "config"
    config.write_text(json.dumps(values, indent=2) + "\n")
    config.chmod(0o600)
