"""Whole runs against the embedded lab, as an operator sees them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from selftests.session.suite import log_lines, suite, verdicts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selftests.session.suite import Ended

READ_ONLY_C = ["C.1", "C.2", *(f"C.3[rke-cp0{n}]" for n in (1, 2, 3)), "C.4", "C.7", "C.8"]

MEDDLE = """
import os, signal, pytest
from fixtures.session.marks import gate_of

def gate(item):
    entry = gate_of(item)
    return entry.id if entry else None
"""


def lab(reports: Path, *args: str) -> Ended:
    return suite("--lab", f"--reports={reports}", *args)


def test_phase_by_phase_as_on_a_real_cluster(tmp_path: Path) -> None:
    blocked = lab(tmp_path, "-m", "gate_b or gate_c")
    assert blocked.status == 1
    assert set(verdicts(tmp_path).values()) == {"BLOCKED"}
    assert "needs 0.2 (no verdict), 0.4 (no verdict)" in blocked.text
    assert "needs B.1 (no verdict)" in blocked.text
    assert "B.8 (no verdict)" in blocked.text
    told = [line for line in blocked.text.splitlines() if line.startswith("BLOCKED ")]
    assert len(told) == 1
    assert told[0].endswith(f"type first: pytest -m gate_0 --lab --reports={tmp_path}")
    assert blocked.text.count("; type first: pytest -m gate_0 --lab") == 8 + 10 + 1

    before = lab(tmp_path, "-m", "gate_0")
    assert before.status == 1
    assert [key for key, said in verdicts(tmp_path).items() if said == "UNKNOWN"] == ["0.3"]

    first = lab(tmp_path, "-m", "gate_b")
    assert first.status == 0, first.text
    assert {f"B.{n}" for n in range(1, 9)} <= verdicts(tmp_path).keys()

    second = lab(tmp_path, "-m", "gate_c")
    assert second.status == 1
    said = verdicts(tmp_path)
    assert {key: said[key] for key in READ_ONLY_C} == dict.fromkeys(READ_ONLY_C, "PASS")
    assert (said["C.5"], said["C.6"]) == ("UNAUTHORIZED", "UNAUTHORIZED")
    summary = [line for line in second.text.splitlines() if line.startswith("UNAUTHORIZED:")]
    assert len(summary) == 1
    assert "pytest -m 'gate_c and not drill'" in summary[0]

    again = lab(tmp_path, "-m", "gate_c and not drill")
    assert again.status == 0, again.text

    outside = lab(tmp_path, "-m", "gate_c", "--authorize=ada", "--scope=C.5")
    said = verdicts(tmp_path)
    assert (said["C.5"], said["C.6"]) == ("PASS", "UNAUTHORIZED")
    assert outside.status == 1
    assert "Traceback" not in outside.text


def test_a_later_red_supersedes_an_earlier_green(tmp_path: Path, reports: Path) -> None:
    assert lab(reports, "-m", "gate_b").status == 0
    scenario = tmp_path / "dead.yaml"
    scenario.write_text(
        "name: ping loses\nexpect: {B.4: FAIL}\nreplies:\n"
        "- host: wetopi-ops01\n  command: ping\n  rc: 1\n  stdout: |\n"
        "    PING 10.72.0.20 (10.72.0.20) 56(84) bytes of data.\n\n"
        "    --- 10.72.0.20 ping statistics ---\n"
        "    3 packets transmitted, 0 received, 100% packet loss, time 2003ms\n\n"
    )
    red = lab(reports, "--gate=B.4", f"--scenario={scenario}")
    assert red.status == 1, red.text
    blocked = lab(reports, "--gate=C.1")
    assert blocked.status == 1
    assert "needs B.4 (FAIL)" in blocked.text


def test_first_failure_options_end_the_run_and_it_is_never_green(
    reports: Path, with_plugin: Callable[..., Ended]
) -> None:
    source = MEDDLE + (
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_call(item):\n"
        "    if gate(item) == 'B.2': raise OSError('cut')\n"
    )
    ended = with_plugin(source, "--lab", f"--reports={reports}", "-m", "gate_b", "-x")
    assert ended.status == 1
    assert verdicts(reports) == {"B.1": "PASS", "B.2": "UNKNOWN"}
    assert "6 not reached" in ended.text


def test_a_runner_that_breaks_is_exit_1_and_not_the_logs_3(
    reports: Path, with_plugin: Callable[..., Ended]
) -> None:
    source = MEDDLE + (
        "def pytest_runtest_logfinish(nodeid):\n    if 'ping' in nodeid: raise OSError('cut')\n"
    )
    ended = with_plugin(source, "--lab", f"--reports={reports}", "--gate=B.4")
    assert ended.status == 1
    assert verdicts(reports) == {"B.4": "PASS"}
    last = log_lines(reports)[-1]
    assert (last["kind"], last["status"]) == ("run-end", 1)


@pytest.mark.parametrize("where", ["setup", "call", "teardown"])
def test_an_error_anywhere_is_never_lost(
    tmp_path: Path, reports: Path, with_plugin: Callable[..., Ended], where: str
) -> None:
    source = MEDDLE + (
        f"@pytest.hookimpl(trylast=True)\n"
        f"def pytest_runtest_{where}(item):\n"
        f"    if gate(item) == 'B.6': raise KeyError('boom-{where}')\n"
    )
    ended = with_plugin(
        source,
        "--lab",
        f"--reports={reports}",
        "--gate=B.6,B.4",
        f"--junitxml={tmp_path}/junit.xml",
    )
    assert ended.status == 1
    assert verdicts(reports) == {"B.4": "PASS", "B.6": "UNKNOWN"}
    assert f"boom-{where}" in ended.text
    assert f"boom-{where}" in (tmp_path / "junit.xml").read_text()
    page = next((reports / "lab").glob("2*.html")).read_text()
    assert f"boom-{where}" in page


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM"])
def test_an_interrupt_becomes_the_running_gates_unknown(
    tmp_path: Path, reports: Path, with_plugin: Callable[..., Ended], signal: str
) -> None:
    source = MEDDLE + (
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_call(item):\n"
        f"    if gate(item) == 'B.4': os.kill(os.getpid(), signal.{signal})\n"
    )
    junit = tmp_path / "junit.xml"
    ended = with_plugin(
        source, "--lab", f"--reports={reports}", "-m", "gate_b", f"--junitxml={junit}"
    )
    assert ended.status == 2, ended.text
    said = verdicts(reports)
    assert said == {"B.1": "PASS", "B.2": "PASS", "B.3": "PASS", "B.4": "UNKNOWN"}
    assert f"interrupted by {signal}" in ended.text
    assert "Traceback" not in ended.text
    assert f"interrupted by {signal}" in junit.read_text()
    page = next((reports / "lab").glob("2*.html")).read_text()
    assert f"interrupted by {signal}" in page
    assert log_lines(reports)[-1]["kind"] == "run-end"
    assert log_lines(reports)[-1]["status"] == 2


def test_a_signal_during_teardown_waits_for_it(
    tmp_path: Path, reports: Path, with_plugin: Callable[..., Ended]
) -> None:
    done = tmp_path / "undone"
    source = MEDDLE + (
        "def pytest_runtest_teardown(item):\n"
        "    if gate(item) == 'B.2':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        f"        open({str(done)!r}, 'w').close()\n"
    )
    ended = with_plugin(source, "--lab", f"--reports={reports}", "-m", "gate_b")
    assert done.exists()
    assert ended.status == 2, ended.text
    assert verdicts(reports) == {"B.1": "PASS", "B.2": "PASS"}


def test_a_killed_run_leaves_a_log_that_verifies_and_the_next_tells(
    reports: Path, with_plugin: Callable[..., Ended]
) -> None:
    source = MEDDLE + (
        "def pytest_runtest_call(item):\n"
        "    if gate(item) == 'B.3': os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = with_plugin(source, "--lab", f"--reports={reports}", "-m", "gate_b")
    assert killed.status == -9
    assert verdicts(reports) == {"B.1": "PASS", "B.2": "PASS"}
    after = lab(reports, "--gate=B.1")
    assert after.status == 0, after.text
    assert "did not end" in after.text
    pages = sorted((reports / "lab").glob("2*.html"))
    assert len(pages) == 2


def test_pytests_own_options_work_as_its_users_expect(reports: Path) -> None:
    assert lab(reports, "-m", "gate_b", "-q").status == 0
    verbose = lab(reports, "-v", "-m", "gate_b")
    assert "test_ping_to_the_vip_loses_nothing PASS" in verbose.text
    keyword = lab(reports, "-k", "ping", "-m", "gate_b")
    assert keyword.status == 0
    assert "1 selected: 1 PASS" in keyword.text
    node_id = "tests/phase_b/test_gates.py::test_ping_to_the_vip_loses_nothing"
    assert "1 selected: 1 PASS" in lab(reports, node_id).text


def test_the_failed_ones_can_be_asked_again(tmp_path: Path, reports: Path) -> None:
    scenario = tmp_path / "silent.yaml"
    scenario.write_text(
        "name: no ping\nexpect: {B.4: UNKNOWN}\nreplies:\n"
        "- {host: wetopi-ops01, command: ping, rc: 127, stderr: 'ping: not found'}\n"
    )
    cache = f"cache_dir={tmp_path}/cache"
    args = ["--lab", f"--reports={reports}", "-o", cache, "-p", "cacheprovider"]
    assert suite(*args, "-m", "gate_b", f"--scenario={scenario}").status == 1
    again = suite(*args, "-m", "gate_b", "--lf")
    assert again.status == 0, again.text
    assert "1 selected: 1 PASS" in again.text


def test_junit_carries_verdict_gate_and_node(tmp_path: Path, reports: Path) -> None:
    junit = tmp_path / "junit.xml"
    lab(reports, "-m", "gate_b or gate_c", f"--junitxml={junit}")
    cases = ET.parse(junit).getroot().iter("testcase")
    found = {
        (each["gate"], each["node"]): each["verdict"]
        for case in cases
        if (each := {prop.get("name"): prop.get("value") for prop in case.iter("property")})
    }
    assert found["C.3", "rke-cp02"] == "PASS"
    assert found["C.5", ""] == "UNAUTHORIZED"
    assert len(found) == 18


def test_a_log_that_is_broken_is_exit_4_before_any_contact(reports: Path) -> None:
    assert lab(reports, "--gate=B.4").status == 0
    path = reports / "lab" / "apply-log.jsonl"
    lines = path.read_text().splitlines()
    changed = json.loads(lines[1])
    changed["at"] = "2020-01-01T00:00:00.000Z"
    lines[1] = json.dumps(changed, sort_keys=True, separators=(",", ":"))
    path.write_text("\n".join(lines) + "\n")
    ended = lab(reports, "--gate=B.4")
    assert ended.status == 4
    assert "line 2" in ended.text
    assert "Traceback" not in ended.text


def test_a_log_that_cannot_be_written_any_more_is_exit_3(
    reports: Path, with_plugin: Callable[..., Ended]
) -> None:
    source = MEDDLE + (
        "import resource\n"
        "def pytest_runtest_call(item):\n"
        "    if gate(item) == 'B.2':\n"
        "        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n"
    )
    ended = with_plugin(source, "--lab", f"--reports={reports}", "-m", "gate_b")
    assert ended.status == 3, ended.text
    assert "STOPPED: the apply log cannot be written" in ended.text
    assert "Traceback" not in ended.text


def test_planted_secrets_appear_nowhere(
    tmp_path: Path, reports: Path, with_plugin: Callable[..., Ended]
) -> None:
    token = "K10" + "ab" * 32 + "::server:" + "cd" * 16
    source = MEDDLE + (
        "def pytest_runtest_call(item):\n"
        "    if gate(item) == 'B.6':\n"
        f"        print('token: {token}')\n"
        f"        raise OSError('password={token} is wrong')\n"
    )
    junit = tmp_path / "junit.xml"
    ended = with_plugin(
        source, "--lab", f"--reports={reports}", "--gate=B.6", f"--junitxml={junit}"
    )
    assert ended.status == 1
    written = [path for path in reports.rglob("*") if path.is_file()]
    for path in [*written, junit]:
        assert token not in path.read_text("utf-8", errors="replace"), path
    assert token not in ended.text
    assert "cd" * 16 not in ended.text
