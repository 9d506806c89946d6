"""Faults of a lab whose workers have joined."""

from __future__ import annotations

import json
from typing import Final

from machines import cluster, plan, workers
from machines.container import Container
from machines.fault import Fault

_SETTLE: Final = 90.0
_REBOOTED, _SILENT = (Container(machine) for machine in plan.WORKERS[1:])
_COREDNS: Final = "rke2-container@coredns.service"
_UNTAINTED: Final = plan.CONTROL_PLANES[1].name
_UNLABELLED: Final = plan.WORKERS[1].name
_LABEL: Final = plan.WORKER_LABEL.partition("=")[0]
_FORBIDDING: Final = json.dumps({"spec": {"minAvailable": "100%"}})
_ALL: Final = tuple(Container(machine) for machine in (*plan.CONTROL_PLANES, *plan.WORKERS))


def _stop_agent() -> None:
    _SILENT.do("systemctl", "stop", workers.AGENT)
    name = _SILENT.machine.name
    # Only the controller-manager's own patience tells that a node is gone.
    _SILENT.wait("Unknown node", lambda: workers.ready(name) == "Unknown", limit=_SETTLE)


def _start_agent(_: str) -> None:
    _SILENT.do("systemctl", "start", workers.AGENT)


def _remove_label() -> None:
    cluster.kubectl("label", "node", _UNLABELLED, f"{_LABEL}-")


def _label(_: str) -> None:
    cluster.kubectl("label", "node", _UNLABELLED, plan.WORKER_LABEL, "--overwrite")


def _remove_taint() -> None:
    cluster.kubectl("taint", "node", _UNTAINTED, f"{plan.CONTROL_PLANE_TAINT}-")


def _taint(_: str) -> None:
    cluster.kubectl("taint", "node", _UNTAINTED, plan.CONTROL_PLANE_TAINT, "--overwrite")


def _stop_coredns() -> None:
    # On every node, or its kubelet would start the container again in two seconds.
    for container in _ALL:
        container.do("systemctl", "mask", "--runtime", _COREDNS)
        container.call(["systemctl", "kill", "--signal=SIGKILL", _COREDNS])
    _SILENT.wait("dead name service", lambda: bool(workers.unanswered()), limit=_SETTLE)


def _start_coredns(_: str) -> None:
    for container in _ALL:
        container.do("systemctl", "unmask", "--runtime", _COREDNS)


def _forbid_eviction() -> None:
    workers.spread_workload()
    budget = ("--namespace=machines-lab", "patch", "poddisruptionbudget", "shop")
    cluster.kubectl(*budget, "--type=merge", f"--patch={_FORBIDDING}")


def _allow_eviction(_: str) -> None:
    workers.apply("workload")


def _ignore_reboot() -> None:
    _REBOOTED.do("systemctl", "mask", "--runtime", "reboot.target")


def _heed_reboot(_: str) -> None:
    _REBOOTED.do("systemctl", "unmask", "--runtime", "reboot.target")


FAULTS: Final = (
    Fault(
        "label-removed",
        f"{_UNLABELLED} has lost the platform label",
        _remove_label,
        _label,
        phase=plan.Phase.D,
    ),
    Fault(
        "taint-removed",
        f"{_UNTAINTED} has lost the control planes' taint",
        _remove_taint,
        _taint,
        phase=plan.Phase.D,
    ),
    Fault(
        "coredns-stopped",
        "no CoreDNS runs; its pods are there and not Ready",
        _stop_coredns,
        _start_coredns,
        phase=plan.Phase.D,
    ),
    Fault(
        "reboot-ignored",
        f"{_REBOOTED.machine.name} is told to reboot and does not",
        _ignore_reboot,
        _heed_reboot,
        phase=plan.Phase.D,
    ),
    Fault(
        "eviction-forbidden",
        "a disruption budget forbids every eviction from rke-platform01",
        _forbid_eviction,
        _allow_eviction,
        phase=plan.Phase.D,
    ),
    Fault(
        "agent-stopped",
        f"rke2-agent of {_SILENT.machine.name} is stopped, its node Unknown",
        _stop_agent,
        _start_agent,
        phase=plan.Phase.D,
    ),
)
