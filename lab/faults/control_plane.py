"""Faults of RKE2 on the control planes: API, supervisor, configuration, how far it is applied."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from lab import actions, build
from lab.faults.registry import FaultError, fault, host_of
from lab.provision import CONFIG
from lab.world import KEEPALIVED, SERVER, World

if TYPE_CHECKING:
    from lab.host import Host


@fault("applied-control-planes", "only so many control planes are applied; first in the list")
def applied(world: World, count: int) -> None:
    """A phase C that stopped half-way."""
    if not 0 <= count <= 3:
        raise FaultError(f"`count` is 0 to 3, not {count}")
    fresh = build.world(world.seed, world.layout, world.phase, count)
    for field in fields(World):
        setattr(world, field.name, getattr(fresh, field.name))


@fault("api-refused", "nothing listens on 6443 of the node")
def api_refused(world: World, node: str) -> None:
    """kube-apiserver is gone."""
    actions.stop_process(host_of(world, node), "kube-apiserver")


@fault("api-not-ready", "the node's API answers 500 with [-]etcd failed, and so do its kubectl")
def api_not_ready(world: World, node: str) -> None:
    """The API cannot reach its own etcd member."""
    actions.stop_process(host_of(world, node), "etcd")


@fault("api-hangs", "6443 of the node accepts connections and says nothing")
def api_hangs(world: World, node: str) -> None:
    """A frozen process."""
    host_of(world, node).api_hangs = True


@fault("api-certificate-names", "the node's API certificate is valid for these names only")
def certificate_names(world: World, node: str, names: list[str]) -> None:
    """A tls-san that was forgotten."""
    host_of(world, node).certificate_names = tuple(str(name) for name in names)


@fault("api-certificate-foreign", "the node's API certificate is of another authority")
def certificate_foreign(world: World, node: str) -> None:
    """Another cluster answers at this address."""
    host_of(world, node).certificate_foreign = True


@fault("admin-certificate-expired", "the admin certificate in every rke2.yaml has expired")
def admin_expired(world: World) -> None:
    """The API answers 401, as it does without a certificate."""
    world.admin_expired = True


@fault("supervisor-down", "nothing listens on 9345 of the node")
def supervisor_down(world: World, node: str) -> None:
    """The check script fails and the VIP moves."""
    actions.stop_process(host_of(world, node), "supervisor")


@fault("server-stopped", "`systemctl stop rke2-server` on the node: etcd and the API go on running")
def server_stopped(world: World, node: str) -> None:
    """KillMode=process (rke2#963)."""
    host = host_of(world, node)
    if SERVER in host.units:
        actions.stop_unit(world, host, SERVER)


@fault("server-disabled", "the unit rke2-server is disabled on the node, though it runs")
def server_disabled(world: World, node: str) -> None:
    """It will not come back after a reboot."""
    host = host_of(world, node)
    if SERVER in host.units:
        host.units[SERVER] = replace(host.units[SERVER], file_state="disabled")


@fault("keepalived-absent", "the unit keepalived is not known on the node")
def keepalived_absent(world: World, node: str) -> None:
    """The role keepalived was not applied."""
    host = host_of(world, node)
    host.units.pop(KEEPALIVED, None)
    host.files.remove("/etc/keepalived")
    host.vrrp = None


@fault("config-line", "a line of the node's config.yaml is replaced, added or, without text, gone")
def config_line(world: World, node: str, key: str, text: str = "") -> None:
    """`key` is where the line, with its list below, begins; `text` stands there instead."""
    host = host_of(world, node)
    if not _applied(host):
        return
    kept: list[str] = []
    skipping = False
    for line in host.files.read(CONFIG).decode().splitlines():
        skipping = line.startswith(f"{key}:") or (skipping and line.startswith((" ", "-")))
        if not skipping:
            kept.append(line)
    kept += text.splitlines()
    host.files.change(CONFIG, content=("\n".join(kept) + "\n").encode())


@fault("config-drop-in", "the node has a file in config.yaml.d with this text")
def config_drop_in(world: World, node: str, text: str, name: str = "50-local.yaml") -> None:
    """Later files beat config.yaml."""
    host = host_of(world, node)
    if _applied(host):
        host.files.file(f"{CONFIG}.d/{name}", text.encode(), 0o600)


@fault("config-folder-mode", "the folder /etc/rancher/rke2 has this mode")
def config_folder_mode(world: World, node: str, mode: str = "0755") -> None:
    """Others may look into it."""
    host = host_of(world, node)
    if _applied(host):
        host.files.change("/etc/rancher/rke2", mode=int(mode, 8))


@fault("config-missing", "config.yaml of the node is gone, while the unit is enabled and runs")
def config_missing(world: World, node: str) -> None:
    """Only the unit still says that the node is applied."""
    host_of(world, node).files.remove(CONFIG)


def _applied(host: Host) -> bool:
    return SERVER in host.units and host.units[SERVER].file_state == "enabled"
