"""The plan of the gateway's leg and the way to Ceph are judged as each scenario says (F0, F1)."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, f1, phase_f
from lab.scenario import load
from selftests.passed import pass_all_before
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.core.gate import Gate

FILES = sorted((SCENARIOS / "ceph-lan").glob("*.yaml"))
GATES = [*phase_f.GATES, *f1.GATES]
IDS = [gate.id for gate in GATES]
# What becomes of other plans is tested without a lab (selftests/gates/test_tofu.py).
SOME = {"plan-cloud-init-too", "plan-destroys", "plan-no-plan"}
ALWAYS = SOME | {path.stem for path in FILES if not path.stem.startswith("plan-")}
NOBODY = "nobody-states-it"


SAYS = {
    ("before-the-flip", "F1.gw"): "does not set natgw_ceph_routing_enabled: true in ansible/",
    ("each-its-own-fault", "F1.a"): "bc:24:11:66:66:66 answers ARP for 192.168.96.31",
    ("each-its-own-fault", "F1.nat"): "rule 2 of ip wetopi_nat postrouting (masquerade) is not",
    ("each-its-own-fault", "F1.c"): "does not accept packets from 192.168.96.0/20, port 3300, back",
    ("each-its-own-fault", "F1.6789"): "rke-cp01 to 192.168.96.10 port 6789: refused (by nc)",
    ("leg-without-link", "F1.a"): "eth2 is up and has no carrier, so that nobody can answer ARP",
    ("leg-without-link", "F1.gw"): "linkdown` is the link is down",
    ("nodes-that-cannot-tell", "F1.a"): "`sudo -n busybox arping -D -c 3 -w 3 -I eth2",
    ("nodes-that-cannot-tell", "F1.trace"): "no traceroute that can tell either",
    ("no-way-at-all", "F1.ping"): "no route: `ping: connect: Invalid argument`",
    ("no-way-at-all", "F1.trace"): "it has no route: `RTNETLINK answers: Invalid argument`",
    ("no-way-at-all", "F1.3300"): "rke-cp03 to 192.168.96.10 port 3300: no route (by nc)",
    ("no-way-at-all", "F1.6789"): "rke-cp03 to 192.168.96.10 port 6789: no route (by /dev/tcp)",
    ("other-ways", "F1.e"): "too long for the way, which takes 1400 bytes at most",
    ("strangers-filtered", "F1.d"): "every echo came back, so they are somebody else's",
}


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before F was passed, and the plan was judged."""
    reports = tmp_path_factory.mktemp("passed")
    pass_all_before(reports, Phase.F)
    ended = replay(reports, None, "", "--gate=F0.plan")
    assert ended.rc == 0, ended.console
    return reports


def statements(reports: Path) -> list[str]:
    """What a named human says: the plan by its SHA-256, the address, the return route."""
    lines = (reports / "lab" / "apply-log.jsonl").read_text().splitlines()
    facts = [line["facts"] for line in map(json.loads, lines) if line.get("gate") == "F0.plan"]
    return [
        f"--attest=F0.apply=applied {facts[-1]['plan']['sha256']}, see apply.txt",
        "--attest=F1.a=192.168.96.31 is allocated, not 192.168.96.10, says the owner of VLAN 2",
        "--attest=F1.b=the owner of Ceph has it in netplan",
        "--operator=Ana",
    ]


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed, tmp_path / "reports")
    gates = [gate.id for gate in phase_f.GATES] if path.stem.startswith("plan-") else IDS
    said = [] if path.stem == NOBODY else statements(reports)
    said = [each for each in said if "=F1" not in each or gates == IDS]
    run = replay(reports, path, "", f"--gate={','.join(gates)}", *said)
    compare(run, lambda key: expected(scenario, key))
    assert set(run.verdicts) == set(gates), run.console
    for gate in gates:
        assert SAYS.get((path.stem, gate), "") in run.verdicts[gate][1]


def test_secrets_of_the_plan_stay_in_the_plan(passed: Path) -> None:
    """The variables hold the password of Proxmox."""
    for path in passed.rglob("*"):
        if path.is_file() and ".lab" not in path.parts:
            assert b"proxmox_password" not in path.read_bytes()


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.id)
@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "UNKNOWN", "BLOCKED"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: Gate, verdict: str) -> None:
    wanted = "ATTESTED" if gate.attested and verdict == "PASS" else verdict
    if verdict == "FAIL" and gate.id in {"F0.apply", "F1.b"}:
        # Nothing is measured there.
        return
    if verdict == "BLOCKED" and "flips.seen" not in gate.asks:
        return
    if verdict == "BLOCKED" and gate.attested:
        return
    found = {load(path).expect.get(gate.id, "PASS") for path in FILES}
    assert wanted in found
