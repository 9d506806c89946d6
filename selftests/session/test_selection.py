"""What is selected, in which order, and what is refused: nothing is contacted here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import GATES
from selftests.session.suite import WETOPI, suite

if TYPE_CHECKING:
    from pathlib import Path

RUNBOOK = [gate.id for gate in GATES]


def collected(*args: str) -> list[str]:
    ended = suite("--collect-only", "-q", f"--inventory={WETOPI}", *args)
    assert ended.status == 0, ended.text
    return [line for line in ended.text.splitlines() if "::" in line]


def planned(*args: str) -> list[str]:
    ended = suite("--plan", f"--inventory={WETOPI}", *args)
    assert ended.status == 0, ended.text
    return re.findall(r"^([A-Z]\d?\.[\w-]+)(?:\[|  )", ended.text, re.MULTILINE)


def test_no_target_is_exit_4_and_names_both_ways() -> None:
    ended = suite()
    assert ended.status == 4
    assert "--inventory" in ended.text
    assert "--lab" in ended.text
    assert "Traceback" not in ended.text


@pytest.mark.parametrize(
    "args",
    [
        ["tests/phase_c", "tests/phase_b"],
        ["-m", "gate_c or gate_b"],
        ["--ff", "-p", "cacheprovider"],
        ["tests/phase_c/test_gates.py", "tests/phase_b/test_gates.py", "tests/phase_c"],
        ["-k", "etcd or keepalived or api"],
    ],
    ids=" ".join,
)
def test_the_runbooks_order_holds_whatever_is_given(args: list[str]) -> None:
    order = planned(*args)
    assert order
    assert order == sorted(order, key=RUNBOOK.index)


def test_a_per_node_gate_is_one_test_per_control_plane_in_inventory_order() -> None:
    assert [line.split("[")[1] for line in collected("--gate=C.3")] == [
        "rke-cp01]",
        "rke-cp02]",
        "rke-cp03]",
    ]


def test_a_per_node_gate_can_be_listed_without_an_inventory() -> None:
    ended = suite("--collect-only", "-q", "-m", "gate_c")
    assert ended.status == 0
    assert "each-control-plane" in ended.text


def test_gates_can_be_named() -> None:
    assert planned("--gate=C.4,B.1", "--gate=B.6") == ["B.1", "B.6", "C.4"]


def test_an_unknown_gate_is_refused_with_the_nearest() -> None:
    ended = suite("--gate=C.33", f"--inventory={WETOPI}")
    assert ended.status == 4
    assert "there is no gate C.33; did you mean C.3?" in ended.text


def test_nothing_selected_is_exit_5() -> None:
    assert suite("-m", "gate_g and not gate_g", f"--inventory={WETOPI}").status == 5


def test_an_unregistered_marker_is_exit_4() -> None:
    assert suite("-m", "gate_x", f"--inventory={WETOPI}").status == 4


SWITCHES = {
    "-n=2": "-n (xdist)",
    "--ignore-unknown-dependency": "--ignore-unknown-dependency",
    "--assert=plain": "--assert=plain",
    "--setup-only": "--setup-only",
    "--setup-plan": "--setup-plan",
    "--runxfail": "--runxfail",
    "-pno:dependency": "no:dependency",
    "--hosts=ssh://x": "--hosts",
    "--connection=local": "--connection",
    "--sudo": "--sudo",
    "--sudo-user=root": "--sudo-user",
    "--ssh-config=x": "--ssh-config",
    "--ssh-extra-args=x": "--ssh-extra-args",
    "--ssh-identity-file=x": "--ssh-identity-file",
    "--ansible-inventory=x": "--ansible-inventory",
    "--nagios": "--nagios",
}


def test_switches_that_weaken_a_check_are_refused_all_at_once() -> None:
    alone = {"--ignore-unknown-dependency", "-pno:dependency"}
    ended = suite("-m", "gate_c", f"--inventory={WETOPI}", *(SWITCHES.keys() - alone))
    assert ended.status == 4, ended.text
    assert "Traceback" not in ended.text
    for switch in SWITCHES.keys() - alone:
        assert SWITCHES[switch] in ended.text


@pytest.mark.parametrize("switch", ["-n2", "--ignore-unknown-dependency", "-pno:dependency"])
def test_a_switch_that_weakens_a_check_is_refused(switch: str) -> None:
    ended = suite("-m", "gate_c", f"--inventory={WETOPI}", switch)
    assert ended.status == 4, ended.text
    assert SWITCHES.get(switch, "-n (xdist)") in ended.text
    assert "Traceback" not in ended.text


def test_python_without_assertions_is_refused() -> None:
    ended = suite("-m", "gate_c", f"--inventory={WETOPI}", python=("-O",))
    assert ended.status == 4
    assert "python -O" in ended.text


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--authorize=ada"], "select them with -m, --gate, a node id or --scope"),
        (["--authorize=", "-m", "gate_c"], "--authorize needs the name"),
        (["--window=soon", "--authorize=ada", "-m", "gate_c"], "--window=soon"),
        (["--scope=C.5", "-m", "gate_c"], "--authorize=NAME"),
        (["--scope=C.55", "--authorize=ada", "-m", "gate_c"], "there is no gate C.55"),
        (["--scenario=x.yaml"], "--scenario needs --lab"),
        (["--lab-rtt=10ms"], "need --lab"),
        (["--attest=B.1=seen"], "B.1 is measured"),
        (["--attest=B.1"], "--attest"),
        (["--clear-latch=ada"], 'expected "NAME: reason"'),
        (["--release-lock=: done"], 'expected "NAME: reason"'),
        (["--gate=,"], "--gate names no gate"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_exit_4(args: list[str], said: str) -> None:
    ended = suite(f"--inventory={WETOPI}", *args)
    assert ended.status == 4, ended.text
    assert said in ended.text
    assert "Traceback" not in ended.text


def test_a_mistake_in_the_inventory_is_exit_4_and_one_sentence(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: [\n")
    ended = suite("-m", "gate_b", f"--inventory={bad}")
    assert ended.status == 4
    assert "bad.yaml" in ended.text
    assert "Traceback" not in ended.text


def test_the_environment_can_name_the_inventory(tmp_path: Path) -> None:
    ended = suite("--plan", "--gate=B.1", cwd=tmp_path, RKE2_INVENTORY=WETOPI)
    assert ended.status in {4, 5}
    ended = suite("--plan", "--gate=B.1", RKE2_INVENTORY=WETOPI)
    assert ended.status == 0
    assert "$RKE2_INVENTORY" in ended.text


def test_the_plan_contacts_nothing_and_logs_nothing(tmp_path: Path) -> None:
    ended = suite("--plan", "-m", "gate_c", f"--inventory={WETOPI}", f"--reports={tmp_path}/r")
    assert ended.status == 0
    assert "rke-cp02 $ systemctl show" in ended.text
    assert "wetopi-ops01" in suite("--plan", "--gate=B.4", f"--inventory={WETOPI}").text
    assert not (tmp_path / "r").exists()


def test_reports_that_cannot_be_written_are_exit_4_before_any_contact(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = suite("-m", "gate_b", f"--inventory={WETOPI}", f"--reports={tmp_path}/file")
    assert ended.status == 4
    assert "cannot be made" in ended.text
    assert "Traceback" not in ended.text


def test_the_embedded_suite_is_untouched_by_the_gates_rules() -> None:
    ended = suite("selftests/session/test_prerequisites.py", "-q", "-k", "order")
    assert ended.status == 0, ended.text
