"""`rke2 agent`: joins this worker by its token, says READY, and keeps it until it is stopped."""

from __future__ import annotations

import http.client
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from . import certificates, components, containers, journal, kubelet, supervisor, unit
from .api import ApiServer
from .bound import Bound
from .node import Node
from .paths import AGENT

if TYPE_CHECKING:
    from .config import Config


def run(config: Config) -> int:
    """Serve until SIGTERM; the exit status. Containers go on without us, the kubelet does not."""
    unit.end_on_signals()
    if config.server is None:
        journal.fatal("Error: --server is required")
        return 1
    journal.info(f"Starting rke2 agent on {config.node_name} ({config.node_ip})")
    host = str(urlsplit(config.server).hostname)
    config = _join(config, config.server)
    kubelet.configure(host, config.cluster_dns)
    containers.write(components.kube_proxy(config), config.node_name)
    api = ApiServer(host, folder=AGENT, client="client-kubelet")
    node, bound = Node(api, config), Bound(api, config)
    with unit.containers_kept():
        unit.patiently("register the node", lambda: node.register(dict(config.node_labels), {}))
        process = kubelet.start(config)
        try:
            journal.ready()
            journal.info("rke2 agent is up and running")
            return unit.watch(process, bound.keep, lambda: _mirror(node))
        finally:
            kubelet.stop()


def _join(config: Config, server: str) -> Config:
    """As the real agent: it asks again for ever, and its unit stays `activating`."""
    while True:
        try:
            return certificates.fetch(config, server)
        except supervisor.RefusedError as refusal:
            reason = str(refusal)
            if refusal.status == http.client.UNAUTHORIZED:
                reason = f"token is not valid: {refusal}"
        except (OSError, http.client.HTTPException) as failure:
            reason = f"failed to get CA certs: {failure}"
        journal.error(f"Failed to validate connection to cluster at {server}: {reason}")
        time.sleep(unit.TICK)


def _mirror(node: Node) -> None:
    try:
        node.mirror()
    except unit.UNANSWERED as reason:
        journal.warning(f"Failed to update the node's state: {reason}")
