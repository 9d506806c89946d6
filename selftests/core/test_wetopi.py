"""`inventories/wetopi.yaml` says what the runbook and the handbook say, value by value."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
import yaml

from fixtures.core.inventory import (
    Bastion,
    Ceph,
    Cluster,
    Gateway,
    Keepalived,
    Label,
    Limits,
    Network,
    Node,
    Role,
    StopMethod,
    Taint,
    Tofu,
    Vm,
)
from fixtures.core.inventory_file import load

PATH = Path(__file__).parents[2] / "inventories" / "wetopi.yaml"
HOME = "/home/operator"


@pytest.fixture
def wetopi(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setenv("HOME", HOME)
    return load(PATH)


def cp(number: int, priority: int, proxmox: str) -> Node:
    return Node(
        name=f"rke-cp0{number}",
        address=IPv4Address(f"10.72.0.2{number}"),
        role=Role.CONTROL_PLANE,
        vm=Vm(proxmox, 8010 + number),
        vip_priority=priority,
    )


def worker(number: int, proxmox: str) -> Node:
    return Node(
        name=f"rke-platform0{number}",
        address=IPv4Address(f"10.72.0.4{number}"),
        role=Role.WORKER,
        vm=Vm(proxmox, 8020 + number),
    )


def test_cluster(wetopi: Cluster) -> None:
    assert wetopi.name == "wetopi"
    assert wetopi.rehearsal is False
    assert wetopi.stop_method is StopMethod.KILLALL
    assert wetopi.worker_label == Label("wetopi.io/role", "platform")
    assert wetopi.control_plane_taint == Taint(
        "node-role.kubernetes.io/control-plane", "true", "NoSchedule"
    )


def test_the_eight_vms(wetopi: Cluster) -> None:
    assert wetopi.bastion == Bastion(
        name="wetopi-ops01",
        address="92.222.245.91",
        port=22,
        user="ubuntu",
        lan_address=IPv4Address("10.72.0.10"),
        known_hosts=Path(HOME, ".ssh", "known_hosts"),
        key=Path("/opt/data/.ssh/bigardo"),
        vm=Vm("ns3249468", 8001),
    )
    assert wetopi.nodes == (
        cp(1, 150, "ns3243421"),
        cp(2, 100, "ns3226939"),
        cp(3, 50, "ns3214108"),
        worker(1, "ns31826929"),
        worker(2, "ns3226931"),
        worker(3, "ns31826925"),
    )
    assert wetopi.gateway == Gateway(
        "wetopi-natgw01", IPv4Address("10.72.0.2"), Vm("ns3243421", 8031)
    )


def test_network(wetopi: Cluster) -> None:
    assert wetopi.network == Network(
        vip=IPv4Address("10.72.0.20"),
        vip_prefix=23,
        node_lan=IPv4Network("10.72.0.0/23"),
        pods=IPv4Network("10.64.0.0/14"),
        services=IPv4Network("10.68.0.0/16"),
        tls_san=tuple(IPv4Address(f"10.72.0.{last}") for last in (20, 21, 22, 23)),
        ceph=IPv4Network("192.168.96.0/20"),
        api_port=6443,
        supervisor_port=9345,
    )
    assert wetopi.keepalived == Keepalived(
        vrid=51,
        interface="eth0",
        advert_int=1,
        script="/etc/keepalived/check_rke2_api.sh",
        script_interval=2,
        fall=3,
        rise=2,
    )
    assert wetopi.ceph == Ceph(
        monitors=(IPv4Address("192.168.96.10"),),
        ports=(3300, 6789),
        gateway_interface="eth2",
        pool="kubernetes",
        storage_class="ceph-rbd",
    )


def test_the_plan_of_the_leg(wetopi: Cluster) -> None:
    assert wetopi.tofu == Tofu(
        on_controller=False,
        program="tofu",
        chdir="~/wetopi-infrastructure/tofu/proxmox/environments/prod",
        plan="ceph-leg.tfplan",
        resource='module.vm["wetopi-natgw01"].proxmox_virtual_environment_vm.this',
        nics=("network_device",),
        bridge="vmbr2",
        ip_config=("initialization", "ip_config"),
    )


def test_versions_images_and_names(wetopi: Cluster) -> None:
    assert wetopi.versions == {
        "rke2": "v1.36.3+rke2r1",
        "kubernetes": "v1.36.3",
        "etcd": "3.6.14",
        "cilium": "1.20.1",
        "cilium-cli": "v0.19.1",
        "hubble-cli": "v0.13.6",
        "helm": "v3.19.0",
        "ansible-core": "2.21.3",
        "ceph-csi-rbd": "3.17.1",
        "argocd": "v3.4.8",
    }
    assert set(wetopi.images.values()) == {
        "registry.k8s.io/e2e-test-images/jessie-dnsutils:1.7",
        "registry.k8s.io/e2e-test-images/busybox:1.36.1-1",
        "busybox:1.36",
        "nginx:1.27",
        "nginx:alpine",
    }
    assert wetopi.commits == {"infrastructure": "d553643", "docs": "5740404"}
    assert wetopi.names["proxmox_snapshot"] == "pre-rke2-apply"
    assert wetopi.names["etcd_snapshot"] == "pre-addons-fase6"
    assert wetopi.names["argocd_repository_secret"] == "repo-infra-https"
    assert wetopi.names["ceph_secret"] == "csi-rbd-secret"


def test_paths(wetopi: Cluster) -> None:
    infrastructure = PATH.parent / "../../infrastructure"
    assert wetopi.controller == {
        "infrastructure": infrastructure,
        "docs": PATH.parent / "../../docs",
        "ansible_playbook": infrastructure / ".venv/bin/ansible-playbook",
        "node_token": infrastructure / "ansible/files/rke2/node-token",
        "hosts_json": infrastructure / "ansible/inventories/prod/hosts.json",
    }
    assert wetopi.operations["infrastructure"] == "~/wetopi-infrastructure"
    assert wetopi.operations["kubeconfig"] == "~/secrets/rke2-admin-kubeconfig"
    assert wetopi.operations["snapshots"] == "~/rke2-snapshots"


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        ("vip_failover", 10),
        ("api_port_open", 600),
        ("worker_registered", 60 * 10),
        ("worker_registered_poll", 10),
        ("nodes_ready", 60 * 10),
        ("nodes_ready_poll", 10),
        ("outage_longest", 10),
        ("outage_window", 15),
        ("sampler_interval", 0.25),
        ("authorization_window", 45 * 60),
        ("authorization_countdown", 10),
        ("p1_max_age", 5 * 60),
        ("p3_max_age", 15 * 60),
        ("persist_failure", 2 * 60),
        ("cluster_reset", 20 * 60),
        ("dns_pod_ready", 300),
        ("dns_utils_ready", 120),
        ("hubble_since", 5 * 60),
        ("netpol_probe", 5),
        ("reboot", 10 * 60),
        ("reboot_residue", 5 * 60),
        ("ceph_port", 3),
        ("pvc_bound", 60),
        ("argocd_sync", 120),
    ],
)
def test_limits_of_the_runbook(wetopi: Cluster, limit: str, seconds: float) -> None:
    assert getattr(wetopi.limits, limit) == seconds


def test_the_limits_table_is_complete_commented_and_in_order(wetopi: Cluster) -> None:
    text = PATH.read_text(encoding="utf-8")
    assert tuple(yaml.safe_load(text)["limits"]) == Limits.names()
    assert wetopi.limits == Limits()
    lines = text[text.index("\nlimits:") :].splitlines()[2:]
    for line in filter(None, lines):
        assert re.fullmatch(
            r"  [a-z0-9_]+: [0-9.]+ +# \[(suite|design|runbook|handbook|gates).*", line
        )


def test_there_is_no_default_inventory() -> None:
    assert not (PATH.parent / "default.yaml").exists()


def test_the_schema_page_names_every_key_of_the_example() -> None:
    page = (PATH.parents[1] / "docs" / "inventory.md").read_text(encoding="utf-8")
    tree = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    free = {"versions", "controller", "operations", "images", "commits", "names", "limits"}
    for key, value in tree.items():
        assert f"`{key}`" in page
        rows = value if isinstance(value, list) else [value]
        for row in (row for row in rows if isinstance(row, dict) and key not in free):
            assert {inner for inner in row if f"`{inner}`" not in page} == set()
