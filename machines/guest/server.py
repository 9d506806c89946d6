"""`rke2 server`: brings this control plane up, says READY, and keeps it until it is stopped."""

from __future__ import annotations

import http.client
import secrets
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from . import (
    balancer,
    bootstrap,
    certificates,
    components,
    containers,
    encryption,
    etcd,
    journal,
    kubelet,
    snapshots,
    supervisor,
    unit,
)
from .api import ApiError, ApiServer
from .bound import Bound
from .node import Node
from .paths import RESET_FLAG
from .supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .api import Api
    from .config import Config
    from .etcd import Member
    from .supervisor import Routes

_FLAG_STAYS: Final = 11.0
_LABELS: Final = {
    "node-role.kubernetes.io/control-plane": "true",
    "node-role.kubernetes.io/etcd": "true",
}


def run(config: Config) -> int:
    """Serve until SIGTERM; the exit status. Containers go on without us, the kubelet does not."""
    unit.end_on_signals()
    journal.info(f"Starting rke2 server on {config.node_name} ({config.node_ip})")
    try:
        balancing = balancer.listen()
    except balancer.TakenError as taken:
        journal.fatal(f"Error: {taken}")
        return 1
    with balancing:
        return _serve(config)


def _serve(config: Config) -> int:
    api = ApiServer("127.0.0.1")
    Supervisor(config.token, routes(api, config)).start()
    try:
        member = etcd.prepare(
            config.node_name, config.node_ip, server=config.server, token=config.token
        )
    except etcd.DuplicateNameError:
        journal.error(
            'Shutdown request received: "etcd cluster join failed: duplicate node name found, '
            'please use a unique name for this node"'
        )
        return 1
    kubelet.configure("127.0.0.1", config.cluster_dns)
    pods = components.of_server(config)
    containers.write(pods[0], config.node_name)
    with unit.containers_kept():
        etcd.promote(member, server=config.server, token=config.token)
        journal.info(f"etcd member {member.name} is a voter")
        _keep_token_s_mark(config.token)
        for pod in pods[1:]:
            containers.write(pod, config.node_name)
        while not api.ready():
            time.sleep(unit.TICK / 4)
        journal.info("Kube API server is now running")
        return _serve_node(config, member, api)


def _serve_node(config: Config, member: Member, api: ApiServer) -> int:
    node, bound = Node(api, config), Bound(api, config)
    annotations = _annotations(config, member)
    unit.patiently("register the node", lambda: node.register(_LABELS, annotations))
    unit.patiently("let the kubelets list what they serve", lambda: kubelet.allow(api))
    process = kubelet.start(config)
    try:
        journal.ready()
        journal.info("rke2 is up and running")
        forget = threading.Timer(_FLAG_STAYS, RESET_FLAG.unlink, kwargs={"missing_ok": True})
        forget.daemon = True
        forget.start()
        return unit.watch(process, bound.keep, lambda: _refresh(node, member))
    finally:
        kubelet.stop()


def _annotations(config: Config, member: Member) -> dict[str, str]:
    return {
        "etcd.rke2.cattle.io/node-address": config.node_ip,
        "etcd.rke2.cattle.io/node-name": member.name,
        encryption.ANNOTATION: encryption.annotation(),
    }


def routes(api: Api, config: Config) -> Routes:
    """What the supervisor answers."""
    node = config.node_name
    networks = {"cluster-cidr": config.cluster_cidr, "service-cidr": config.service_cidr}
    return {
        ("GET", supervisor.NETWORKS): lambda _: networks,
        ("GET", supervisor.MEMBERS): lambda _: etcd.members(),
        ("GET", snapshots.PATH): lambda _: snapshots.listed(node),
        ("POST", snapshots.PATH): lambda body: _numbered(
            "etcd-snapshot", lambda: snapshots.save(node, body)
        ),
        ("GET", encryption.PATH): lambda _: _numbered(
            "secret-encrypt", lambda: encryption.status(api, node)
        ),
        **{
            ("POST", path): partial(certificates.issued, kind)
            for path, kind in certificates.PATHS.items()
        },
    }


def _numbered(kind: str, answer: Callable[[], object]) -> object:
    """The client is told only a number, the journal what it stands for."""
    try:
        return answer()
    except (ApiError, OSError, RuntimeError, http.client.HTTPException) as reason:
        number = f"{kind} error ID {secrets.randbelow(90000) + 10000}"
        journal.error(f"{number}: {reason}")
        raise RuntimeError(number) from None


def _keep_token_s_mark(token: str) -> None:
    while True:
        try:
            bootstrap.reconcile(token)
        except etcd.EtcdError as reason:
            journal.info(f"Failed to test etcd connection: {reason}")
            time.sleep(unit.TICK / 4)
        except bootstrap.WrongTokenError as wrong:
            journal.fatal(str(wrong))
            raise SystemExit(1) from None
        else:
            return


def _refresh(node: Node, member: Member) -> None:
    try:
        node.mirror()
        own = next((one for one in etcd.members() if one.get("name") == member.name), None)
        node.report_voter(voter=own is not None and not own.get("isLearner"))
    except (ApiError, etcd.EtcdError, OSError, http.client.HTTPException) as reason:
        journal.warning(f"Failed to update the node's state: {reason}")
