"""The configuration files of the machines, as the playbooks of the runbook would write them."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Final

from machines import plan

if TYPE_CHECKING:
    from machines.pki import Pair
    from machines.plan import Machine

CHECK_SCRIPT: Final = "/etc/keepalived/check_rke2_api.sh"
_TLS: Final = "/var/lib/rancher/rke2/server/tls"
_NEW_SSH_PER_MINUTE: Final = 20


def keepalived(machine: Machine) -> str:
    """keepalived.conf of one control plane (runbook, phase B, "Keepalived design facts")."""
    others = [one for one in plan.CONTROL_PLANES if one != machine]
    peers = "\n".join(f"        {one.address}" for one in others)
    first = machine == plan.CONTROL_PLANES[0]
    return f"""global_defs {{
    router_id {machine.name}
    script_user root
    enable_script_security
}}

vrrp_script check_rke2_api {{
    script "{CHECK_SCRIPT}"
    interval 2
    fall 3
    rise 2
}}

vrrp_instance VI_1 {{
    state {"MASTER" if first else "BACKUP"}
    interface eth0
    virtual_router_id {plan.VRID}
    priority {machine.vip_priority}
    advert_int 1
    unicast_src_ip {machine.address}
    unicast_peer {{
{peers}
    }}
    virtual_ipaddress {{
        {plan.VIP}
    }}
    track_script {{
        check_rke2_api
    }}
}}
"""


def check_script() -> str:
    """The health check: the local API with certificates, then the supervisor's port."""
    return f"""#!/bin/bash
# Healthy only if this node's own API server is ready and its supervisor listens.
set -eu
curl -sf --max-time 3 --cacert {_TLS}/server-ca.crt \\
    --cert {_TLS}/client-kube-apiserver.crt --key {_TLS}/client-kube-apiserver.key \\
    https://127.0.0.1:{plan.API_PORT}/readyz > /dev/null
timeout 1 bash -c '< /dev/tcp/127.0.0.1/{plan.SUPERVISOR_PORT}'
"""


def rke2_config(machine: Machine, token: str) -> str:
    """config.yaml: `server:` only on the nodes that join (runbook, phase B)."""
    lines = [f"token: {token}"]
    if machine != plan.CONTROL_PLANES[0]:
        lines.append(f"server: https://{plan.VIP.ip}:{plan.SUPERVISOR_PORT}")
    lines += ["tls-san:", *(f"  - {address}" for address in plan.TLS_SAN)]
    lines += [f"cluster-cidr: {plan.PODS}", f"service-cidr: {plan.SERVICES}", "cni: none"]
    return "\n".join(lines) + "\n"


def agent_config(token: str) -> str:
    """config.yaml of a worker (runbook, phase D, play 3)."""
    return (
        f"server: https://{plan.VIP.ip}:{plan.SUPERVISOR_PORT}\ntoken: {token}\n"
        f"node-label:\n  - {plan.WORKER_LABEL}\n"
    )


def kubeconfig(user: Pair, server_ca: str) -> str:
    """A kubeconfig with everything inline, in the shape RKE2 writes rke2.yaml."""
    data = {
        "ca": server_ca,
        "certificate": user.certificate,
        "key": user.key,
    }
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in data.items()}
    return f"""apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: {encoded["ca"]}
    server: https://127.0.0.1:6443
  name: default
contexts:
- context:
    cluster: default
    user: default
  name: default
current-context: default
kind: Config
preferences: {{}}
users:
- name: default
  user:
    client-certificate-data: {encoded["certificate"]}
    client-key-data: {encoded["key"]}
"""


def encryption_config(key: bytes) -> str:
    """The encryption provider configuration that RKE2 generates: one AES-CBC key, then identity.

    `key` has 32 bytes.
    """
    secret = base64.b64encode(key).decode()
    providers = [
        {"aescbc": {"keys": [{"name": "aescbckey", "secret": secret}]}},
        {"identity": {}},
    ]
    return json.dumps(
        {
            "kind": "EncryptionConfiguration",
            "apiVersion": "apiserver.config.k8s.io/v1",
            "resources": [{"resources": ["secrets"], "providers": providers}],
        }
    )


def hosts(machine: Machine) -> str:
    """/etc/hosts: every machine by name, so that sudo never waits for a resolver."""
    entries = "".join(f"{one.address} {one.name}\n" for one in plan.MACHINES)
    return f"127.0.0.1 localhost\n127.0.1.1 {machine.name}\n{entries}"


def interfaces(machine: Machine) -> str:
    """The lines that the machine's network unit reads: created as, name, address, routes."""
    routes = {
        plan.Kind.CONTROL_PLANE: f" default@{plan.GATEWAY.address}",
        plan.Kind.WORKER: f" default@{plan.GATEWAY.address}",
        plan.Kind.MONITOR: f" {plan.NODE_LAN}@{plan.CEPH_GATEWAY.ip}",
    }
    lines = [f"host0 eth0 {machine.interface}{routes.get(machine.kind, '')}"]
    if machine in plan.ON_WAN:
        router = f" default@{plan.WAN_ROUTER.ip}" if machine == plan.GATEWAY else ""
        lines.append(f"wan0 eth1 {plan.ON_WAN[machine]}{router}")
    return "\n".join(lines) + "\n"


def bastion_firewall() -> str:
    """The bastion's own nftables: new SSH connections from the WAN are limited in number."""
    return f"""flush ruleset

table inet bastion {{
    chain input {{
        type filter hook input priority filter; policy accept;
        iifname "eth1" tcp dport 22 ct state new jump new_ssh
    }}
    chain new_ssh {{
        limit rate over {_NEW_SSH_PER_MINUTE}/minute burst {_NEW_SSH_PER_MINUTE} packets drop
        accept
    }}
}}
"""


def node_token(server_ca: str, token: str) -> str:
    """The full token: `K10<SHA-256 of the CA>::server:<token>`, as `server/token` holds it."""
    return f"K10{hashlib.sha256(server_ca.encode()).hexdigest()}::server:{token}\n"
