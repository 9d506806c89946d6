"""Literal commands and answers of a healthy cluster.

The commands are written out here, not taken from the observers: they are what the labs answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BASTION = "wetopi-ops01"
CPS = ("rke-cp01", "rke-cp02", "rke-cp03")
ADDRESSES = {"rke-cp01": "10.72.0.21", "rke-cp02": "10.72.0.22", "rke-cp03": "10.72.0.23"}
PRIORITIES = {"rke-cp01": 150, "rke-cp02": 100, "rke-cp03": 50}
SUFFIX = {"rke-cp01": "1a2b3c4d", "rke-cp02": "5e6f7081", "rke-cp03": "92a3b4c5"}
IDS = {
    "rke-cp01": 15985099378392235387,
    "rke-cp02": 11417610130673999598,
    "rke-cp03": 443629905751424238,
}
VIP = "10.72.0.20/23"
CLUSTER_ID = 8323808018354915591
UID = "7ec6b72e-c551-4d57-bdbb-09436e74ce5a"
CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

KUBECTL = "sudo -n /var/lib/rancher/rke2/bin/kubectl --kubeconfig /etc/rancher/rke2/rke2.yaml"
TLS = "/var/lib/rancher/rke2/server/tls"
ADDRS = "ip -j -4 addr show"
CURL = (
    f"sudo -n curl -s --max-time 5 --cacert {TLS}/server-ca.crt"
    f" --cert {TLS}/client-kube-apiserver.crt --key {TLS}/client-kube-apiserver.key"
    r" -w '\n%{http_code}' https://127.0.0.1:6443/readyz"
)
SHOW_SERVER = (
    "systemctl show -p Id,LoadState,ActiveState,SubState,UnitFileState rke2-server.service"
)
SHOW_KEEPALIVED = (
    "systemctl show -p Id,LoadState,ActiveState,SubState,Result,NRestarts,UnitFileState,"
    "ExecMainStartTimestamp keepalived.service"
)
FIND_CONFIG = "sudo -n find /etc/rancher/rke2 -maxdepth 1 -name config.yaml"
PING = "ping -c 3 -W 2 10.72.0.20"
GET_NODES = f"{KUBECTL} get nodes -o json"
GET_PODS = f"{KUBECTL} get pods -A -o json"
GET_NAMESPACE = f"{KUBECTL} get namespace kube-system -o json"
CAT_CA = f"sudo -n cat {TLS}/server-ca.crt"
CAT_CONF = "sudo -n cat /etc/keepalived/keepalived.conf"
CHECK = "/etc/keepalived/check_rke2_api.sh"
STAT_CHECK = f"sudo -n stat -L -c '%a %U %G %F' {CHECK}"
CAT_CHECK = f"sudo -n cat {CHECK}"
RUN_CHECK = f"sudo -n {CHECK}"
GETENT = "getent passwd keepalived_script"
STAT_RKE2 = "sudo -n stat -c '%a %U %G %F' /etc/rancher/rke2"
FIND_RKE2 = "sudo -n find /etc/rancher/rke2 -maxdepth 2 -name '*.y*ml'"
SED = (
    r"""sudo -n sed -E '/^[[:space:]]*["'"'"']?[[:alnum:]-]*"""
    r"""(token|secret|password|access-key|datastore-endpoint)[[:alnum:]-]*["'"'"']?[[:space:]]*:|"""
    r"""^[[:space:]]+["'"'"']?[[:alnum:]:]{16,}["'"'"']?[[:space:]]*$/d' """
)
CONFIG = "/etc/rancher/rke2/config.yaml"


def etcdctl(node: str, question: str) -> str:
    return (
        f"{KUBECTL} -n kube-system exec etcd-{node} -- etcdctl --endpoints=https://127.0.0.1:2379"
        f" --cacert={TLS}/etcd/server-ca.crt --cert={TLS}/etcd/server-client.crt"
        f" --key={TLS}/etcd/server-client.key {question} -w json"
    )


def member_list(node: str) -> str:
    return etcdctl(node, "member list")


def endpoint_health(node: str) -> str:
    return etcdctl(node, "endpoint health --cluster")


PING_OK = """PING 10.72.0.20 (10.72.0.20) 56(84) bytes of data.
64 bytes from 10.72.0.20: icmp_seq=1 ttl=64 time=0.378 ms

--- 10.72.0.20 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 2005ms
rtt min/avg/max/mdev = 0.048/0.158/0.378/0.155 ms
"""
NO_KUBECTL = "sudo: /var/lib/rancher/rke2/bin/kubectl: command not found\n"
ABSENT = "No such file or directory\n"


def member(node: str, **changes: Any) -> dict[str, Any]:
    row = {
        "ID": IDS[node],
        "name": f"{node}-{SUFFIX[node]}",
        "peerURLs": [f"https://{ADDRESSES[node]}:2380"],
        "clientURLs": [f"https://{ADDRESSES[node]}:2379"],
    }
    row |= changes
    return {key: value for key, value in row.items() if value is not None}


def listing(members: Iterable[Mapping[str, Any]], cluster_id: Any = CLUSTER_ID) -> str:
    header = {"cluster_id": cluster_id, "member_id": IDS["rke-cp01"], "raft_term": 2}
    return json.dumps({"header": header, "members": list(members)}) + "\n"


def health(nodes: Iterable[str], dead: Iterable[str] = ()) -> str:
    dead = set(dead)
    rows = [
        {"endpoint": f"https://{ADDRESSES[node]}:2379", "health": node not in dead, "took": "2ms"}
        | ({"error": "context deadline exceeded"} if node in dead else {})
        for node in nodes
    ]
    return json.dumps(rows) + "\n"


def unit(name: str, **changes: str) -> str:
    values = {
        "Id": name,
        "LoadState": "loaded",
        "ActiveState": "active",
        "SubState": "running",
        "UnitFileState": "enabled",
    } | changes
    return "".join(f"{key}={value}\n" for key, value in values.items())


NO_UNIT = {
    "LoadState": "not-found",
    "ActiveState": "inactive",
    "SubState": "dead",
    "UnitFileState": "",
}


def addresses(*held: str, interface: str = "eth0") -> str:
    rows = [
        {
            "family": "inet",
            "local": each.split("/")[0],
            "prefixlen": int(each.split("/")[1]),
            "scope": "global",
            "label": interface,
        }
        for each in held
    ]
    lo = {"family": "inet", "local": "127.0.0.1", "prefixlen": 8, "scope": "host", "label": "lo"}
    return json.dumps(
        [
            {"ifindex": 1, "ifname": "lo", "addr_info": [lo]},
            {},
            {"ifindex": 3, "ifname": interface, "addr_info": rows},
        ]
    )


def node_object(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": ADDRESSES.get(name, "10.72.0.41")},
                {"type": "Hostname", "address": name},
            ],
            "conditions": [
                {
                    "type": "Ready",
                    "status": "False",
                    "reason": "KubeletNotReady",
                    "message": "cni plugin not initialized",
                }
            ],
        },
    }


def pod_object(name: str, node: str = "", namespace: str = "kube-system", **changes: Any) -> Any:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{namespace}-{name}",
            "labels": changes.get("labels", {}),
            "annotations": {"kubernetes.io/config.mirror": "x"} if changes.get("mirror") else {},
            "ownerReferences": [{"kind": kind} for kind in changes.get("owners", ())],
        },
        "spec": {"nodeName": node} | changes.get("spec", {}),
        "status": {
            "phase": changes.get("phase", "Running"),
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "main", "ready": True}],
        },
    }


def items(objects: Iterable[Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def mirrors(nodes: Iterable[str]) -> list[Any]:
    return [
        pod_object(f"{component}-{node}", node, mirror=True, owners=("Node",))
        for node in nodes
        for component in ("etcd", "kube-apiserver", "kube-proxy")
    ]


def conf(node: str) -> str:
    peers = "\n".join(f"        {ADDRESSES[each]}" for each in CPS if each != node)
    return f"""# managed by Ansible
global_defs {{
    router_id {node}
    enable_script_security
    script_user root
}}

vrrp_script check_rke2_api {{
    script "/etc/keepalived/check_rke2_api.sh"
    interval 2
    fall 3
    rise 2
}}

vrrp_instance VI_1 {{
    state BACKUP
    interface eth0
    virtual_router_id 51
    priority {PRIORITIES[node]}
    advert_int 1
    unicast_src_ip {ADDRESSES[node]}
    unicast_peer {{
{peers}
    }}
    virtual_ipaddress {{
        10.72.0.20/23
    }}
    track_script {{
        check_rke2_api
    }}
}}
"""


SCRIPT = f"""#!/bin/bash
# probes the local API only
set -e
curl -sf --max-time 3 --cacert {TLS}/server-ca.crt \\
  --cert {TLS}/client-kube-apiserver.crt \\
  --key {TLS}/client-kube-apiserver.key \\
  https://127.0.0.1:6443/readyz >/dev/null
timeout 2 bash -c '</dev/tcp/127.0.0.1/9345'
"""


def rke2_config(node: str) -> str:
    server = "" if node == "rke-cp01" else "server: https://10.72.0.20:9345\n"
    return (
        f"{server}tls-san:\n  - 10.72.0.20\n  - 10.72.0.21\n  - 10.72.0.22\n  - 10.72.0.23\n"
        "cluster-cidr: 10.64.0.0/14\nservice-cidr: 10.68.0.0/16\ncni: none\n"
    )
