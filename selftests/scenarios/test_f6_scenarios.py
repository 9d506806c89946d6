"""Single gates of F6, and statements nobody made: each as its scenario says."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from lab.scenario import load
from selftests.passed import pass_all_before
from selftests.scenarios.comparing import cases, compare, expected
from selftests.scenarios.conftest import SHORT
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "f6").glob("*.yaml"))
# The drills' own scenarios say the same of C.6 each time.
ALWAYS = frozenset(path.stem for path in FILES if not path.stem.startswith("outage-"))


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before E was passed, once."""
    reports = tmp_path_factory.mktemp("f6")
    pass_all_before(reports, Phase.E)
    (reports / "short.yaml").write_text(SHORT)
    return reports


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed: Path, tmp_path: Path) -> None:
    scenario = load(path)
    gates = [gate for gate in scenario.expect if not gate.endswith(".undo")]
    reports = shutil.copytree(passed, tmp_path / "reports")
    options = [f"--scenario={path}", f"--gate={','.join(gates)}", "--authorize=Ana"]
    run = replay(reports, reports / "short.yaml", "", *options)
    compare(run, lambda key: expected(scenario, key))
    assert set(run.verdicts) == set(scenario.expect), run.console
