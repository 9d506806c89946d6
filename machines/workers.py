"""The operator's part after the restore: what phase E leaves, the bastion's tools, the workers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final

from machines import cluster, plan, render
from machines.console import step
from machines.container import Container
from machines.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable

ADMIN_KUBECONFIG: Final = f"/home/{plan.SSH_USER}/secrets/rke2-admin-kubeconfig"
AGENT: Final = "rke2-agent.service"
_KUBE_PROXY: Final = "rke2-container@kube-proxy.service"
DNS_NAME: Final = "kubernetes.default.svc.cluster.local"

_MANIFESTS: Final = Path(__file__).parent / "manifests"
_VALUES: Final = {
    "dns": str(plan.DNS),
    "coredns": plan.COREDNS_VERSION,
    "cilium": plan.CILIUM_VERSION,
}
_SETTLE: Final = 120.0
_FIRST: Final = Container(plan.CONTROL_PLANES[0])
_USER: Final = 1000


def join(token: str) -> None:
    """Bring a cluster of healthy control planes to the end of phase D; agents join with `token`.

    Raises:
        LabError: something does not come up; the text has its journal.
    """
    with step("installing the objects of Cilium and of RKE2's charts"):
        for name in ("cilium", "rke2"):
            apply(name)
        provision_bastion()
    with step("starting kube-proxy anew on the control planes"):
        # One that has lived through outages of its API after a restore was seen to leave Services
        # without their endpoints; RKE2 starts its static pods anew with the server, the lab's
        # stand-in does not.
        for machine in plan.CONTROL_PLANES:
            Container(machine).do("systemctl", "restart", _KUBE_PROXY)
    with step("tainting the control planes"):
        names = [machine.name for machine in plan.CONTROL_PLANES]
        cluster.kubectl("taint", "nodes", *names, plan.CONTROL_PLANE_TAINT, "--overwrite")
    with step(f"joining {', '.join(machine.name for machine in plan.WORKERS)}"):
        for machine in plan.WORKERS:
            _start(Container(machine), token)
        for machine in plan.WORKERS:
            cluster.wait_active(Container(machine), AGENT)
    with step("waiting for Ready nodes, their pods and DNS"):
        _wait(_unready)
        _make_cilium_nodes()
        apply("workload")
        _wait(complaints)


def apply(name: str) -> None:
    """Apply a file of `machines/manifests`.

    Raises:
        LabError: the API refuses it.
    """
    text = Template((_MANIFESTS / f"{name}.yaml").read_text()).substitute(_VALUES)
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)


def spread_workload() -> None:
    """Let the workload's pods be made anew, so that every worker has some.

    Raises:
        LabError: one has none, or they do not become Ready.
    """
    of_workload = ("--namespace=machines-lab", "--output=json")
    cluster.kubectl(of_workload[0], "delete", "pods", "--all", limit=_SETTLE)
    _wait(complaints)
    pods = json.loads(cluster.kubectl("get", "pods", *of_workload))["items"]
    bare = {machine.name for machine in plan.WORKERS} - {pod["spec"]["nodeName"] for pod in pods}
    if bare:
        raise LabError(f"no pod of the workload came to {', '.join(sorted(bare))}")


def complaints() -> list[str]:
    """What is wrong with the joined workers and what runs on all nodes; empty when healthy."""
    found = []
    for machine in plan.WORKERS:
        state = cluster.unit_state(Container(machine), AGENT)
        if state != "active":
            found.append(f"{machine.name}: {AGENT} is {state}")
    try:
        found += [*_unready(), *_pods_unready()]
    except LabError as reason:
        return [*found, str(reason)]
    return found + unanswered()


def unanswered() -> list[str]:
    """The workers on which the cluster's DNS does not answer, each with a sentence."""
    asked = ["nslookup", "-timeout=2", "-retry=0", DNS_NAME, str(plan.DNS)]
    return [
        f"{machine.name}: {plan.DNS} does not tell {DNS_NAME}"
        for machine in plan.WORKERS
        # The whole line: the resolver's own address begins like the answer.
        if f"Address: {plan.API_SERVICE}" not in Container(machine).call(asked).stdout.splitlines()
    ]


def ready(name: str) -> str:
    """The status of a node's condition Ready; empty if it has none.

    Raises:
        LabError: the API does not answer.
    """
    return next((_ready(node) for node in _nodes() if node["metadata"]["name"] == name), "")


def provision_bastion() -> None:
    """Give the bastion kubectl and cp01's kubeconfig with the VIP in it (runbook, 0 item 9)."""
    bastion = Container(plan.BASTION)
    content = _FIRST.read(cluster.KUBECONFIG).replace(
        "https://127.0.0.1:", f"https://{plan.VIP.ip}:"
    )
    bastion.write(ADMIN_KUBECONFIG, content, mode=0o600, owner=_USER)
    home = f"/home/{plan.SSH_USER}"
    bastion.do("install", "-d", f"--owner={plan.SSH_USER}", "-m", "0755", f"{home}/bin")
    bastion.do("ln", "-sf", f"{cluster.DATA}/bin/kubectl", f"{home}/bin/kubectl")
    bastion.do("install", "-d", f"--owner={plan.SSH_USER}", "-m", "0700", f"{home}/secrets")


def _wait(complain: Callable[[], list[str]]) -> None:
    deadline = time.monotonic() + _SETTLE
    while found := complain():
        if time.monotonic() > deadline:
            raise LabError(f"after {_SETTLE:.0f} s: {'; '.join(found)}")
        time.sleep(1)


def _start(container: Container, token: str) -> None:
    container.write("/etc/rancher/rke2/config.yaml", render.agent_config(token), mode=0o600)
    (container.root / "etc/rancher/rke2").chmod(0o750)
    container.do("systemctl", "enable", "--now", "--no-block", AGENT)


def _nodes() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(cluster.kubectl("get", "nodes", "-o", "json"))["items"]
    return items


def _unready() -> list[str]:
    nodes = {node["metadata"]["name"]: node for node in _nodes()}
    found = []
    for machine in (*plan.CONTROL_PLANES, *plan.WORKERS):
        node = nodes.get(machine.name)
        if node is None:
            found.append(f"{machine.name} is not registered")
            continue
        taints = {_told(taint) for taint in node["spec"].get("taints", [])}
        wanted = {plan.CONTROL_PLANE_TAINT} if machine in plan.CONTROL_PLANES else set()
        if _ready(node) != "True" or taints != wanted:
            found.append(f"{machine.name}: Ready {_ready(node)!r}, taints {sorted(taints)}")
        label, _, value = plan.WORKER_LABEL.partition("=")
        if machine in plan.WORKERS and node["metadata"]["labels"].get(label) != value:
            found.append(f"{machine.name} has not the label {plan.WORKER_LABEL}")
    return found


def _ready(node: dict[str, Any]) -> str:
    conditions = node["status"].get("conditions", [])
    return next((one["status"] for one in conditions if one["type"] == "Ready"), "")


def _told(taint: dict[str, str]) -> str:
    return f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"


def _pods_unready() -> list[str]:
    pods = json.loads(cluster.kubectl("get", "pods", "--all-namespaces", "-o", "json"))["items"]
    found = []
    for pod in pods:
        statuses = pod["status"].get("containerStatuses", [])
        if not statuses or not all(one["ready"] for one in statuses):
            found.append(f"pod {pod['metadata']['name']} is not Ready")
    return found


def _make_cilium_nodes() -> None:
    """One for each node, with the share of the pods' network that the node has."""
    items = [
        {
            "apiVersion": "cilium.io/v2",
            "kind": "CiliumNode",
            "metadata": {"name": node["metadata"]["name"]},
            "spec": {"ipam": {"podCIDRs": node["spec"]["podCIDRs"]}},
        }
        for node in _nodes()
    ]
    listing = {"apiVersion": "v1", "kind": "List", "items": items}
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(listing))
