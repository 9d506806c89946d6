"""Faults of keepalived's configuration and check script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab import configs
from lab.faults.registry import FaultError, fault, host_of
from lab.host import Vrrp
from lab.provision import CHECK_SCRIPT, KEEPALIVED_CONF

if TYPE_CHECKING:
    from lab.host import Host
    from lab.world import World

_ANONYMOUS = """\
#!/bin/bash
curl -sfk --max-time 2 https://127.0.0.1:6443/readyz >/dev/null || exit 1
timeout 2 bash -c '</dev/tcp/127.0.0.1/9345' 2>/dev/null || exit 1
"""
_ALWAYS_WELL = "#!/bin/bash\nexit 0\n"
_NO_SUPERVISOR = (
    "\n".join(line for line in configs.CHECK_SCRIPT.splitlines() if "9345" not in line) + "\n"
)


def _render(world: World, host: Host, **changes: Any) -> None:
    if host.vrrp is None:
        return
    peers = changes.pop("peers", None) or [
        machine.address for machine in world.layout.control_planes if machine is not host.machine
    ]
    text = configs.keepalived(host.machine, peers, **changes)
    host.files.change(KEEPALIVED_CONF, content=text.encode())


@fault("keepalived-vrid", "the node uses another virtual router id")
def vrid(world: World, node: str, vrid: int = 52) -> None:
    """Two groups that do not hear each other."""
    _render(world, host_of(world, node), vrid=vrid)


@fault("keepalived-priority", "the node has another priority than the design's")
def priority(world: World, node: str, priority: int) -> None:
    """The order of succession is another one."""
    host = host_of(world, node)
    _render(world, host, priority=priority)
    if host.vrrp:
        host.vrrp = Vrrp(priority)


@fault("keepalived-nopreempt", "`nopreempt` is set on the node")
def nopreempt(world: World, node: str) -> None:
    """The highest priority would not take the VIP back."""
    _render(world, host_of(world, node), nopreempt=True)


@fault("keepalived-weight", "the node's check script has a weight, so a failure is no fault state")
def weight(world: World, node: str, weight: int = -5) -> None:
    """A failing script lowers the priority instead of giving the VIP away."""
    host = host_of(world, node)
    _render(world, host, weight=weight)
    if host.vrrp:
        host.vrrp = Vrrp(host.vrrp.priority, weight)


@fault(
    "priority-chain",
    "the node's API is refused, but the script's weight only lowers its priority: it keeps the VIP",
)
def priority_chain(world: World, node: str, weight: int = -5) -> None:
    """150 becomes 145, still above 100 (ansible-role-rke2#60)."""
    host = host_of(world, node)
    _render(world, host, weight=weight)
    if host.vrrp:
        host.vrrp = Vrrp(host.vrrp.priority, weight)
    host.processes.discard("kube-apiserver")


@fault("keepalived-peers", "the node lists these unicast peers instead of the two others")
def peers(world: World, node: str, peers: list[str]) -> None:
    """A missing peer never hears the node's advertisements."""
    _render(world, host_of(world, node), peers=[str(peer) for peer in peers])


@fault("keepalived-timing", "the check script has another interval, fall or rise on the node")
def timing(world: World, node: str, interval: int = 2, fall: int = 3, rise: int = 2) -> None:
    """The failover takes another time than the runbook promises."""
    _render(world, host_of(world, node), interval=interval, fall=fall, rise=rise)


@fault("keepalived-interface", "the node announces on another interface")
def interface(world: World, node: str, interface: str = "eth1") -> None:
    """The VIP would be on the wrong network."""
    _render(world, host_of(world, node), interface=interface)


@fault("keepalived-vip-prefix", "the node's configuration gives the VIP another prefix length")
def vip_prefix(world: World, node: str, prefix: int = 32) -> None:
    """/32 instead of the LAN's /23."""
    _render(world, host_of(world, node), prefix=prefix)


@fault("keepalived-source", "the node sends its advertisements from another address")
def source(world: World, node: str, address: str = "10.72.0.99") -> None:
    """Peers drop advertisements of an address they do not know."""
    _render(world, host_of(world, node), source=address)


@fault("keepalived-included", "the instance stands in an included file, all as designed")
def included(world: World, node: str, folder: str = "/etc/keepalived/conf.d") -> None:
    """`include conf.d/*.conf`: a reader of the main file alone finds nothing."""
    host = host_of(world, node)
    if host.vrrp is None:
        return
    text = host.files.read(KEEPALIVED_CONF).decode()
    at = text.index("vrrp_instance")
    host.files.file(f"{folder}/vi_1.conf", text[at:].encode())
    host.files.change(KEEPALIVED_CONF, content=f"{text[:at]}include {folder}/*.conf\n".encode())


@fault(
    "keepalived-no-script-user", "no script_user is configured: keepalived_script is the default"
)
def no_script_user(world: World, node: str, exists: bool = True) -> None:
    """The default user cannot read the API server's key."""
    host = host_of(world, node)
    _render(world, host, script_user=None)
    if host.vrrp and exists:
        accounts = host.files.read("/etc/passwd")
        line = b"keepalived_script:x:997:997::/nonexistent:/usr/sbin/nologin\n"
        host.files.file("/etc/passwd", accounts + line)


@fault("keepalived-script-user", "the check script runs as this user")
def script_user(world: World, node: str, user: str = "nobody") -> None:
    """A user without access to the key makes every check fail."""
    _render(world, host_of(world, node), script_user=user)


@fault("check-script-mode", "the check script has this mode (0644 cannot run, 0757 all may change)")
def script_mode(world: World, node: str, mode: str = "0644") -> None:
    """An unsafe or a useless script."""
    host = host_of(world, node)
    if host.vrrp:
        host.files.change(CHECK_SCRIPT, mode=int(mode, 8))


@fault("check-script-owner", "the check script belongs to this user")
def script_owner(world: World, node: str, owner: str = "ubuntu") -> None:
    """Whoever owns it can change what root runs."""
    host = host_of(world, node)
    if host.vrrp:
        host.files.change(CHECK_SCRIPT, owner=owner, group=owner)


@fault(
    "check-script-content",
    "what the check script does: `anonymous` (no certificate), `always-well` (exit 0), "
    "`no-supervisor` (port 9345 is not probed)",
)
def script_content(world: World, node: str, content: str) -> None:
    """A script that cannot tell a healthy control plane."""
    texts = {
        "anonymous": _ANONYMOUS,
        "always-well": _ALWAYS_WELL,
        "no-supervisor": _NO_SUPERVISOR,
    }
    if content not in texts:
        raise FaultError(f"`content` is one of {', '.join(texts)}, not `{content}`")
    host = host_of(world, node)
    if host.vrrp:
        host.files.change(CHECK_SCRIPT, content=texts[content].encode())


@fault("check-script-missing", "the check script is not there")
def script_missing(world: World, node: str) -> None:
    """Keepalived ignores a script it cannot find."""
    host_of(world, node).files.remove(CHECK_SCRIPT)


@fault("keepalived-conf-missing", "keepalived.conf is not there")
def conf_missing(world: World, node: str) -> None:
    """Nothing to judge."""
    host_of(world, node).files.remove(KEEPALIVED_CONF)
