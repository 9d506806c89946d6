"""Phase G ends as each scenario says: Argo CD, its credential, its Application, and drift."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures.gates import Phase
from fixtures.gates.phase_g import GATES
from lab.scenario import load
from selftests.passed import pass_all_before
from selftests.scenarios.comparing import cases, compare, in_turn
from selftests.scenarios.replay import SCENARIOS, replay

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((SCENARIOS / "gitops").glob("*.yaml"))
IDS = [gate.id for gate in GATES]
# One of each kind; the others say the same in other words, or have their table in selftests/gates.
ALWAYS = frozenset(
    {
        "a-config-map-drifts",
        "api-forbids-everything",
        "drift-not-healed",
        "healthy",
        "not-as-reviewed",
        "pods-missing-and-crashing",
        "repository-of-long-ago",
        "secret-made-too-early",
    }
)
SHORT = """\
name: short
faults:
  - limit: {name: argocd_sync, value: 1.0}
  - limit: {name: argocd_self_heal, value: 2.0}
"""


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports in which everything before G was passed."""
    reports = tmp_path_factory.mktemp("passed")
    pass_all_before(reports, Phase.G)
    return reports


@pytest.mark.parametrize("path", cases(FILES, ALWAYS))
def test_scenario(path: Path, passed: Path, tmp_path: Path) -> None:
    scenario = load(path)
    reports = shutil.copytree(passed, tmp_path / "reports")
    short = reports / "short.yaml"
    short.write_text(SHORT)
    options = [f"--scenario={path}", f"--gate={','.join(IDS)}", "--authorize=Ana"]
    run = replay(reports, short, "", *options)
    compare(run, lambda key: in_turn(scenario, key))
    assert list(run.verdicts) == IDS, run.console


def test_nobody_authorized_the_drift_drill(passed: Path, tmp_path: Path) -> None:
    reports = shutil.copytree(passed, tmp_path / "reports")
    ended = replay(reports, None, "", "--gate=G.4,G.6,G.7,G.9")
    assert ended.verdicts["G.9"][0] == "UNAUTHORIZED", ended.console


def test_a_cleanup_stop_lasts_until_everything_that_ends_it_is_seen(
    passed: Path, tmp_path: Path
) -> None:
    reports = shutil.copytree(passed, tmp_path / "reports")
    gone, there = reports / "gone.yaml", reports / "there.yaml"
    gone.write_text(
        "name: gone\nphase: g\nreplies:\n"
        "  - {host: rke-cp01, command: 'get secret repo-infra-https', stdout: ''}\n"
    )
    there.write_text("name: there\nphase: g\n")
    plaintext = reports / "plaintext.yaml"
    plaintext.write_text(
        "name: plaintext\nphase: g\nfaults:\n"
        "  - at-rest: {form: plaintext, namespace: argocd, name: repo-infra-https}\n"
    )
    revoked = ("--attest=G.4=token 7 revoked on GitHub", "--operator=Ana")
    named = ("--authorize=Ana", "--scope=G.4")

    def g4(path: Path, *options: str) -> tuple[str, str]:
        ended = replay(reports, path, "", "--gate=G.4", *options)
        assert "Traceback" not in ended.console
        assert ended.unknown == []
        assert "does not count" not in ended.console
        return ended.verdicts["G.4"]

    # To authorize is not enough: the gate itself must be named.
    verdict, why = g4(plaintext, "--authorize=Ana")
    assert (verdict, "CLEANUP STOP" in why, "is deleted" in why) == ("FAIL", True, False)
    verdict, why = g4(there)
    assert (verdict, "CLEANUP STOP stands since" in why) == ("FAIL", True)
    verdict, why = g4(plaintext, *named)
    assert (verdict, "nobody has stated" in why) == ("UNKNOWN", True)
    verdict, why = g4(gone, *revoked)
    assert (verdict, "is released" in why) == ("UNKNOWN", True)
    assert g4(there)[0] == "PASS"
    verdict, why = g4(plaintext, *named)
    assert (verdict, "it is deleted, as Ana authorized" in why) == ("FAIL", True)


@pytest.mark.parametrize("gate", IDS)
@pytest.mark.parametrize("verdict", ["FAIL", "UNKNOWN"])
def test_every_gate_has_a_scenario_for_each_verdict(gate: str, verdict: str) -> None:
    assert any(load(path).expect.get(gate) == verdict for path in FILES)


def test_what_is_always_replayed_is_there() -> None:
    assert {path.stem for path in FILES} > ALWAYS
