"""etcdctl 3.6.14, as it runs inside the etcd pod (captures: etcd-3.6.14.out)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.tools import etcd_answers, etcd_values
from lab.tools.call import UsageError, split
from lab.tools.etcd_answers import TIMED_OUT
from lab.tools.pods import not_found_container

if TYPE_CHECKING:
    from lab.etcd import EtcdCluster, Member
    from lab.objects import Object
    from lab.tools.call import Call

_TLS = "/var/lib/rancher/rke2/server/tls/etcd"
# What RKE2's static pod mounts; client.crt is on the host but not in the container (handbook 3.2).
_MOUNTED = frozenset(
    f"{_TLS}/{name}"
    for name in (
        "server-ca.crt",
        "server-client.crt",
        "server-client.key",
        "peer-ca.crt",
        "peer-server-client.crt",
        "peer-server-client.key",
    )
)


@dataclass(frozen=True, slots=True)
class _Asked:
    words: list[str]
    endpoint: str
    form: str
    everyone: bool
    serializable: bool
    hexadecimal: bool


async def in_pod(call: Call, _pod: Object) -> int:
    """The same in the etcd pod of the host, if that runs."""
    if "etcd" not in call.host.processes:
        raise not_found_container("etcd")
    return await etcdctl(call)


async def etcdctl(call: Call) -> int:
    """`member list`, `endpoint health`, `endpoint status`, `get`."""
    options = split(
        call.arguments,
        flags=("--cluster", "--hex", "--debug", "--print-value-only"),
        valued=(
            "--endpoints",
            "--cacert",
            "--cert",
            "--key",
            "-w",
            "--write-out",
            "--command-timeout",
            "--dial-timeout",
            "--consistency",
        ),
        refuse="Error: unknown flag: {flag}",
        name="etcdctl",
        clustered=False,
    )
    for flag in ("--cert", "--key", "--cacert"):
        path = options.get(flag)
        if path is not None and path not in _MOUNTED:
            call.complain(f"Error: open {path}: no such file or directory")
            return 128
    form = options.get("-w", "--write-out") or "simple"
    if form not in ("simple", "json"):
        raise UsageError(f"Error: unknown output format: {form}", 4)
    asked = _Asked(
        options.rest,
        options.get("--endpoints") or "127.0.0.1:2379",
        form,
        "--cluster" in options,
        options.get("--consistency") == "s",
        "--hex" in options,
    )
    cluster = call.world.cluster_of(call.host)
    if "etcd" not in call.host.processes or cluster is None:
        return _refused(call, asked)
    own = next(member for member in cluster.members if member.node == call.host.name)
    if asked.words == ["member", "list"]:
        return _member_list(call, asked, cluster, own)
    if asked.words == ["endpoint", "health"]:
        return _health(call, asked, cluster, own)
    if asked.words == ["endpoint", "status"]:
        return _status(call, asked, cluster, own)
    if asked.words[:1] == ["get"] and len(asked.words) == 2:
        return _get(call, asked, cluster, alone="--print-value-only" in options)
    raise UsageError(
        f'Error: unknown command "{" ".join(asked.words)}" for "etcdctl"\n'
        "Run 'etcdctl --help' for usage."
    )


def _noise(call: Call, method: str, error: str) -> None:
    line = {
        "level": "warn",
        "ts": f"{call.world.now(call.host):%Y-%m-%dT%H:%M:%S.%fZ}",
        "logger": "etcd-client",
        "caller": "v3@v3.6.14/retry_interceptor.go:68",
        "msg": "retrying of unary invoker failed",
        "target": "etcd-endpoints://0x9aad2170780/127.0.0.1:2379",
        "method": f"/etcdserverpb.{method}",
        "attempt": 0,
        "error": f"rpc error: code = DeadlineExceeded desc = {error}",
    }
    call.complain(json.dumps(line, separators=(",", ":")))


def _refused(call: Call, asked: _Asked) -> int:
    address = re.sub(r"^https?://", "", asked.endpoint)
    _noise(
        call,
        "Cluster/MemberList",
        'latest balancer error: connection error: desc = "transport: Error while dialing: dial tcp '
        f'{address}: connect: connection refused"',
    )
    call.complain(f"Error: {TIMED_OUT}")
    return 1


def _member_list(call: Call, asked: _Asked, cluster: EtcdCluster, own: Member) -> int:
    if not cluster.quorum and not asked.serializable:
        _noise(call, "Cluster/MemberList", TIMED_OUT)
        call.complain(f"Error: {TIMED_OUT}")
        return 1
    if asked.form == "json":
        call.say(_compact(etcd_answers.listed(cluster, own, hexadecimal=asked.hexadecimal)))
        return 0
    for member in cluster.members:
        call.say(etcd_answers.row(member))
    return 0


def _endpoints(cluster: EtcdCluster, own: Member, asked: _Asked) -> list[tuple[str, Member]]:
    if not asked.everyone:
        return [(asked.endpoint, own)]
    # Members that never started have no client URL and are silently left out.
    return [(member.client_url, member) for member in cluster.members if member.started]


def _health(call: Call, asked: _Asked, cluster: EtcdCluster, own: Member) -> int:
    if asked.everyone and not cluster.quorum:
        _noise(call, "Cluster/MemberList", TIMED_OUT)
        call.complain(
            "Error: failed to fetch endpoints from etcd cluster member list: " + TIMED_OUT
        )
        return 1
    rows: list[dict[str, object]] = []
    for endpoint, member in _endpoints(cluster, own, asked):
        problem = etcd_answers.problem(cluster, member)
        took = f"{2.1 + member.id % 900 / 1000:.6f}ms" if problem is None else "5.000758050s"
        rows.append({"endpoint": endpoint, "health": problem is None, "took": took})
        if problem:
            rows[-1]["error"] = problem
            if problem == TIMED_OUT:
                _noise(call, "KV/Range", TIMED_OUT)
    bad = [row for row in rows if not row["health"]]
    if asked.form == "json":
        call.say(_compact(rows))
    else:
        for row in rows:
            if row["health"]:
                call.say(
                    f"{row['endpoint']} is healthy: successfully committed proposal: "
                    f"took = {row['took']}"
                )
            else:
                call.complain(
                    f"{row['endpoint']} is unhealthy: failed to commit proposal: {row['error']}"
                )
    if bad:
        call.complain("Error: unhealthy cluster")
    return 1 if bad else 0


def _status(call: Call, asked: _Asked, cluster: EtcdCluster, own: Member) -> int:
    documents: list[dict[str, object]] = []
    failed = False
    for endpoint, member in _endpoints(cluster, own, asked):
        if member.node not in cluster.alive:
            failed = True
            _noise(call, "Maintenance/Status", TIMED_OUT)
            call.complain(f"Failed to get the status of endpoint {endpoint} ({TIMED_OUT})")
            continue
        documents.append({"Endpoint": endpoint, "Status": etcd_answers.status(cluster, member)})
    if asked.form == "json":
        call.say(_compact(documents) if documents else "null")
    else:
        for document in documents:
            call.say(etcd_answers.status_line(cluster, document))
    return 1 if failed else 0


def _get(call: Call, asked: _Asked, cluster: EtcdCluster, *, alone: bool) -> int:
    if not cluster.quorum and not asked.serializable:
        _noise(call, "KV/Range", TIMED_OUT)
        call.complain(f"Error: {TIMED_OUT}")
        return 1
    return etcd_values.get(call, cluster, asked.words[1], asked.form, alone=alone)


def _compact(document: object) -> str:
    return json.dumps(document, separators=(",", ":"))
