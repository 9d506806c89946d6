"""`rke2 server`: brings this control plane up, says READY, and keeps it until it is stopped."""

from __future__ import annotations

import http.client
import secrets
import signal
import threading
import time
from typing import TYPE_CHECKING, Final, NoReturn

from . import (
    balancer,
    bootstrap,
    components,
    containers,
    encryption,
    etcd,
    journal,
    kubelet,
    snapshots,
    supervisor,
)
from .api import ApiError, ApiServer
from .node import Node
from .paths import RESET_FLAG
from .supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from .api import Api
    from .config import Config
    from .etcd import Member
    from .supervisor import Routes

_TICK: Final = 2.0
_MIRROR_EVERY: Final = 5
_FLAG_STAYS: Final = 11.0


def run(config: Config) -> int:
    """Serve until SIGTERM; the exit status. Containers go on without us, the kubelet does not."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
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
    Supervisor(config.token, routes(api, config.node_name)).start()
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
    pods = components.of_server(config)
    containers.write(pods[0], config.node_name)
    stopping = threading.Event()
    keeper = threading.Thread(target=_keep_containers, args=(stopping,), daemon=True)
    keeper.start()
    try:
        etcd.promote(member, server=config.server, token=config.token)
        journal.info(f"etcd member {member.name} is a voter")
        _keep_token_s_mark(config.token)
        for pod in pods[1:]:
            containers.write(pod, config.node_name)
        while not api.ready():
            time.sleep(_TICK / 4)
        journal.info("Kube API server is now running")
        node = Node(api, config)
        _register(node, member)
        process = kubelet.start(config)
        journal.ready()
        journal.info("rke2 is up and running")
        forget = threading.Timer(_FLAG_STAYS, RESET_FLAG.unlink, kwargs={"missing_ok": True})
        forget.daemon = True
        forget.start()
        rounds = 0
        while process.poll() is None:
            if rounds % _MIRROR_EVERY == 0:
                _refresh(node, member)
            rounds += 1
            time.sleep(_TICK)
        journal.fatal(f"Kubelet exited with status {process.returncode}")
    finally:
        stopping.set()
        kubelet.stop()
    return 1


def routes(api: Api, node: str) -> Routes:
    """What the supervisor answers."""
    return {
        ("GET", supervisor.MEMBERS): lambda _: etcd.members(),
        ("GET", snapshots.PATH): lambda _: snapshots.listed(node),
        ("POST", snapshots.PATH): lambda body: _numbered(
            "etcd-snapshot", lambda: snapshots.save(node, body)
        ),
        ("GET", encryption.PATH): lambda _: _numbered(
            "secret-encrypt", lambda: encryption.status(api, node)
        ),
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
            time.sleep(_TICK / 4)
        except bootstrap.WrongTokenError as wrong:
            journal.fatal(str(wrong))
            raise SystemExit(1) from None
        else:
            return


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    journal.info(f"Received signal {signal.Signals(number).name}, stopping the kubelet")
    raise SystemExit(0)


def _keep_containers(stopping: threading.Event) -> None:
    while True:
        containers.start_dead()
        if stopping.wait(_TICK):
            return


def _register(node: Node, member: Member) -> None:
    while True:
        try:
            node.register(member)
        except (ApiError, OSError, http.client.HTTPException) as reason:
            journal.info(f"Waiting to register the node: {reason}")
            time.sleep(_TICK / 2)
        else:
            return


def _refresh(node: Node, member: Member) -> None:
    try:
        node.mirror()
        own = next((one for one in etcd.members() if one.get("name") == member.name), None)
        node.report_voter(voter=own is not None and not own.get("isLearner"))
    except (ApiError, etcd.EtcdError, OSError, http.client.HTTPException) as reason:
        journal.warning(f"Failed to update the node's state: {reason}")
