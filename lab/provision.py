"""The files each machine has: the base system, and what the runbook's roles put on it."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from typing import TYPE_CHECKING

from lab import configs, layout, operations
from lab.filesystem import Entry, Kind
from lab.phase import Phase
from lab.tools import PROGRAMS
from lab.tools.kernel import netstat

if TYPE_CHECKING:
    from lab.host import Host
    from lab.world import World

RKE2 = "/var/lib/rancher/rke2"
TLS = f"{RKE2}/server/tls"
CHECK_SCRIPT = "/etc/keepalived/check_rke2_api.sh"
KEEPALIVED_CONF = "/etc/keepalived/keepalived.conf"
CONFIG = "/etc/rancher/rke2/config.yaml"
KUBECONFIG = "/etc/rancher/rke2/rke2.yaml"
KUBECTL = f"{RKE2}/bin/kubectl"

_ACCOUNTS = """\
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
systemd-network:x:998:998:systemd Network Management:/:/usr/sbin/nologin
sshd:x:107:65534::/run/sshd:/usr/sbin/nologin
ubuntu:x:1000:1000:Ubuntu:/home/ubuntu:/bin/bash
"""
_MOUNTS = (
    "sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0",
    "proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0",
    "/dev/sda1 / ext4 rw,relatime,discard,errors=remount-ro 0 0",
    "tmpfs /run tmpfs rw,nosuid,nodev,size=3286124k,nr_inodes=819200,mode=755,inode64 0 0",
)
_OVERLAY = (
    "overlay /run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/etcd/rootfs overlay "
    "rw,relatime,lowerdir=/var/lib/rancher/rke2/agent/containerd/1/fs 0 0"
)
_OS_RELEASE = """\
PRETTY_NAME="Ubuntu 24.04.3 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.3 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
"""


def system(host: Host) -> None:
    """A fresh Ubuntu machine."""

    def boot_id() -> bytes:
        return f"{host.boot_id}\n".encode()

    files = host.files
    for program, path in PROGRAMS.items():
        files.binary(path, program)
    for link in ("/bin", "/sbin", "/lib"):
        files.put(link, Entry(Kind.LINK, 0o777, target="usr" + link))
    files.put("/usr/bin/sh", Entry(Kind.LINK, 0o777, target="dash"))
    files.put("/usr/bin/nc", Entry(Kind.LINK, 0o777, target="nc.openbsd"))
    files.put("/dev/null", Entry(Kind.DEVICE, 0o666))
    files.file("/proc/mounts", lambda: _mounts(host), 0o444)
    files.file("/etc/passwd", _ACCOUNTS.encode())
    files.file("/etc/group", b"root:x:0:\nsudo:x:27:ubuntu\nnogroup:x:65534:\nubuntu:x:1000:\n")
    files.file("/etc/hostname", f"{host.name}\n".encode())
    files.file("/etc/machine-id", f"{host.machine_id}\n".encode(), 0o444)
    files.file("/proc/sys/kernel/random/boot_id", boot_id, 0o444)
    files.file("/etc/os-release", _OS_RELEASE.encode())
    files.file("/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {host.name}\n".encode())
    files.folder("/root", 0o700)
    files.folder("/tmp", 0o1777)  # noqa: S108 a path on a host of the lab
    files.folder("/home/ubuntu", 0o750, "ubuntu")
    files.folder("/home/ubuntu/.ssh", 0o700, "ubuntu")
    files.file("/home/ubuntu/.bashrc", b"", owner="ubuntu")


def _mounts(host: Host) -> bytes:
    lines = list(_MOUNTS)
    if "containerd" in host.processes or "etcd" in host.processes:
        lines.append(_OVERLAY)
    return "".join(f"{line}\n" for line in [*lines, *host.mounts]).encode()


def hypervisors(world: World) -> None:
    """What a Proxmox node has beyond an Ubuntu machine, as far as it is asked."""
    for machine in world.layout.hypervisors:
        world.hosts[machine.name].files.binary("/usr/sbin/qm", "qm", size=115)


def counters(world: World) -> None:
    """What each machine's kernel counts."""
    for host in world.hosts.values():
        host.files.file("/proc/net/netstat", partial(netstat, world, host), 0o444)


def control_plane(world: World, host: Host, *, bootstrap: bool) -> None:
    """What the roles keepalived and rke2-server leave on a control plane."""
    _keepalived(world, host)
    _distribution(host)
    files = host.files
    files.folder("/etc/rancher/rke2", 0o750)
    files.file(CONFIG, configs.server(_token(world), bootstrap=bootstrap).encode(), 0o600)
    files.file(KUBECONFIG, lambda: kubeconfig(world), 0o600)
    files.file(f"{RKE2}/server/token", (_token(world) + "\n").encode(), 0o600)
    files.put(f"{RKE2}/server/node-token", Entry(Kind.LINK, 0o777, target=f"{RKE2}/server/token"))
    files.folder(f"{RKE2}/server", 0o700)
    files.folder(TLS, 0o700)
    pki = world.pki
    files.file(f"{TLS}/server-ca.crt", lambda: pki.server_ca.certificate)
    files.file(f"{TLS}/server-ca.key", lambda: pki.server_ca.key, 0o600)
    files.file(f"{TLS}/client-ca.crt", lambda: pki.client_ca.certificate)
    files.file(f"{TLS}/client-kube-apiserver.crt", lambda: pki.kube_apiserver().certificate)
    files.file(f"{TLS}/client-kube-apiserver.key", lambda: pki.kube_apiserver().key, 0o600)
    files.file(f"{TLS}/client-admin.crt", lambda: pki.admin().certificate)
    files.file(f"{TLS}/client-admin.key", lambda: pki.admin().key, 0o600)
    files.folder(f"{TLS}/etcd", 0o700)
    files.file(f"{TLS}/etcd/server-ca.crt", lambda: pki.etcd_ca.certificate)
    for name in ("client", "server-client", "peer-server-client"):
        _etcd_pair(world, host, name)
    files.folder(f"{RKE2}/server/db", 0o700)
    files.folder(f"{RKE2}/server/db/etcd", 0o700)
    files.folder(f"{RKE2}/server/db/snapshots", 0o700)


def _etcd_pair(world: World, host: Host, name: str) -> None:
    def certificate() -> bytes:
        return world.pki.etcd_client(name).certificate

    def key() -> bytes:
        return world.pki.etcd_client(name).key

    host.files.file(f"{TLS}/etcd/{name}.crt", certificate)
    host.files.file(f"{TLS}/etcd/{name}.key", key, 0o600)


def worker(world: World, host: Host) -> None:
    """What the role rke2-agent leaves on a worker."""
    _distribution(host)
    files = host.files
    files.folder("/etc/rancher/rke2", 0o750)
    files.file(CONFIG, configs.agent(_token(world)).encode(), 0o600)
    files.folder(f"{RKE2}/agent", 0o755)
    files.file(f"{RKE2}/agent/kubelet.kubeconfig", b"apiVersion: v1\nkind: Config\n", 0o600)


def bastion(world: World) -> None:
    """What ops01 has by that phase (runbook, 0 item 9 and phase E)."""
    files = world.bastion.files
    if not world.phase.reached(Phase.E):
        return
    files.folder("/home/ubuntu/secrets", 0o700, "ubuntu")
    files.file(
        "/home/ubuntu/secrets/rke2-admin-kubeconfig",
        lambda: kubeconfig(world, f"https://{layout.VIP}:6443"),
        0o600,
        "ubuntu",
    )
    operations.provision(world)


def kubeconfig(world: World, server: str = "https://127.0.0.1:6443") -> bytes:
    """The admin kubeconfig as RKE2 writes it."""
    admin = world.pki.admin(expired=world.admin_expired)
    authority = world.pki.server_ca.certificate

    def data(pem: bytes) -> str:
        return b64encode(pem).decode()

    return configs.kubeconfig(
        server, data(authority), data(admin.certificate), data(admin.key)
    ).encode()


def join_secret(world: World) -> str:
    """What a joining node must know; the controller's token file holds just this."""
    return world.seed.hex("token", digits=32)


def _token(world: World) -> str:
    authority = world.seed.hex("token ca", digits=64)
    return f"K10{authority}::server:{join_secret(world)}"


def _keepalived(world: World, host: Host) -> None:
    files = host.files
    peers = [
        machine.address for machine in world.layout.control_planes if machine is not host.machine
    ]
    conf = configs.keepalived(host.machine, peers)
    files.file(KEEPALIVED_CONF, conf.encode())
    files.file(CHECK_SCRIPT, configs.CHECK_SCRIPT.encode(), 0o755)
    files.binary("/usr/sbin/keepalived", "keepalived")
    files.file("/usr/lib/systemd/system/keepalived.service", configs.KEEPALIVED_UNIT.encode())


def _distribution(host: Host) -> None:
    files = host.files
    files.binary(KUBECTL, "kubectl", size=58_720_256)
    for name in ("crictl", "ctr", "containerd", "kubelet"):
        files.binary(f"{RKE2}/bin/{name}", name)
    files.binary("/usr/local/bin/rke2", "rke2", size=104_857_600)
    files.binary("/usr/local/bin/rke2-killall.sh", "rke2-killall.sh", size=5_120)
    for part in ("server", "agent"):
        files.file(
            f"/usr/local/lib/systemd/system/rke2-{part}.service", configs.rke2_unit(part).encode()
        )
