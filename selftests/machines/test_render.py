"""The machines' configuration is the runbook's."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml

from fixtures.core import inventory_file
from machines import inventory as lab_inventory
from machines import plan, render
from machines.dirs import CHECKOUT
from machines.pki import Pair

if TYPE_CHECKING:
    from fixtures.core.inventory import Cluster
    from machines.plan import Machine


@pytest.fixture
def real() -> Cluster:
    """The inventory of the real cluster."""
    return inventory_file.load(CHECKOUT / "inventories" / "wetopi.yaml")


def test_the_inventory_has_the_real_cluster_s_facts(inventory: Cluster, real: Cluster) -> None:
    assert inventory.rehearsal
    assert inventory.network.vip == real.network.vip
    assert inventory.network.node_lan == real.network.node_lan
    assert inventory.network.pods == real.network.pods
    assert inventory.network.services == real.network.services
    assert inventory.network.tls_san == real.network.tls_san
    assert inventory.keepalived == real.keepalived
    waits = {name: getattr(real.limits, name) for name in lab_inventory.LIMITS}
    assert dataclasses.replace(inventory.limits, **waits) == real.limits
    assert inventory.stop_method == real.stop_method
    assert real.gateway is not None
    assert dataclasses.replace(real.gateway, vm=None) == dataclasses.replace(
        inventory.gateway, vm=None
    )
    assert inventory.network.ceph == real.network.ceph
    assert inventory.ceph == real.ceph
    assert inventory.worker_label == real.worker_label
    assert inventory.control_plane_taint == real.control_plane_taint
    wanted = [(node.name, node.address, node.role, node.vip_priority) for node in real.nodes]
    assert [
        (node.name, node.address, node.role, node.vip_priority) for node in inventory.nodes
    ] == wanted


def test_the_bastion_listens_on_documentation_addresses_only(
    inventory: Cluster, real: Cluster
) -> None:
    assert inventory.bastion.address == "192.0.2.10"
    assert inventory.bastion.name == real.bastion.name
    assert inventory.bastion.lan_address == real.bastion.lan_address


@pytest.mark.parametrize("machine", plan.CONTROL_PLANES, ids=lambda machine: machine.name)
def test_keepalived_is_configured_as_designed(machine: Machine) -> None:
    text = render.keepalived(machine)
    peers = re.search(r"unicast_peer \{([^}]*)\}", text)
    assert peers is not None
    assert peers[1].split() == [
        str(one.address) for one in plan.CONTROL_PLANES if one is not machine
    ]
    assert f"unicast_src_ip {machine.address}\n" in text
    assert f"priority {machine.vip_priority}\n" in text
    assert "virtual_router_id 51\n" in text
    assert "10.72.0.20/23\n" in text
    assert ("state MASTER" in text) is (machine.name == "rke-cp01")
    assert "nopreempt" not in text
    assert "weight" not in text


def test_the_check_asks_the_local_api_with_certificates_and_the_supervisor() -> None:
    script = render.check_script()
    assert "https://127.0.0.1:6443/readyz" in script
    assert "--cert " in script
    assert "--key " in script
    assert "/dev/tcp/127.0.0.1/9345" in script
    assert str(plan.VIP.ip) not in script


def test_only_joining_nodes_have_a_server() -> None:
    first, second, third = (
        yaml.safe_load(render.rke2_config(machine, "0" * 32)) for machine in plan.CONTROL_PLANES
    )
    assert "server" not in first
    assert second == third
    assert second["server"] == "https://10.72.0.20:9345"
    assert first["cni"] == "none"
    assert first["tls-san"] == ["10.72.0.20", "10.72.0.21", "10.72.0.22", "10.72.0.23"]
    assert first["cluster-cidr"] == "10.64.0.0/14"
    assert first["service-cidr"] == "10.68.0.0/16"


def test_a_kubeconfig_carries_its_certificates_inline() -> None:
    loaded = yaml.safe_load(render.kubeconfig(Pair("cert\n", "key\n"), "ca\n"))
    cluster, user = loaded["clusters"][0]["cluster"], loaded["users"][0]["user"]
    assert cluster["server"] == "https://127.0.0.1:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]) == b"ca\n"
    assert base64.b64decode(user["client-certificate-data"]) == b"cert\n"
    assert base64.b64decode(user["client-key-data"]) == b"key\n"


def test_secrets_are_encrypted_with_the_key_s_runbook_name() -> None:
    rules = json.loads(render.encryption_config(bytes(32)))["resources"][0]
    assert rules["resources"] == ["secrets"]
    first, last = rules["providers"]
    assert first["aescbc"]["keys"][0]["name"] == "aescbckey"
    assert len(base64.b64decode(first["aescbc"]["keys"][0]["secret"])) == 32
    assert last == {"identity": {}}


def test_only_bastion_and_gateway_have_a_leg_on_the_wan() -> None:
    with_wan = [one.name for one in plan.MACHINES if "eth1" in render.interfaces(one)]
    assert with_wan == ["wetopi-ops01", "wetopi-natgw01"]
