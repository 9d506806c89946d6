"""An API that is slow is none that is silent, and one that does not answer decides nothing."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from lab.scenario import load
from selftests.passed import pass_all_before
from selftests.scenarios.comparing import compare, expected
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "kube").glob("*.yaml"))
# What the API alone answers; a scenario that names gates is about those.
GATES = "D2.nodes,D2.labels,D2.coredns,D2.operator,D2.agents,D2.kube-proxy,D2.ciliumnodes"


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reports = tmp_path_factory.mktemp("reports")
    pass_all_before(reports, Phase.D2)
    return reports


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(path: Path, passed: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed, tmp_path / "reports")
    run = replay(reports, path, "", f"--gate={','.join(scenario.expect) or GATES}")
    compare(run, lambda key: expected(scenario, key))
    assert scenario.expect.keys() <= run.verdicts.keys(), run.console
    for verdict, summary in run.verdicts.values():
        assert verdict != "UNKNOWN" or "next: " in summary or "run the gate again" in summary
