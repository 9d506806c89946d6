"""The base image of every machine: Debian, bootstrapped once and kept in the cache."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from machines import dirs, plan
from machines.commands import run
from machines.console import step

if TYPE_CHECKING:
    from pathlib import Path

SUITE: Final = "bookworm"
PACKAGES: Final = (
    "bind9-dnsutils",
    "busybox",
    "ca-certificates",
    "curl",
    "dbus",
    "git",
    "iproute2",
    "iputils-arping",
    "iputils-ping",
    "iputils-tracepath",
    "keepalived",
    "less",
    "netcat-openbsd",
    "nftables",
    "openssl",
    "openssh-server",
    "procps",
    "python3",
    "python3-yaml",
    "sudo",
    "systemd",
    "systemd-sysv",
    "traceroute",
    "xxd",
)
MONITOR: Final = (
    "ceph-mon",
    *("libboost-iostreams1.74.0", "libboost-thread1.74.0", "libfmt9", "libibverbs1"),
    *("libleveldb1d", "libnl-route-3-200", "librados2", "librdmacm1", "libsnappy1v5"),
)
"""Ceph's monitor and the libraries it is linked with: unpacked only. Installed, it brings 60 more
packages, and units that would run on every machine."""

# A clone must never share an identity: no machine id, no host key. Timers would only steal time
# from the two cores that three control planes share.
_FINISH: Final = f"""
useradd --create-home --shell /bin/bash --uid 1000 {plan.SSH_USER}
passwd --lock root
printf '%s ALL=(ALL) NOPASSWD:ALL\\n' {plan.SSH_USER} > /etc/sudoers.d/90-{plan.SSH_USER}
chmod 0440 /etc/sudoers.d/90-{plan.SSH_USER}
cat > /etc/ssh/sshd_config.d/10-lab.conf <<'END'
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers {plan.SSH_USER}
HostKey /etc/ssh/ssh_host_ed25519_key
UseDNS no
PrintMotd no
END
systemctl disable keepalived.service nftables.service
systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \\
    e2scrub_reap.service fstrim.timer getty.target console-getty.service
systemctl set-default multi-user.target
mkdir -p /var/log/journal
apt-get update -qq
mkdir /tmp/monitor
cd /tmp/monitor
apt-get download -qq {" ".join(MONITOR)}
for package in *.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar --extract --keep-directory-symlink --directory=/
done
cd /
rm -rf /tmp/monitor
rm -f /etc/ssh/ssh_host_* /etc/machine-id /var/lib/dbus/machine-id /etc/hostname
apt-get clean
rm -rf /var/lib/apt/lists/*
"""


def key() -> str:
    """Changes whenever the recipe does."""
    recipe = repr((SUITE, PACKAGES, _FINISH))
    return hashlib.sha256(recipe.encode()).hexdigest()[:16]


def built() -> Path:
    """The folder in the cache that has, or will have, the root file system."""
    return dirs.cache() / f"image-{key()}"


def build() -> Path:
    """The base image's root folder, bootstrapped first if the cache has none.

    Raises:
        LabError: debootstrap or the finishing script failed; the text has their last lines.
    """
    target = built()
    if target.is_dir():
        return target
    with dirs.whole(target) as partial:
        partial.parent.mkdir(parents=True, exist_ok=True)
        with step(f"bootstrapping Debian {SUITE} with {len(PACKAGES)} packages"):
            run(
                [
                    "debootstrap",
                    "--variant=minbase",
                    f"--include={','.join(PACKAGES)}",
                    SUITE,
                    str(partial),
                ],
                limit=1200.0,
                contained=True,
            )
            run(["chroot", str(partial), "sh", "-eu"], stdin=_FINISH, limit=300.0, contained=True)
    return target
