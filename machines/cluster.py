"""The operator's part: applying keepalived and RKE2 to a control plane, and what is wrong there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from machines import plan, render
from machines.console import step
from machines.container import Container

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from machines.pki import ClusterPki
    from machines.plan import Machine

DATA: Final = "/var/lib/rancher/rke2"
KUBECONFIG: Final = "/etc/rancher/rke2/rke2.yaml"
ENCRYPTION: Final = f"{DATA}/server/cred/encryption-config.json"
SERVER: Final = "rke2-server.service"
_TLS: Final = f"{DATA}/server/tls"
READ: Final = {
    "/api/v1/namespaces/kube-system/pods/etcd-{name}": "kubernetes.io/config.mirror",
    "/api/v1/nodes/{name}": '"bootID"',
    "/api/v1/namespaces/kube-system": '"uid"',
    "/api/v1/namespaces/kube-system/secrets?limit=1": '"SecretList"',
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}": '"holderIdentity"',
}
"""What a healthy control plane's API reads: path → what is in the answer."""
_APPLY_LIMIT: Final = 180.0
_VIP_LIMIT: Final = 30.0


def apply(
    machines: Sequence[Machine], pki: ClusterPki, *, token: str, encryption_key: bytes
) -> None:
    """Apply the first control plane, then the others side by side; etcd admits one at a time.

    Raises:
        LabError: one does not come up; the text has its journal.
    """
    encryption = render.encryption_config(encryption_key)
    first, joining = machines[0], machines[1:]
    with step(f"applying keepalived and rke2-server to {first.name}"):
        _start(Container(first), pki, token, encryption)
        wait_active(Container(first), SERVER)
    wait_holder(first)
    if joining:
        with step(f"joining {' and '.join(machine.name for machine in joining)}"):
            for machine in joining:
                _start(Container(machine), pki, token, encryption)
            for machine in joining:
                wait_active(Container(machine), SERVER)


def wait_holder(machine: Machine) -> None:
    """Wait until exactly this control plane holds the VIP.

    Raises:
        LabError: it does not within 30 s; the text has its keepalived journal.
    """
    with step(f"waiting for {machine.name} to hold the VIP"):
        Container(machine).wait(
            f"VIP {plan.VIP.ip} held by it alone",
            lambda: holders() == [machine],
            limit=_VIP_LIMIT,
            journal_of="keepalived.service",
        )


def holders() -> list[Machine]:
    """The control planes that have the VIP on some interface."""
    found = []
    for machine in plan.CONTROL_PLANES:
        listing = Container(machine).call(["ip", "-j", "-4", "addr", "show"])
        addresses = [
            address.get("local")
            for link in json.loads(listing.stdout or "[]")
            for address in link.get("addr_info", [])
        ]
        if str(plan.VIP.ip) in addresses:
            found.append(machine)
    return found


def wait_active(container: Container, unit: str) -> None:
    """Wait until the unit is active.

    Raises:
        LabError: not within 180 s; the text has its journal.
    """
    container.wait(
        f"active {unit}",
        lambda: unit_state(container, unit) == "active",
        limit=_APPLY_LIMIT,
        journal_of=unit,
    )


def unit_state(container: Container, unit: str) -> str:
    """The unit's ActiveState, as systemd says it."""
    answer = container.call(["systemctl", "show", "--value", "-p", "ActiveState", unit])
    return answer.stdout.strip()


def complaints(machines: Sequence[Machine]) -> list[str]:
    """What is wrong with the machines and the applied control planes; empty when healthy."""
    found = [
        f"{machine.name} is not running"
        for machine in plan.MACHINES
        if not Container(machine).running
    ]
    if found:
        return found
    for machine in plan.MACHINES:
        container = Container(machine)
        units = ["ssh.service"]
        if machine in machines:
            units += ["keepalived.service", SERVER]
        for unit in units:
            state = unit_state(container, unit)
            if state != "active":
                found.append(f"{machine.name}: {unit} is {state}")
        if machine in machines:
            found += control_plane_complaints(container, len(machines))
    holding = [machine.name for machine in holders()]
    if holding != [machine.name for machine in machines[:1]]:
        found.append(f"the VIP is held by {', '.join(holding) or 'nobody'}")
    return found


def kubectl(*arguments: str, stdin: str | None = None, limit: float = 30.0) -> str:
    """Run kubectl on the first control plane, as the runbook does; stdout.

    Raises:
        LabError: it failed.
    """
    argv = [f"{DATA}/bin/kubectl", f"--kubeconfig={KUBECONFIG}", *arguments]
    return Container(plan.CONTROL_PLANES[0]).do(*argv, stdin=stdin, limit=limit)


def etcdctl(container: Container, *arguments: str, limit: float = 20.0) -> str:
    """Run etcdctl inside a control plane with its client certificate; stdout.

    Raises:
        LabError: it failed.
    """
    return container.do(
        "/usr/local/lib/machines-lab/bin/etcdctl",
        "--endpoints=https://127.0.0.1:2379",
        f"--cacert={_TLS}/etcd/server-ca.crt",
        f"--cert={_TLS}/etcd/client.crt",
        f"--key={_TLS}/etcd/client.key",
        *arguments,
        limit=limit,
    )


def control_plane_complaints(container: Container, voters: int) -> list[str]:
    """What is wrong with one of them; empty when healthy.

    Args:
        container: which one.
        voters: how many members etcd must have.

    Raises:
        LabError: its etcd does not tell its members.
    """
    name = container.machine.name
    ready = _ask_api(container, "/readyz")
    if ready.stdout != "ok":
        return [f"{name}: /readyz says {ready.stdout[:60]!r} (curl rc {ready.returncode})"]
    # An API server whose etcd was away says `ok` long before it reads objects again, and it has a
    # connection of its own for each kind: an exec reads a pod and its node.
    for path, mark in READ.items():
        seen = _ask_api(container, path.format(name=name))
        if mark not in seen.stdout:
            what = path.format(name=name)
            return [f"{name}: its API does not give {what} (curl rc {seen.returncode})"]
    members = json.loads(etcdctl(container, "member", "list", "-w", "json"))["members"]
    started = [one for one in members if one.get("name") and not one.get("isLearner")]
    if len(started) != voters or len(members) != voters:
        return [f"{name}: {len(members)} etcd members, {len(started)} of them started voters"]
    return []


def _ask_api(container: Container, path: str) -> subprocess.CompletedProcess[str]:
    return container.call(
        [
            *("curl", "-s", "--max-time", "5", "--cacert", f"{_TLS}/server-ca.crt"),
            *("--cert", f"{_TLS}/client-kube-apiserver.crt"),
            *("--key", f"{_TLS}/client-kube-apiserver.key"),
            f"https://127.0.0.1:{plan.API_PORT}{path}",
        ]
    )


def _start(container: Container, pki: ClusterPki, token: str, encryption: str) -> None:
    _write_keepalived(container)
    _write_rke2(container, pki, token, encryption)
    container.do("systemctl", "enable", "--now", "keepalived.service")
    container.do("systemctl", "enable", "--now", "--no-block", SERVER)


def _write_keepalived(container: Container) -> None:
    container.write("/etc/keepalived/keepalived.conf", render.keepalived(container.machine))
    container.write(render.CHECK_SCRIPT, render.check_script(), mode=0o755)


def _write_rke2(container: Container, pki: ClusterPki, token: str, encryption: str) -> None:
    machine = container.machine
    files = pki.files(machine)
    server_ca = files["server/tls/server-ca.crt"]
    admin = pki.admin()
    for path, content in files.items():
        mode = 0o600 if path.endswith(".key") else 0o644
        container.write(f"{DATA}/{path}", content, mode=mode)
    kubeconfigs = {
        "server/cred/controller.kubeconfig": "server/tls/client-controller",
        "server/cred/scheduler.kubeconfig": "server/tls/client-scheduler",
    }
    for path, stem in kubeconfigs.items():
        user = type(admin)(files[f"{stem}.crt"], files[f"{stem}.key"])
        container.write(f"{DATA}/{path}", render.kubeconfig(user, server_ca), mode=0o600)
    container.write(KUBECONFIG, render.kubeconfig(admin, server_ca), mode=0o600)
    container.write(ENCRYPTION, encryption, mode=0o600)
    container.write(f"{DATA}/server/token", render.node_token(server_ca, token), mode=0o600)
    container.write("/etc/rancher/rke2/config.yaml", render.rke2_config(machine, token), mode=0o600)
    for folder, mode in (
        ("/etc/rancher/rke2", 0o750),
        (f"{DATA}/server", 0o700),
        (_TLS, 0o700),
        (f"{_TLS}/etcd", 0o700),
        (f"{DATA}/server/cred", 0o700),
        (f"{DATA}/agent", 0o700),
    ):
        (container.root / folder.lstrip("/")).chmod(mode)
