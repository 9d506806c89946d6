"""B.8: RKE2's effective configuration matches the cluster facts."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import CONFIG, FIND_RKE2, SED, STAT_RKE2, rke2_config
from selftests.gates.world import Reply, World, healthy

if TYPE_CHECKING:
    from pathlib import Path

CP = "rke-cp02"
NO_FILE = "No such file or directory\n"


def rke2(text: str, node: str = CP) -> World:
    world = healthy()
    world.say(node, SED + CONFIG, Reply(text))
    return world


@pytest.mark.parametrize(
    ("old", "new", "verdict", "says"),
    [
        ("cni: none", "cni: [none]", "PASS", ""),
        ("cni: none", "cni:\n  - none", "PASS", ""),
        ("cni: none", "cni: canal", "FAIL", "cni is canal, expected none"),
        ("cni: none", "cni: [none, cilium]", "FAIL", "cni is none, cilium"),
        ("cni: none\n", "", "FAIL", "cni is not set"),
        ("cni: none", "cni: nonexistent", "FAIL", "cni is nonexistent"),
        ("cluster-cidr: 10.64.0.0/14", "cluster-cidr: ['10.64.0.0/14']", "PASS", ""),
        ("10.64.0.0/14", "10.64.0.0/16", "FAIL", "cluster-cidr is 10.64.0.0/16"),
        ("10.64.0.0/14", "10.65.0.0/14", "FAIL", "cluster-cidr"),
        ("10.64.0.0/14", "10.64.0.0/14,fd00::/56", "FAIL", "cluster-cidr"),
        ("cluster-cidr: 10.64.0.0/14\n", "", "FAIL", "cluster-cidr is not set"),
        ("10.68.0.0/16", "10.43.0.0/16", "FAIL", "service-cidr is 10.43.0.0/16"),
        ("  - 10.72.0.20\n", "", "FAIL", "lacks 10.72.0.20"),
        ("  - 10.72.0.20\n", "  - 10.72.0.200\n", "FAIL", "lacks 10.72.0.20"),
        ("  - 10.72.0.20\n", "  - 10.72.0.20\n  - api.example\n", "PASS", ""),
        ("server: https://10.72.0.20:9345\n", "", "FAIL", "server is not set"),
        ("https://10.72.0.20:9345", "https://10.72.0.21:9345", "FAIL", "server is"),
        ("https://10.72.0.20:9345", "https://10.72.0.20:9345/", "PASS", ""),
        ("https://10.72.0.20:9345", "https://10.72.0.20:6443", "FAIL", "server is"),
        ("cni: none", "cni: {a: b}", "UNKNOWN", ""),
        ("cni: none", "cni: [[none]]", "UNKNOWN", ""),
        ("cni: none", "cni: 'none", "UNKNOWN", ""),
        ("cni: none", "x: !!python/object:os.system", "UNKNOWN", ""),
        ("cni: none", "cni: none\nwhen: 2026-99-99", "UNKNOWN", ""),
    ],
)
def test_rke2_values(old: str, new: str, verdict: str, says: str) -> None:
    assert old in rke2_config(CP)
    decided = decide(rke2(rke2_config(CP).replace(old, new, 1)), "B.8")
    assert decided.verdict == verdict, decided.text
    assert says in decided.text


def test_the_first_has_no_server() -> None:
    world = rke2("server: https://10.72.0.20:9345\n" + rke2_config("rke-cp01"), "rke-cp01")
    decided = decide(world, "B.8")
    assert decided.verdict == "FAIL"
    assert "it bootstraps the cluster" in decided.text


@pytest.mark.parametrize(
    ("drop_ins", "verdict"),
    [
        ({"10-cni.yaml": "cni: canal\n"}, "FAIL"),
        ({"10-cni.yml": "cni: canal\n"}, "FAIL"),
        ({"10-cni.yaml": "cni: canal\n", "20-cni.yaml": "cni: none\n"}, "PASS"),
        ({"20-cni.yaml": "cni: canal\n", "10-cni.yaml": "cni: none\n"}, "FAIL"),
        ({"10-san.yaml": "tls-san+:\n  - api.example\n"}, "PASS"),
        ({"10-san.yaml": "tls-san: [api.example]\n"}, "FAIL"),
        ({"10-cni.yaml": "cni+: cilium\n"}, "FAIL"),
        ({"10-empty.yaml": ""}, "PASS"),
        ({"10-list.yaml": "- cni\n"}, "UNKNOWN"),
    ],
)
def test_drop_ins_are_merged_in_order(drop_ins: dict[str, str], verdict: str) -> None:
    world = healthy()
    folder = f"{CONFIG}.d"
    paths = ["/etc/rancher/rke2/rke2.yaml", CONFIG, *(f"{folder}/{name}" for name in drop_ins)]
    world.say(CP, FIND_RKE2, Reply("".join(f"{path}\n" for path in paths)))
    for name, text in drop_ins.items():
        world.say(CP, f"{SED}{folder}/{name}", Reply(text))
    assert decide(world, "B.8").verdict == verdict
    assert not any("rke2.yaml" in command for command in world.commands(CP))


def test_the_content_of_a_file_that_is_no_yaml_is_not_shown() -> None:
    decided = decide(rke2("secret-thing: 'hunter2"), "B.8")
    assert decided.verdict == "UNKNOWN"
    assert "hunter2" not in decided.text


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply("755 root root directory\n"), "FAIL"),
        (Reply("750 root adm directory\n"), "FAIL"),
        (Reply("1750 root root directory\n"), "FAIL"),
        (Reply("750 root root symbolic link\n"), "FAIL"),
        (Reply(stderr=f"stat: cannot statx '/etc/rancher/rke2': {NO_FILE}", rc=1), "FAIL"),
        (Reply(stderr="sudo: a password is required\n", rc=1), "UNKNOWN"),
        (Reply("750 root\n"), "UNKNOWN"),
    ],
)
def test_the_folder(reply: Reply, verdict: str) -> None:
    world = healthy()
    world.say(CP, STAT_RKE2, reply)
    assert decide(world, "B.8").verdict == verdict


def test_an_enabled_unit_without_any_file_fails() -> None:
    world = healthy()
    world.say(CP, FIND_RKE2, Reply("/etc/rancher/rke2/rke2.yaml\n"))
    decided = decide(world, "B.8")
    assert decided.verdict == "FAIL"
    assert "cni is not set" in decided.text


SECRETS = """\
token: "0123456789abcdef0123456789abcdef"
agent-token: abc
"token" : abc
etcd-s3-secret-key: abc
datastore-endpoint: mysql://u:abc@h
tls-san:
  - 10.72.0.20
agent-token: >-
  0123456789abcdef0123456789abcdef
token: |
    K10abc::server:0123456789abcdef0123456789abcdef
cni: none
"""


def test_sed_takes_the_secrets_out_on_the_host(tmp_path: Path) -> None:
    """The literal command, run by a real shell and a real sed."""
    file = tmp_path / "config.yaml"
    file.write_text(SECRETS)
    command = f"{SED}{file}".removeprefix("sudo -n ")
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert ended.stdout == "tls-san:\n  - 10.72.0.20\ncni: none\n"
