"""Gate 0.8 ends as each scenario says, before phase E too, and leaves no Secret of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from lab.scenario import load
from selftests.passed import pass_all_before
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "at-rest").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(path: Path, tmp_path: Path) -> None:
    ended = replay(tmp_path, path, "", "--gate=0.8")
    ((verdict, summary),) = ended.verdicts.values()
    assert verdict == load(path).expect.get("0.8", "PASS"), summary
    assert "Traceback" not in ended.console
    assert ended.unknown == []
    made, gone = steps(tmp_path, "make Secret"), steps(tmp_path, "remove Secret")
    assert made == gone
    assert bool(made) == (verdict != "DEFERRED")


@pytest.mark.parametrize("verdict", ["DEFERRED", "FAIL", "UNKNOWN"])
def test_there_is_a_scenario_for_each_verdict(verdict: str) -> None:
    assert any(load(path).expect.get("0.8") == verdict for path in FILES)


def test_what_a_dead_run_left_is_removed_by_the_next_one_whatever_it_asks(tmp_path: Path) -> None:
    pass_all_before(tmp_path, Phase.B)
    # The lab refuses to delete it, as if the run had been killed before.
    stays = tmp_path / "stays.yaml"
    stays.write_text(
        "name: stays\nphase: c\nreplies:\n"
        "  - {host: rke-cp01, command: ' delete secret ', rc: 1, stderr: 'no', times: 1}\n"
    )
    left = replay(tmp_path, stays, "", "--gate=0.8")
    ((verdict, summary),) = left.verdicts.values()
    assert verdict == "UNKNOWN"
    assert "kubectl -n default delete secret rke2-acceptance-at-rest-" in summary
    (name,) = steps(tmp_path, "make Secret")
    after = replay(tmp_path, SCENARIOS / "at-rest" / "healthy.yaml", "", "--gate=B.4")
    assert after.rc == 0, after.console
    assert f"a dead run may have left Secret {name}" in " ".join(after.console.split())
    assert steps(tmp_path, "make Secret") == steps(tmp_path, "remove Secret")
    again = replay(tmp_path, SCENARIOS / "at-rest" / "healthy.yaml", "", "--gate=B.4")
    assert "a dead run" not in again.console


def steps(reports: Path, title: str) -> set[str]:
    """What steps of that title were done to."""
    lines = (reports / "lab" / "apply-log.jsonl").read_text().splitlines()
    return {
        str(line["step"]).removeprefix(f"{title} ")
        for line in map(json.loads, lines)
        if str(line.get("step", "")).startswith(title) and line["state"] == "done"
    }
