"""The texts of the configuration files the runbook's roles render."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.layout import Machine

# Runbook, "keepalived design facts": the local API with certificates, and the supervisor's port.
CHECK_SCRIPT = """\
#!/bin/bash
TLS=/var/lib/rancher/rke2/server/tls
curl -sf --max-time 2 --cacert "$TLS/server-ca.crt" \\
  --cert "$TLS/client-kube-apiserver.crt" --key "$TLS/client-kube-apiserver.key" \\
  https://127.0.0.1:6443/readyz >/dev/null || exit 1
timeout 2 bash -c '</dev/tcp/127.0.0.1/9345' 2>/dev/null || exit 1
"""

KEEPALIVED_UNIT = """\
[Unit]
Description=Keepalive Daemon (LVS and VRRP)
After=network-online.target
ConditionFileNotEmpty=/etc/keepalived/keepalived.conf

[Service]
Type=notify
EnvironmentFile=-/etc/default/keepalived
ExecStart=/usr/sbin/keepalived --dont-fork $DAEMON_ARGS
ExecReload=/bin/kill -HUP $MAINPID

[Install]
WantedBy=multi-user.target
"""


def keepalived(
    machine: Machine,
    peers: Sequence[str],
    *,
    priority: int | None = None,
    vrid: int = 51,
    interface: str = "eth0",
    prefix: int = layout.VIP_PREFIX,
    advert_int: int = 1,
    source: str | None = None,
    interval: int = 2,
    fall: int = 3,
    rise: int = 2,
    weight: int | None = None,
    script_user: str | None = "root",
    nopreempt: bool = False,
) -> str:
    """keepalived.conf of one control plane; the defaults are the runbook's design."""
    user = f"    script_user {script_user}\n" if script_user else ""
    weighted = f"    weight {weight}\n" if weight is not None else ""
    stays = "    nopreempt\n" if nopreempt else ""
    peer_lines = "".join(f"        {peer}\n" for peer in peers)
    return f"""\
# Managed by Ansible
global_defs {{
    router_id {machine.name}
{user}    enable_script_security
}}

vrrp_script check_rke2_api {{
    script "/etc/keepalived/check_rke2_api.sh"
    interval {interval}
    fall {fall}
    rise {rise}
{weighted}}}

vrrp_instance VI_1 {{
    state BACKUP
    interface {interface}
    virtual_router_id {vrid}
    priority {machine.priority if priority is None else priority}
    advert_int {advert_int}
{stays}    unicast_src_ip {source or machine.address}
    unicast_peer {{
{peer_lines}    }}
    virtual_ipaddress {{
        {layout.VIP}/{prefix}
    }}
    track_script {{
        check_rke2_api
    }}
}}
"""


def server(token: str, *, bootstrap: bool) -> str:
    """/etc/rancher/rke2/config.yaml of a control plane; the first one has no `server:`."""
    join = "" if bootstrap else f"server: https://{layout.VIP}:9345\n"
    names = "".join(f"  - {name}\n" for name in layout.TLS_SAN)
    return f"""\
# Managed by Ansible
token: {token}
{join}tls-san:
{names}cluster-cidr: {layout.PODS}
service-cidr: {layout.SERVICES}
cni: none
"""


def agent(token: str) -> str:
    """/etc/rancher/rke2/config.yaml of a worker."""
    return f"""\
# Managed by Ansible
token: {token}
server: https://{layout.VIP}:9345
node-label:
  - wetopi.io/role=platform
"""


def kubeconfig(server_url: str, authority: str, certificate: str, key: str) -> str:
    """An admin kubeconfig; the three arguments after the URL are base64 data."""
    return f"""\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: {authority}
    server: {server_url}
  name: default
contexts:
- context:
    cluster: default
    user: default
  name: default
current-context: default
kind: Config
users:
- name: default
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
"""


def rke2_unit(part: str) -> str:
    """The systemd unit of `server` or `agent`."""
    return f"""\
[Unit]
Description=Rancher Kubernetes Engine v2 ({part})
Documentation=https://github.com/rancher/rke2#readme
Wants=network-online.target
After=network-online.target

[Install]
WantedBy=multi-user.target

[Service]
Type=notify
EnvironmentFile=-/etc/default/%N
EnvironmentFile=-/etc/sysconfig/%N
EnvironmentFile=-/usr/local/lib/systemd/system/%N.env
KillMode=process
Delegate=yes
LimitNOFILE=1048576
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s
ExecStart=/usr/local/bin/rke2 {part}
"""
