"""How long one round trip really takes: a timer adds a little more than it is asked for."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

import paramiko

if TYPE_CHECKING:
    from bench.stand import Stand

_TIMES = 50


def round_trip(stand: Stand) -> float:
    """Median seconds of a request to the bastion that is one round trip and nothing else."""
    bastion = stand.cluster.bastion
    with paramiko.SSHClient() as client:
        client.load_host_keys(str(bastion.known_hosts))
        client.connect(
            bastion.address,
            bastion.port,
            bastion.user,
            key_filename=str(bastion.key),
            allow_agent=False,
            look_for_keys=False,
        )
        transport = client.get_transport()
        assert transport is not None
        samples = []
        for _ in range(_TIMES):
            started = time.perf_counter()
            transport.global_request("keepalive@openssh.com", wait=True)
            samples.append(time.perf_counter() - started)
    return median(samples)
