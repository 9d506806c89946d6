"""What a correct inventory becomes: types, defaults, paths."""

from __future__ import annotations

import hashlib
from dataclasses import FrozenInstanceError
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

import pytest

from fixtures.core.inventory import Label, Limits, ProxmoxNode, Role, StopMethod, Taint, Vm
from fixtures.core.inventory_file import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_values_have_their_types(good: str, write: Callable[..., Path]) -> None:
    cluster = load(write(good))
    assert cluster.rehearsal is True
    assert cluster.stop_method is StopMethod.KILLALL
    assert cluster.versions == {"rke2": "v1.36.3+rke2r1"}
    assert cluster.network.vip == IPv4Address("10.72.0.20")
    assert cluster.network.vip_prefix == 23
    assert cluster.network.pods == IPv4Network("10.64.0.0/14")
    assert cluster.worker_label == Label("wetopi.io/role", "platform")
    assert cluster.control_plane_taint == Taint(
        "node-role.kubernetes.io/control-plane", "true", "NoSchedule"
    )
    assert [node.role for node in cluster.nodes] == [Role.CONTROL_PLANE] * 3 + [Role.WORKER]
    assert cluster.nodes[0].vm == Vm("ns1", 8011)
    assert cluster.nodes[1].vm is None
    assert cluster.limits == Limits(connect=3.0, sampler_interval=0.25, parallel_commands=4)
    assert isinstance(cluster.limits.connect, float)
    assert isinstance(cluster.limits.parallel_commands, int)
    with pytest.raises(FrozenInstanceError):
        cluster.name = "other"  # type: ignore[misc]


def test_lookups(good: str, write: Callable[..., Path]) -> None:
    cluster = load(write(good))
    assert [node.name for node in cluster.control_planes] == ["cp01", "cp02", "cp03"]
    assert [node.name for node in cluster.workers] == ["worker01"]
    assert cluster.first_control_plane.name == "cp01"
    assert cluster.node("worker01").address == IPv4Address("10.72.0.41")
    with pytest.raises(KeyError, match="cp04"):
        cluster.node("cp04")


def test_who_is_asked_about_a_vm(good: str, write: Callable[..., Path]) -> None:
    cluster = load(write(good))
    node = ProxmoxNode("ns1", "192.0.2.11", 2201, "root")
    assert cluster.proxmox == (node,)
    assert list(cluster.vms) == ["ops01", "cp01", "cp02", "cp03", "worker01", "natgw01"]
    asked = {name: cluster.proxmox_node(vm) for name, vm in cluster.vms.items()}
    assert {name for name, whom in asked.items() if whom == node} == {"ops01", "cp01", "natgw01"}
    assert {whom for whom in asked.values() if whom != node} == {None}
    plain = load(write(good.replace("    port: 2201\n    user: root\n", "")))
    assert plain.proxmox == (ProxmoxNode("ns1", "192.0.2.11", 22, "ubuntu"),)


def test_defaults(good: str, write: Callable[..., Path]) -> None:
    text = good.replace("rehearsal: true\n", "").replace("  port: 2222\n", "")
    text = text.replace("  key: keys/id\n", "").replace("  api_port: 6443\n", "")
    text = text.replace("  supervisor_port: 9345\n", "")
    text = text[: text.index("limits:")]
    cluster = load(write(text))
    assert cluster.rehearsal is False
    assert cluster.bastion.port == 22
    assert cluster.bastion.key is None
    assert (cluster.network.api_port, cluster.network.supervisor_port) == (6443, 9345)
    assert cluster.limits == Limits()


def test_local_paths_are_relative_to_the_file_and_remote_ones_stay_text(
    good: str, write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/operator")
    monkeypatch.chdir("/")
    path = write(good.replace("known_hosts: known_hosts", "known_hosts: ~/.ssh/known_hosts"))
    cluster = load(path)
    assert str(cluster.bastion.known_hosts) == "/home/operator/.ssh/known_hosts"
    assert cluster.bastion.key == tmp_path / "keys" / "id"
    assert cluster.controller == {"infrastructure": tmp_path / ".." / "infrastructure"}
    assert cluster.operations == {"kubeconfig": "~/secrets/kubeconfig"}


def test_a_relative_inventory_and_one_under_the_home_folder_load(
    good: str, write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(good)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert load(path.relative_to(tmp_path)).bastion.key == tmp_path / "keys" / "id"
    assert load(type(path)("~/inventory.yaml")).source == path


def test_the_digest_is_that_of_the_file(good: str, write: Callable[..., Path]) -> None:
    path = write(good)
    assert load(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_windows_line_ends_are_fine(good: str, write: Callable[..., Path]) -> None:
    assert load(write(good.replace("\n", "\r\n"))).name == "example"


@pytest.mark.parametrize("count", [1, 5])
def test_other_odd_numbers_of_control_planes_load(
    count: int, good: str, write: Callable[..., Path]
) -> None:
    head, rest = good[: good.index("nodes:")], good[good.index("gateway:") :]
    nodes = "".join(
        f"  - {{name: cp{i}, address: 10.72.0.{30 + i}, role: control-plane, vip_priority: {i}}}\n"
        for i in range(1, count + 1)
    )
    san = ", ".join(["10.72.0.20", *(f"10.72.0.{30 + i}" for i in range(1, count + 1))])
    rest = rest.replace("10.72.0.20, 10.72.0.21, 10.72.0.22, 10.72.0.23", san)
    assert len(load(write(f"{head}nodes:\n{nodes}{rest}")).control_planes) == count
