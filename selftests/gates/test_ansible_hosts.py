"""Gate 0.5: the rendered Ansible inventory, read as Ansible reads a file."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.judge.ansible_hosts import reaches_all
from fixtures.observe.ansible_hosts import Rendered, parse_hosts
from fixtures.observe.answers import Misread
from fixtures.observe.files import FileFacts
from selftests.gates.world import wetopi
from selftests.observe.damage import quick

PRIVATE = FileFacts(0o600, "ada", "ada", "regular file")
CLUSTER = wetopi()
JUMP = f"-o ProxyJump={CLUSTER.bastion.user}@{CLUSTER.bastion.address}"
LOCAL = {"ansible_connection": "local", "ansible_become": False}


def vms() -> dict[str, dict[str, Any]]:
    gateway = CLUSTER.gateway
    assert gateway is not None
    addresses = {node.name: node.address for node in CLUSTER.nodes}
    hosts: dict[str, dict[str, Any]] = {
        name: {"ansible_host": str(address), "ansible_ssh_common_args": JUMP}
        for name, address in {**addresses, gateway.name: gateway.address}.items()
    }
    return hosts | {CLUSTER.bastion.name: {"ansible_host": CLUSTER.bastion.address}}


def grouped(hosts: dict[str, dict[str, Any]]) -> str:
    return json.dumps({"all": {"hosts": {**hosts, "localhost": LOCAL}}})


def by_group(hosts: dict[str, dict[str, Any]]) -> str:
    platform = {name: about for name, about in hosts.items() if "platform" in name}
    rest = {name: about for name, about in hosts.items() if name not in platform}
    return json.dumps(
        {
            # Ansible passes over what a program would answer.
            "_meta": {"hostvars": {"rke-cp01": {"ansible_host": "10.72.0.99"}}},
            "rke_platform": {"hosts": platform},
            "rest": {"hosts": rest},
            "ungrouped": {"hosts": {"localhost": LOCAL}},
        }
    )


def findings(text: str, facts: FileFacts = PRIVATE) -> str:
    return "; ".join(reaches_all(Rendered("hosts.json", facts, parse_hosts(text)), CLUSTER))


def undecided(text: str) -> str:
    with pytest.raises(Undecided) as caught:
        findings(text)
    return str(caught.value)


@pytest.mark.parametrize("form", [grouped, by_group])
def test_both_forms_are_read(form: Any) -> None:
    assert findings(form(vms())) == ""


def test_what_only_a_program_may_answer_is_no_inventory() -> None:
    """Ansible asks a file that is executable, and so none of mode 600, for `_meta` and lists."""
    meta = {"hostvars": {**vms(), "localhost": LOCAL}}
    with pytest.raises(Misread, match="not one host"):
        findings(json.dumps({"_meta": meta}))
    with pytest.raises(Misread, match="hosts is a list, which Ansible refuses in a file"):
        findings(json.dumps({"_meta": meta, "all": {"hosts": [*vms(), "localhost"]}}))
    with pytest.raises(Misread, match="children is a list"):
        findings(json.dumps({"all": {"children": ["rke_platform"]}}))
    found = findings(json.dumps({"_meta": meta, "all": {"hosts": dict.fromkeys(vms())}}))
    assert "rke-cp01 has address nothing" in found


def test_of_groups_that_say_different_things_the_one_counts_that_ansible_takes() -> None:
    """The deepest, then the one with the highest priority, then the last by name."""

    def inventory(first: str, second: str, **of_second: Any) -> str:
        hosts = vms()
        del hosts["rke-cp01"]["ansible_ssh_common_args"]
        groups: dict[str, dict[str, Any]] = {
            name: {"vars": {"ansible_ssh_common_args": jump}, "hosts": {"rke-cp01": None}}
            for name, jump in (("a_group", first), ("b_group", second))
        }
        groups["b_group"]["vars"] |= of_second
        return json.dumps({"all": {"hosts": {**hosts, "localhost": LOCAL}, "children": groups}})

    astray = JUMP.replace("ubuntu", "root")
    assert findings(inventory(astray, JUMP)) == ""
    assert "jump through `root@" in findings(inventory(JUMP, astray))
    assert findings(inventory(JUMP, astray, ansible_group_priority=-1)) == ""
    assert "jump through" in findings(inventory(JUMP, astray, ansible_group_priority="10"))


def test_a_group_is_as_deep_as_its_longest_line_of_parents() -> None:
    hosts = vms()
    del hosts["rke-cp01"]["ansible_ssh_common_args"]

    def leaf(jump: str) -> dict[str, Any]:
        return {"vars": {"ansible_ssh_common_args": jump}, "hosts": {"rke-cp01": None}}

    inventory: dict[str, Any] = {
        "all": {"hosts": {**hosts, "localhost": LOCAL}},
        **{name: {"children": {"many": None}} for name in ("p1", "p2", "p3")},
        "many": leaf(JUMP.replace("ubuntu", "root")),
        "p4": {"children": {"p5": {"children": {"deep": leaf(JUMP)}}}},
    }
    assert findings(json.dumps(inventory)) == ""


def test_groups_that_are_their_own_children_are_refused() -> None:
    with pytest.raises(Misread, match="among its own children"):
        findings(json.dumps({"a": {"hosts": {"x": None}, "children": {"b": {"children": "a"}}}}))


def test_a_group_hides_the_host_of_its_name() -> None:
    """Of `hosts: rke-cp01` Ansible makes that group's hosts, whatever host bears the name."""
    inventory: dict[str, Any] = {
        "all": {"hosts": {**vms(), "localhost": LOCAL}},
        "rke-cp01": {"hosts": {"rke-cp02": None}},
    }
    assert "a play for rke-cp01 runs on `rke-cp02`" in findings(json.dumps(inventory))
    inventory["rke-cp01"] = {
        "children": {"others": {"hosts": {"rke-cp01": None, "rke-cp03": None}}}
    }
    assert "runs on `rke-cp01`, `rke-cp03`" in findings(json.dumps(inventory))
    inventory["rke-cp01"] = {}
    assert "a play for rke-cp01 runs on nothing" in findings(json.dumps(inventory))
    inventory["rke-cp01"] = {"hosts": {"rke-cp01": None}}
    assert findings(json.dumps(inventory)) == ""


def test_what_is_made_of_other_variables_is_not_known() -> None:
    hosts = vms()
    hosts["rke-cp01"] |= {"ansible_host": "{{ addresses['rke-cp01'] }}"}
    assert "ansible_host of rke-cp01 is made of other variables" in undecided(grouped(hosts))
    hosts["rke-cp02"] |= {"ansible_host": "10.72.0.99"}
    assert "rke-cp02 has address" in findings(grouped(hosts))
    everywhere = {"ansible_ssh_extra_args": "-o LogLevel={{ level }}", "ansible_become": "{{ no }}"}
    inventory = {"all": {"vars": everywhere, "hosts": {**vms(), "localhost": LOCAL}}}
    said = undecided(json.dumps(inventory))
    assert "ansible_ssh_extra_args of rke-cp01" in said
    assert "of localhost" not in said


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
        # The older name, which Ansible reads last.
        ("rke-cp01", {"ansible_ssh_host": "10.72.0.22"}, "has address `10.72.0.22`"),
        ("rke-cp01", {"ansible_ssh_host": None}, ""),
        ("rke-cp01", {"ansible_host": "10.72.0.22", "ansible_ssh_host": "10.72.0.21"}, ""),
        ("rke-cp01", {"ansible_host": 10}, "has address `10`"),
        ("rke-cp01", {"ansible_port": 22}, ""),
        ("rke-cp01", {"ansible_port": "22"}, ""),
        ("rke-cp01", {"ansible_port": "2222"}, "has port `2222`, expected 22"),
        ("rke-cp01", {"ansible_port": 22, "ansible_ssh_port": 2222}, "has port `2222`"),
        ("wetopi-ops01", {"ansible_port": 2222}, "has port `2222`"),
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
    name: str, change: dict[str, Any], said: str
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
