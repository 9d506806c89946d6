"""A small correct inventory that the tests of the loader break in one place at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = """\
name: example
rehearsal: true
stop_method: killall
versions:
  rke2: v1.36.3+rke2r1
bastion:
  name: ops01
  address: 192.0.2.10
  port: 2222
  user: ubuntu
  lan_address: 10.72.0.10
  key: keys/id
  known_hosts: known_hosts
  proxmox_node: ns1
  vm_id: 8001
nodes:
  - name: cp01
    address: 10.72.0.21
    role: control-plane
    vip_priority: 150
    proxmox_node: ns1
    vm_id: 8011
  - name: cp02
    address: 10.72.0.22
    role: control-plane
    vip_priority: 100
  - name: cp03
    address: 10.72.0.23
    role: control-plane
    vip_priority: 50
  - name: worker01
    address: 10.72.0.41
    role: worker
gateway:
  name: natgw01
  address: 10.72.0.2
  proxmox_node: ns1
  vm_id: 8031
network:
  vip: 10.72.0.20/23
  node_lan: 10.72.0.0/23
  pods: 10.64.0.0/14
  services: 10.68.0.0/16
  ceph: 192.168.96.0/20
  tls_san: [10.72.0.20, 10.72.0.21, 10.72.0.22, 10.72.0.23]
  api_port: 6443
  supervisor_port: 9345
keepalived:
  vrid: 51
  interface: eth0
  advert_int: 1
  script: /etc/keepalived/check.sh
  script_interval: 2
  fall: 3
  rise: 2
worker_label: wetopi.io/role=platform
control_plane_taint: node-role.kubernetes.io/control-plane=true:NoSchedule
controller:
  infrastructure: ../infrastructure
operations:
  kubeconfig: ~/secrets/kubeconfig
images:
  dns: busybox:1.36
commits:
  infrastructure: d553643
names:
  etcd_snapshot: pre-addons
ceph:
  monitors: [192.168.96.10]
  ports: [3300, 6789]
  gateway_interface: eth2
  pool: kubernetes
  storage_class: ceph-rbd
limits:
  connect: 3
  sampler_interval: 0.25
  parallel_commands: 4
tofu:
  host: bastion
  program: /opt/bin/tofu
  chdir: ~/tofu
  plan: leg.tfplan
  resource: vm["natgw01"]
  nics: network_device
  ip_config: initialization.ip_config
  bridge: vmbr2
proxmox:
  ns1:
    address: 192.0.2.11
    port: 2201
    user: root
group_vars:
  file: ansible/group_vars/all.yml
  vip: rke2_vip
  server_url: rke2_server_url
"""


@pytest.fixture
def good() -> str:
    """The text of the correct inventory."""
    return GOOD


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes text or bytes to a file of the test's folder."""

    def write_(content: str | bytes, name: str = "inventory.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_
