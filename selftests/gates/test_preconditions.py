"""Phase 0: the cluster's facts, and the rendered Ansible inventory."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.requests import CONTROLLER, HostCommand
from fixtures.judge.ansible_hosts import reaches_all
from fixtures.judge.cluster_facts import facts_agree
from fixtures.judge.preconditions import controller_ready
from fixtures.observe.ansible_hosts import Rendered, parse_hosts
from fixtures.observe.answers import Misread, Unknown
from fixtures.observe.controller import Controller
from fixtures.observe.files import FileFacts
from fixtures.observe.tools import Tool
from selftests.gates.checkout_stand import verdict as judged
from selftests.gates.world import wetopi
from selftests.observe.damage import quick

PRIVATE = FileFacts(0o600, "ada", "ada", "regular file")
CLUSTER = wetopi()
JUMP = f"-o ProxyJump={CLUSTER.bastion.user}@{CLUSTER.bastion.address}"
LOCAL = {"ansible_connection": "local", "ansible_become": False}


def vms() -> dict[str, dict[str, Any]]:
    gateway = CLUSTER.gateway
    assert gateway is not None
    hosts: dict[str, dict[str, Any]] = {
        vm.name: {"ansible_host": str(vm.address), "ansible_ssh_common_args": JUMP}
        for vm in (*CLUSTER.nodes, gateway)
    }
    return hosts | {CLUSTER.bastion.name: {"ansible_host": CLUSTER.bastion.address}}


def grouped(hosts: dict[str, dict[str, Any]]) -> str:
    return json.dumps({"all": {"hosts": {**hosts, "localhost": LOCAL}}})


def dynamic(hosts: dict[str, dict[str, Any]]) -> str:
    return json.dumps(
        {
            "_meta": {"hostvars": {**hosts, "localhost": LOCAL}},
            "rke_platform": {"hosts": [name for name in hosts if "platform" in name]},
            "ungrouped": {"hosts": ["localhost"]},
        }
    )


def findings(text: str, facts: FileFacts = PRIVATE) -> str:
    return "; ".join(reaches_all(Rendered("hosts.json", facts, parse_hosts(text)), CLUSTER))


@pytest.mark.parametrize("form", [grouped, dynamic])
def test_both_forms_are_read(form: Any) -> None:
    assert findings(form(vms())) == ""


def test_variables_of_groups_count_and_the_host_has_the_last_word() -> None:
    hosts = vms()
    for name in ("rke-platform01", "rke-platform02", "rke-platform03"):
        del hosts[name]["ansible_ssh_common_args"]
    inventory = {
        "all": {
            "vars": {"ansible_ssh_common_args": "-o ProxyJump=nobody@203.0.113.9"},
            "hosts": {**hosts, "localhost": LOCAL},
            "children": {
                "rke_platform": {
                    "vars": {"ansible_ssh_common_args": JUMP},
                    "hosts": {name: None for name in hosts if "platform" in name},
                }
            },
        }
    }
    assert findings(json.dumps(inventory)) == ""


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("rke-cp01", {"ansible_host": "10.72.0.210"}, "has address"),
        ("rke-cp01", {"ansible_ssh_common_args": ""}, "not reached through"),
        ("rke-cp01", {"ansible_ssh_common_args": JUMP + "1"}, "not reached through"),
        ("rke-cp01", {"ansible_ssh_common_args": JUMP.replace("ubuntu", "root")}, "not reached"),
        (
            "rke-cp01",
            {"ansible_ssh_common_args": f"-o ProxyCommand='ssh -W %h:%p {JUMP.split('=')[1]}'"},
            "",
        ),
        ("rke-cp01", {"ansible_ssh_args": "-o ProxyJump=root@203.0.113.9"}, "jump through `root@"),
        ("rke-cp01", {"ansible_ssh_extra_args": "-o ProxyJump=root@203.0.113.9"}, ""),
        ("rke-cp01", {"ansible_connection": "local"}, "ansible_connection `local`, expected ssh"),
        ("rke-cp01", {"ansible_connection": "paramiko_ssh"}, "expected ssh"),
        ("rke-cp01", {"ansible_connection": "ssh"}, ""),
        ("wetopi-ops01", {"ansible_connection": "local"}, "expected ssh"),
        ("wetopi-ops01", {"ansible_host": "10.72.0.10"}, ""),
    ],
)
def test_each_vm_is_reached_through_the_bastion(
    name: str, change: dict[str, str], said: str
) -> None:
    hosts = vms()
    hosts[name] |= change
    found = findings(grouped(hosts))
    assert (said in found) if said else found == ""


def test_no_argument_is_told() -> None:
    hosts = vms()
    command = "sshpass -p hunter2 ssh -W %h:%p ubuntu@203.0.113.9"
    hosts["rke-cp01"] |= {"ansible_ssh_common_args": f"-o ProxyCommand='{command}'"}
    found = findings(grouped(hosts))
    assert "its SSH arguments have a ProxyCommand that is not ssh -W %h:%p" in found
    assert "hunter2" not in found


@pytest.mark.parametrize(
    ("local", "said"),
    [
        (None, "there is no localhost"),
        ({"ansible_connection": "ssh", "ansible_become": False}, "ansible_connection `ssh`"),
        ({"ansible_connection": "local"}, "ansible_become None"),
        ({"ansible_connection": "local", "ansible_become": True}, "ansible_become True"),
        ({"ansible_connection": "local", "ansible_become": "no"}, ""),
        ({"ansible_connection": "local", "ansible_become": 0}, ""),
        ({"ansible_connection": "local", "ansible_become": "Off"}, ""),
        ({"ansible_connection": "local", "ansible_become": 1}, "ansible_become True"),
        ({"ansible_connection": "local", "ansible_become": "maybe"}, "ansible_become None"),
        ({"ansible_connection": "local", "ansible_become": [False]}, "ansible_become None"),
    ],
)
def test_localhost_is_local_and_unprivileged(local: dict[str, Any] | None, said: str) -> None:
    hosts = {**vms(), **({"localhost": local} if local else {})}
    found = findings(json.dumps({"all": {"hosts": hosts}}))
    assert (said in found) if said else found == ""


def test_missing_and_unknown_vms_and_an_open_file_are_named() -> None:
    hosts = vms()
    del hosts["rke-cp03"]
    hosts["stranger"] = {"ansible_host": "10.72.0.99"}
    found = findings(grouped(hosts), replace(PRIVATE, mode=0o640))
    assert "rke-cp03 is missing" in found
    assert "`stranger` is no VM of this cluster" in found
    assert "0640" in found


@quick
@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_document_is_read_or_refused(document: Any) -> None:
    for text in (json.dumps(document), str(document)):
        try:
            parse_hosts(text)
        except Misread:
            continue


def test_the_facts_of_wetopi_agree() -> None:
    assert facts_agree(CLUSTER) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vip": ip_address("10.99.0.1")}, "the VIP 10.99.0.1 is not in the node LAN"),
        ({"services": ip_network("10.64.0.0/16")}, "overlap"),
        ({"tls_san": (ip_address("10.72.0.20"),)}, "10.72.0.21 is missing in the TLS names"),
        (
            {"tls_san": (*CLUSTER.network.tls_san, ip_address("10.72.0.99"))},
            "10.72.0.99 is a TLS name, but neither",
        ),
    ],
)
def test_facts_that_do_not_fit_together_are_named(change: dict[str, Any], said: str) -> None:
    cluster = replace(CLUSTER, network=replace(CLUSTER.network, **change))
    assert said in "; ".join(facts_agree(cluster))


@pytest.mark.parametrize(
    ("version", "pinned", "verdict"),
    [
        ("2.21.3", "2.21.3", "PASS"),
        ("2.21.30", "2.21.3", "FAIL"),
        ("2.21.3rc1", "2.21.3", "FAIL"),
        (None, "2.21.3", "FAIL"),
        (None, None, "FAIL"),
        ("2.21.3", None, "UNKNOWN"),
        (Unknown("no answer"), "2.21.3", "UNKNOWN"),
    ],
)
def test_ansible_is_the_pinned_one(
    version: str | Unknown | None, pinned: str | None, verdict: str
) -> None:
    request = HostCommand(CONTROLLER, "ansible-playbook --version", 5)
    seen = Controller(Tool("ansible-core", request, version), "rke-cp01")
    cluster = replace(CLUSTER, versions={"ansible-core": pinned} if pinned else {})
    assert judged(lambda: controller_ready(seen, cluster))[0] == verdict


def test_without_a_way_to_the_first_control_plane_the_controller_is_not_ready() -> None:
    request = HostCommand(CONTROLLER, "ansible-playbook --version", 5)
    seen = Controller(Tool("ansible-core", request, "2.21.3"), Unknown("no way"))
    assert judged(lambda: controller_ready(seen, CLUSTER)) == ("UNKNOWN", "no way")
