"""No secret reaches a file that the suite writes, its console, or a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.gates import GATES, Phase
from selftests.session.planting import Planted, forms
from selftests.session.suite import verdicts

if TYPE_CHECKING:
    from pathlib import Path

SEEN = "seen on 8001, 8011, 8012, 8013, 8021, 8022, 8023 and 8031"
RED = "  - keepalived-absent: {node: rke-cp01}"


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    planted = Planted(tmp_path)
    planted.plant_the_labs()
    return planted


def test_the_search_finds_each_of_them(planted: Planted) -> None:
    ended = planted.run("--gate=B.4", f"--scenario={planted.scenario()}")
    assert planted.found(ended) == []
    for where, value in planted.values.items():
        (planted.folder / "tmp" / "leak").write_bytes(max(forms(value)))
        assert planted.found(ended) == [f"tmp/leak: {where}"]


def test_nothing_is_told_by_red_gates(planted: Planted) -> None:
    ended = planted.run("-m", "gate_b", f"--scenario={planted.scenario(RED)}", "-v")
    assert ended.status == 1, ended.text
    assert "[redacted]" in ended.text
    assert planted.found(ended) == []


@pytest.mark.thorough
def test_nothing_is_told_by_a_whole_rehearsal(planted: Planted) -> None:
    stated = [
        f"--attest={gate.id}={SEEN}"
        for gate in GATES
        if (gate.attested or gate.attestable) and not gate.authorized
    ]
    ended = planted.run(
        f"--scenario={planted.scenario()}",
        "-m",
        " or ".join(phase.marker for phase in Phase),
        "--authorize=Ada Lovelace",
        "--operator=Ada Lovelace",
        *stated,
    )
    green = [key for key, said in verdicts(planted.reports).items() if said in {"PASS", "ATTESTED"}]
    assert len(green) > len(GATES) // 2, ended.text
    assert "[redacted]" in (planted.reports / "lab" / "apply-log.jsonl").read_text()
    assert planted.found(ended) == []
