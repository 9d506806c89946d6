"""The named faults of the running lab: those of its control planes, and all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from machines import (
    ceph_faults,
    cluster,
    dirs,
    encryption_faults,
    lab,
    leg_faults,
    mounts,
    plan,
    precondition_faults,
    render,
    ssh_keys,
    worker_faults,
)
from machines.console import say
from machines.container import Container
from machines.errors import LabError
from machines.fault import Fault

if TYPE_CHECKING:
    from pathlib import Path

_SETTLE: Final = 90.0
_FIRST, _SECOND, _THIRD = (Container(machine) for machine in plan.CONTROL_PLANES)
_BASTION: Final = Container(plan.BASTION)
_ETCD: Final = "rke2-container@etcd.service"
_HOST_KEY: Final = "/etc/ssh/ssh_host_ed25519_key"
_LEARNER_URL: Final = f"https://{plan.WORKERS[0].address}:2380"
_KIB: Final = 1024


def find(name: str) -> Fault:
    """The fault of that name.

    Raises:
        LabError: there is none.
    """
    for fault in FAULTS:
        if fault.name == name:
            return fault
    raise LabError(f"no fault is called {name!r}; there are {', '.join(f.name for f in FAULTS)}")


def _kill_keepalived() -> None:
    # Frozen first: the child, told that its parent died, would tidy the address away.
    for signal in ("SIGSTOP", "SIGKILL"):
        _FIRST.do("systemctl", "kill", f"--signal={signal}", "keepalived.service")
    _FIRST.wait("second holder", lambda: len(cluster.holders()) > 1, limit=_SETTLE)


def _delete_vip() -> None:
    # A live keepalived puts a deleted address back within a second; its peers would take it.
    for container in (_FIRST, _SECOND, _THIRD):
        container.do("systemctl", "kill", "--signal=SIGSTOP", "keepalived.service")
    _FIRST.do("ip", "addr", "del", str(plan.VIP), "dev", "eth0")


def _restart_keepalived(_: str) -> None:
    for container in (_FIRST, _SECOND, _THIRD):
        container.call(["systemctl", "kill", "--signal=SIGKILL", "keepalived.service"])
        container.do("systemctl", "restart", "keepalived.service")
    cluster.wait_holder(plan.CONTROL_PLANES[0])


def _stop_etcd() -> None:
    # Masked as well: the node's own kubelet would start the container again in two seconds.
    _THIRD.do("systemctl", "mask", "--runtime", _ETCD)
    _THIRD.do("systemctl", "kill", "--signal=SIGKILL", _ETCD)
    # The kubelet clears the failure before it tries to start the container again.
    dead = {"failed", "inactive"}
    _THIRD.wait("dead etcd", lambda: cluster.unit_state(_THIRD, _ETCD) in dead, limit=_SETTLE)


def _start_etcd(_: str) -> None:
    _THIRD.do("systemctl", "unmask", "--runtime", _ETCD)
    _THIRD.wait(
        "healthy control planes",
        lambda: not cluster.complaints(plan.CONTROL_PLANES),
        limit=_SETTLE,
        journal_of="rke2-server.service",
    )


def _add_learner() -> None:
    cluster.etcdctl(_FIRST, "member", "add", "extra", "--learner", f"--peer-urls={_LEARNER_URL}")


def _remove_learner(_: str) -> None:
    listed = json.loads(cluster.etcdctl(_FIRST, "member", "list", "-w", "json"))["members"]
    for member in listed:
        if _LEARNER_URL in member["peerURLs"]:
            cluster.etcdctl(_FIRST, "member", "remove", f"{member['ID']:x}")


def _stop_sshd() -> None:
    _SECOND.do("systemctl", "stop", "ssh.service")


def _start_sshd(_: str) -> None:
    _SECOND.do("systemctl", "start", "ssh.service")


def _exhaust_ssh_limit() -> None:
    _BASTION.do("nft", "insert", "rule", "inet", "bastion", "new_ssh", "counter", "drop")


def _renew_ssh_limit(_: str) -> None:
    _BASTION.do("nft", "-f", "/etc/nftables.conf")


def _change_host_key() -> None:
    _install_host_key(ssh_keys.generate().private)


def _install_host_key(key: str) -> None:
    _SECOND.write(_HOST_KEY, key, mode=0o600)
    _SECOND.do("systemctl", "restart", "ssh.service")


def _expire_kubeconfig() -> None:
    expired = lab.Facts.load().client_authority.issue(
        "system:admin", groups=["system:masters"], expired=True
    )
    server_ca = _FIRST.read(f"{cluster.DATA}/server/tls/server-ca.crt")
    _install_kubeconfig(render.kubeconfig(expired, server_ca))


def _install_kubeconfig(content: str) -> None:
    _FIRST.write(cluster.KUBECONFIG, content, mode=0o600)


def tiny_disk() -> Path:
    """Where the faults of the controller's disk mount it."""
    return dirs.state() / "tiny-reports"


def _mount_tiny(size: int) -> None:
    mounts.mount_tiny(tiny_disk(), size)
    say(f"use it with --reports={tiny_disk()}")


def _unmount_tiny(_: str) -> None:
    mounts.unmount_below(tiny_disk())


FAULTS: Final = (
    Fault(
        "keepalived-killed",
        "keepalived killed with -9 on the holder: the address stays, a second node takes it too",
        _kill_keepalived,
        _restart_keepalived,
    ),
    Fault(
        "vip-deleted",
        "the VIP is deleted from its owner while every keepalived is frozen: nobody holds it",
        _delete_vip,
        _restart_keepalived,
    ),
    Fault(
        "etcd-member-stopped",
        f"etcd of {_THIRD.machine.name} is dead and stays so",
        _stop_etcd,
        _start_etcd,
    ),
    Fault(
        "etcd-learner",
        "a learner was added to the etcd cluster and never started",
        _add_learner,
        _remove_learner,
    ),
    Fault("sshd-stopped", f"{_SECOND.machine.name} refuses SSH", _stop_sshd, _start_sshd),
    Fault(
        "bastion-rate-limited",
        "the bastion's firewall drops every new SSH connection from the WAN",
        _exhaust_ssh_limit,
        _renew_ssh_limit,
    ),
    Fault(
        "host-key-changed",
        f"{_SECOND.machine.name} shows another host key than known_hosts has",
        _change_host_key,
        _install_host_key,
        lambda: _SECOND.read(_HOST_KEY),
    ),
    Fault(
        "kubeconfig-expired",
        f"the client certificate in {_FIRST.machine.name}'s rke2.yaml ended yesterday",
        _expire_kubeconfig,
        _install_kubeconfig,
        lambda: _FIRST.read(cluster.KUBECONFIG),
    ),
    Fault(
        "controller-disk-full",
        "the reports folder lies on a disk too small to begin with",
        lambda: _mount_tiny(256 * _KIB),
        _unmount_tiny,
    ),
    Fault(
        "controller-disk-fills",
        "the reports folder lies on a disk that is full in the middle of a run",
        lambda: _mount_tiny(352 * _KIB),
        _unmount_tiny,
    ),
    *precondition_faults.FAULTS,
    *encryption_faults.FAULTS,
    # Before those of the workers, of which some make a drill fail that phase F stands on.
    *leg_faults.FAULTS,
    *worker_faults.FAULTS,
    *ceph_faults.FAULTS,
)
