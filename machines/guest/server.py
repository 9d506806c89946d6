"""`rke2 server`: brings this control plane up, says READY, and keeps it until it is stopped."""

from __future__ import annotations

import http.client
import signal
import threading
import time
from typing import TYPE_CHECKING, Final, NoReturn

from . import components, containers, etcd, journal, kubelet
from .api import ApiError, ApiServer
from .node import Node
from .supervisor import Supervisor

if TYPE_CHECKING:
    from types import FrameType

    from .config import Config
    from .etcd import Member

_TICK: Final = 2.0
_MIRROR_EVERY: Final = 5


def run(config: Config) -> int:
    """Serve until SIGTERM; the exit status. Containers go on without us, the kubelet does not."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    journal.info(f"Starting rke2 server on {config.node_name} ({config.node_ip})")
    Supervisor(config.token, etcd.members).start()
    member = etcd.prepare(
        config.node_name, config.node_ip, server=config.server, token=config.token
    )
    pods = components.of_server(config)
    containers.write(pods[0], config.node_name)
    stopping = threading.Event()
    keeper = threading.Thread(target=_keep_containers, args=(stopping,), daemon=True)
    keeper.start()
    try:
        etcd.promote(member, server=config.server, token=config.token)
        journal.info(f"etcd member {member.name} is a voter")
        for pod in pods[1:]:
            containers.write(pod, config.node_name)
        api = ApiServer("127.0.0.1")
        while not api.ready():
            time.sleep(_TICK / 4)
        journal.info("Kube API server is now running")
        node = Node(api, config)
        _register(node, member)
        process = kubelet.start(config)
        journal.ready()
        journal.info("rke2 is up and running")
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
