"""The encryption gate decides the same wherever it stands: before B's end, F2's Secret, G's.

Each scenario is replayed for each of the three, in a lab of its own: what a server answers only at
first, it answers so to each.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase, f1
from lab.scenario import load
from selftests.passed import pass_all_before, pass_also
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "encryption").glob("*.yaml"))
PLACES = {"0": ["0.8"], "f": ["F2.enc-i", "F2.enc-ii"], "g": ["G.3", "G.4"]}
GATES = [gate for gates in PLACES.values() for gate in gates]
# One of each kind; the others say the same in other words.
ALWAYS = frozenset(
    {
        ("a-server-starts", "g"),
        ("changed-while-it-was-read", "0"),
        ("hostile-key-names", "g"),
        ("kubectl-dumps-the-object", "g"),
        ("plaintext-json", "f"),
        ("secretbox-is-the-active-key", "0"),
    }
)
CONTENT = ("hunter2", "68 75 6e", "68756e", "aHVudGVyMg", "\x1b", "\u202e")


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before G was passed."""
    reports = tmp_path_factory.mktemp("passed")
    pass_all_before(reports, Phase.G)
    pass_also(reports, *(gate.id for gate in f1.GATES))
    return reports


def cases() -> list[object]:
    return [
        pytest.param(
            path,
            place,
            id=f"{path.stem}-{place}",
            marks=() if (path.stem, place) in ALWAYS else pytest.mark.thorough,
        )
        for path in FILES
        for place in PLACES
    ]


@pytest.mark.parametrize(("path", "place"), cases())
def test_scenario(path: Path, place: str, passed: Path, tmp_path: Path) -> None:
    expect = dict(load(path).expect)
    reports = shutil.copytree(passed, tmp_path / "reports")
    gates = PLACES[place]
    ended = replay(reports, path, "", f"--gate={','.join(gates)}")
    verdicts = {gate: verdict for gate, (verdict, _) in ended.verdicts.items()}
    wanted = {gate: expect.get(gate, "PASS") for gate in gates}
    if expect.get("F2.enc-i") and place == "f":
        wanted["F2.enc-ii"] = "BLOCKED"
    assert verdicts == wanted, ended.console
    assert "Traceback" not in ended.console
    assert ended.unknown == []
    written = ended.console + (reports / "lab" / "apply-log.jsonl").read_text()
    assert [each for each in CONTENT if each in written] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_scenario_speaks_of_the_gate_wherever_it_stands(path: Path) -> None:
    expect = dict(load(path).expect)
    assert expect.keys() <= set(GATES)
    assert expect.get("F2.enc-i") == expect.get("G.3")
    assert expect.get("F2.enc-ii") == expect.get("G.4")
    parts = {expect.get("G.3"), expect.get("G.4")} - {None}
    assert parts == ({expect["0.8"]} if "0.8" in expect else set())


def test_what_is_always_replayed_is_there() -> None:
    assert {(path.stem, place) for path in FILES for place in PLACES} > ALWAYS
